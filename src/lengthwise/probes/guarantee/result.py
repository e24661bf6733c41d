"""The result: the model, its message, its losses, the bounds, and what was measured to compare them with; and its
record, the answer first, then the bounds term by term."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.messages import explain, sentence
from lengthwise.probes.guarantee.message import ChargedMessage
from lengthwise.records import Assumption, Claim, Column, Record, Table

LEVELS = ("documents", "tokens")

explain(
    {
        "guarantee.documents": "Fresh documents",
        "guarantee.tokens": "Tokens in the contexts seen",
        "guarantee.documents_note": (
            "expected cost of a token under the smoothed model (or the share of tokens that it misses), "
            "averaged over a fresh document from the source of the training documents"
        ),
        "guarantee.tokens_note": (
            "expected cost of the next token under the smoothed model (or the share of tokens that it "
            "misses), averaged over the contexts of the training data; it says nothing about fresh documents"
        ),
        "guarantee.violated_bound": "BOUND VIOLATED: {what}.",
        "guarantee.vacuous": "Every bound is vacuous: none is better than a uniform guess.",
        "guarantee.level_vacuous": "{title}: vacuous.",
        "guarantee.level_loss": "{title}: at most {nats:.4f} nats ({bits:.4f} bits) per token ({kind}).",
        "guarantee.level_error": "{title}: nothing about the loss; top-{k} error at most {total:.2%}, where chance is "
        "{chance:.2%} ({kind}).",
        "guarantee.one": "It holds with probability {probability:g}.",
        "guarantee.one_if": "It would hold with probability {probability:g}.",
        "guarantee.several": "The smallest of {rivals}: each holds by itself with probability {probability:g}, and all "
        "at once with at least {together:.3g} (with delta {delta:.3g}, that would be {probability:g}).",
        "guarantee.several_if": "The smallest of {rivals}: each would hold by itself with probability {probability:g}, "
        "and all at once with at least {together:.3g} (with delta {delta:.3g}, that would be {probability:g}).",
        "guarantee.heuristic": "Heuristic, not certified: one of its assumptions does not hold.",
        "guarantee.predicted": "Predicted, not certified: that the data are a sample of a training set of that size is "
        "assumed.",
        "guarantee.loss_on_data": "Loss on the data: {loss:.4f} nats ({loss_bits:.4f} bits) per token, on {tokens:,} "
        "tokens of {documents:,} documents; chance is {chance:.4f} nats (ln {vocabulary:,}).",
        "guarantee.smoothing": "{note}. Loss in nats, top-k in shares of tokens; on the data: the loss of the smoothed "
        "model (1 - α) p + α / V, α = {alphas}; the message and all choices cost {complexity:.4g} nats per {unit}",
        "guarantee.shares": "{note}. Shares of tokens",
        "guarantee.gap": "{original:.4f} nats before, {quantised:.4f} after ({gap:+.4f}), on the first {compared:,} "
        "tokens",
        "guarantee.no_gap": "the weights are quantised already, so there is no gap",
        "guarantee.expected": "{entropy:.4f} nats ({entropy_bits:.4f} bits) per token, if the model's own "
        "probabilities were right",
    }
)


@dataclass(frozen=True)
class MeanLosses:
    """Means over the tokens that were read, of the decoded model as it is, without smoothing."""

    tokens: int
    documents: int
    loss: float
    entropy: float
    errors: tuple[tuple[int, float], ...]  # (k, share of tokens that are not among the k likeliest)


@dataclass(frozen=True)
class Guarantee:
    """Bounds on a model's loss, with the model and its losses on its data.

    bounds      every bound that could be made, each by itself with probability 1 - delta
    measured    what was measured on fresh items, or computed exactly, to compare with the bounds
    plain_loss  loss of the model itself, without smoothing, on fresh items, where it was measured
    broken      bounds that a measurement exceeds, in words; there should be none
    """

    model: str
    described: str
    vocabulary: int
    data: str
    message: ChargedMessage
    losses: MeanLosses
    bounds: tuple[TokenBound, ...]
    delta: float
    folder: Path | None
    notes: tuple[Assumption, ...] = ()
    measured: tuple[Claim, ...] = ()
    plain_loss: Claim | None = None
    broken: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        fresh = () if self.plain_loss is None else (self.plain_loss,)
        return (*(one.claim() for one in self.bounds), *self.measured, *fresh)

    @property
    def vacuous(self) -> bool:
        """Whether every bound says no more than chance."""
        return all(one.vacuous for one in self.bounds)

    def best(self, target: str, level: str) -> TokenBound | None:
        """The smallest bound of a target; to pick it among j costs a factor j in delta."""
        found = (one for one in self.bounds if one.target == target and one.level == level)
        return min(found, key=lambda one: one.total, default=None)

    def plain(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        names = ("model", "described", "vocabulary", "data", "delta", "broken", "vacuous")
        return {
            **{name: getattr(self, name) for name in names},
            "message": self.message.plain(),
            "losses": {**vars(self.losses), "errors": {f"top{k}": share for k, share in self.losses.errors}},
            "notes": [note.plain() for note in self.notes],
            "bounds": [_plain_bound(one) for one in self.bounds],
            "measured": [claim.plain() for claim in self.measured],
            "plain_loss": None if self.plain_loss is None else self.plain_loss.plain(),
            "folder": None if self.folder is None else str(self.folder),
        }

    def record(self) -> Record:
        """Everything that is shown: text, claims and tables."""
        tables = [_bounds(level, bounds) for level in LEVELS if (bounds := _of(self, level))]
        if self.plain_loss is not None:
            tables.append(_measured(self.measured, self.plain_loss))
        tables += [_message(self), _assumptions(self.bounds)]
        if self.message.tried:
            tables.append(_tried(self.message))
        if self.notes:
            rows = tuple((note.statement,) for note in self.notes)
            tables.append(Table("guarantee.notes", (Column("note", "text"),), rows, "Notes"))
        facts = {"model": self.model, "described": self.described, "data_used": self.data, "vacuous": self.vacuous}
        title, text = f"What is guaranteed about {self.model}", (*result(self), _losses(self))
        return Record("guarantee", {}, title, text, self.claims, tuple(tables), data=facts)


def _plain_bound(one: TokenBound) -> dict[str, Any]:
    own = {name: getattr(one, name) for name in ("target", "level", "inequality")}
    terms = [{**vars(term), "name": term.name} for term in one.risk.terms]
    return {**own, "terms": terms, **one.claim().plain()}


def result(found: Guarantee) -> list[str]:
    """What is guaranteed for each level, with which probability, and what keeps it from being certified."""
    lines = [sentence("guarantee.violated_bound", {"what": one}) for one in found.broken]
    if found.vacuous:
        return [*lines, sentence("guarantee.vacuous")]
    chosen: list[TokenBound] = []
    for level in LEVELS:
        bounds, title = _of(found, level), sentence(f"guarantee.{level}")
        useful = [one for one in bounds if not one.vacuous]
        if not useful:
            lines += [sentence("guarantee.level_vacuous", {"title": title})] if bounds else []
            continue
        one = min((one for one in useful if one.target == useful[0].target), key=lambda one: one.total)
        chosen.append(one)
        values = {"title": title, "kind": one.risk.kind, "total": one.total, "chance": one.chance}
        if one.target == "loss":
            lines.append(sentence("guarantee.level_loss", {**values, "nats": one.total, "bits": one.total_bits}))
        else:
            lines.append(sentence("guarantee.level_error", {**values, "k": one.target.removeprefix("top")}))
    kinds = {one.risk.kind for one in chosen}
    lines.append(_how_surely(found, chosen, "_if" if "heuristic" in kinds else ""))
    return [*lines, *(sentence(f"guarantee.{kind}") for kind in ("heuristic", "predicted") if kind in kinds)]


def _of(found: Guarantee, level: str) -> list[TokenBound]:
    return [one for one in found.bounds if one.level == level]


def _how_surely(found: Guarantee, chosen: Sequence[TokenBound], mood: str) -> str:
    targets = {one.target for one in chosen}
    rivals = sum(one.target in targets for one in found.bounds)
    values = {"probability": 1 - found.delta, "rivals": rivals, "delta": found.delta / max(1, rivals)}
    values["together"] = max(0.0, 1 - rivals * found.delta)
    return sentence(f"guarantee.{'one' if rivals == 1 else 'several'}{mood}", values)


def _losses(found: Guarantee) -> str:
    values = {"chance": math.log(found.vocabulary), "vocabulary": found.vocabulary}
    values |= {"loss_bits": found.losses.loss / math.log(2)}
    return sentence("guarantee.loss_on_data", {**dataclasses.asdict(found.losses), **values})


# --- tables ---------------------------------------------------------------------------------------------------------


def _bounds(level: str, bounds: Sequence[TokenBound]) -> Table:
    """One row per bound: its terms, which add up to it, and chance."""
    names = {term.key: term.name for one in bounds for term in one.risk.terms}
    rows = []
    for one in bounds:
        terms = {term.key: term.value for term in one.risk.terms}
        cells = [terms.get(key) for key in names]
        verdict = "vacuous" if one.vacuous else "below"
        rows.append((one.target, one.inequality, *cells, one.total, one.total_bits, one.chance, verdict))
    columns = (
        Column("target", "text"),
        Column("inequality", "text", "by"),
        *(Column(key, title=name) for key, name in names.items()),
        Column("bound"),
        Column("bits"),
        Column("chance"),
        Column("verdict", "text"),
    )
    losses = [one for one in bounds if one.target == "loss" and one.alpha]
    values = {"note": sentence(f"guarantee.{level}_note"), "unit": level.removesuffix("s")}
    if losses:
        values["alphas"] = ", ".join(f"{one.alpha:.3g} {one.inequality}" for one in losses)
        note = sentence("guarantee.smoothing", {**values, "complexity": losses[0].complexity})
    else:
        note = sentence("guarantee.shares", values)
    return Table(f"guarantee.{level}", columns, tuple(rows), sentence(f"guarantee.{level}"), note)


def _measured(claims: Sequence[Claim], plain: Claim) -> Table:
    """The tightest bound of each target and level, the quantity itself with its interval, and the plain loss."""
    rows = []
    for claim in tightest(claims):
        facts, interval = claim.evidence, claim.interval
        of = "fresh" if facts["level"] == "documents" else "seen"
        ends = (None, None) if interval is None else (interval.low, interval.high)
        verdict = "below" if facts["below_bound"] else "VIOLATED"
        rows.append((facts["target"], of, claim.value, *ends, facts["bound"], verdict))
    assert plain.interval is not None
    rows.append(("plain loss", "fresh", plain.value, plain.interval.low, plain.interval.high, None, ""))
    columns = (Column("target", "text"), Column("of", "text"), Column("measured"), Column("low"), Column("high"))
    note = (
        f"the quantities of the tightest bounds, smoothed as there, with 95 % intervals; fresh: on "
        f"{plain.evidence['items']:,} fresh items; seen: expected in the contexts of as many training items, from the "
        "task's own probabilities; the plain loss is without smoothing"
    )
    more = (Column("bound"), Column("verdict", "text"))
    return Table("guarantee.measured", (*columns, *more), tuple(rows), "Measured values", note)


def tightest(claims: Sequence[Claim]) -> list[Claim]:
    """The claim about the tightest bound of each target and level: the others say the same of looser ones."""
    best: dict[tuple[str, str], Claim] = {}
    for claim in claims:
        key = claim.evidence["level"], claim.evidence["target"]
        if key not in best or claim.evidence["bound"] < best[key].evidence["bound"]:
            best[key] = claim
    return list(best.values())


def _message(found: Guarantee) -> Table:
    message, losses = found.message, found.losses
    gap = {**vars(message), "gap": message.quantised - message.original}
    rows = [
        ("model", found.described),
        ("data", found.data),
        ("bits", f"{message.bits:,} ({message.bits / 8:,.0f} bytes), {message.bits_per_weight:.3g} per weight"),
        ("made", message.source),
        ("parts", ", ".join(f"{name} {bits:,}" for name, bits in message.parts.items() if bits)),
        ("quantising", sentence("guarantee.gap" if "quantiser" in message.facts else "guarantee.no_gap", gap)),
        ("expected", sentence("guarantee.expected", {**vars(losses), "entropy_bits": losses.entropy / math.log(2)})),
        ("errors", ", ".join(f"top-{k} {share:.2%}" for k, share in losses.errors)),
    ]
    columns = (Column("what", "text", " "), Column("value", "text", " "))
    return Table("guarantee.message", columns, tuple(rows), "Message and losses")


def _assumptions(bounds: Sequence[TokenBound]) -> Table:
    """Every assumption once; those that do not hold come first."""
    order = {"violated": 0, "caveat": 1, "assumed": 2, "checked": 3}
    seen: dict[tuple[str, str], set[str]] = {}
    for one in bounds:
        for assumption in one.risk.assumptions:
            seen.setdefault((assumption.check, assumption.statement), set()).add(one.level)
    levels = {one.level for one in bounds}
    rows = tuple(
        (check, statement, "all bounds" if where == levels else f"bounds of {next(iter(where))}")
        for (check, statement), where in sorted(seen.items(), key=lambda pair: order[pair[0][0]])
    )
    columns = (Column("check", "text"), Column("assumption", "text"), Column("level", "text", "of"))
    return Table("guarantee.assumptions", columns, rows, "What this rests on")


def _tried(message: ChargedMessage) -> Table:
    rows = tuple(tuple(vars(one).values()) for one in message.tried)
    columns = (Column("quantiser", "text"), Column("bits", "whole"), Column("loss"), Column("foreseen"))
    note = "on a part of the data; the message pays for the choice; foreseen: the bound on all data"
    return Table("guarantee.tried", columns, rows, "Quantisers that were tried", note, detail=True)
