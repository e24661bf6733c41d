"""A guarantee as a record: the result first, then the bounds term by term, and the measured values to compare."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.messages import explain, sentence
from lengthwise.probes.guarantee.result import Guarantee
from lengthwise.records import Claim, Column, Record, Table

LEVELS = ("documents", "tokens")

explain(
    {
        "guarantee.documents": "Fresh documents",
        "guarantee.tokens": "Tokens in the contexts seen",
        "guarantee.documents_note": "what a token is expected to cost the smoothed model (or the share of tokens that "
        "it misses), on average over a fresh document from where the training documents came",
        "guarantee.tokens_note": "what the next token is expected to cost the smoothed model (or the share of tokens "
        "that it misses), on average over the contexts of the training data; it says nothing about fresh documents",
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
        "guarantee.smoothing": "{note}. Loss in nats, top-k in shares of tokens; data: the loss of the smoothed model "
        "(1 - α) p + α / V, α = {alphas}; the message and all choices cost {complexity:.4g} nats per {unit}",
        "guarantee.shares": "{note}. Shares of tokens",
        "guarantee.gap": "{original:.4f} nats before, {quantised:.4f} after ({gap:+.4f}), on the first {compared:,} "
        "tokens",
        "guarantee.no_gap": "the weights are quantised already, so there is no gap",
        "guarantee.expected": "{entropy:.4f} nats ({entropy_bits:.4f} bits) per token, if the model's own "
        "probabilities were right",
    }
)


def guarantee_record(found: Guarantee) -> Record:
    """Everything in a guarantee that is shown: text, claims and tables."""
    tables = [_bounds(level, bounds) for level in LEVELS if (bounds := _of(found, level))]
    if found.plain_loss is not None:
        tables.append(_measured(found))
    tables += [_message(found), _assumptions(found)]
    if found.message.tried:
        tables.append(_tried(found))
    if found.notes:
        rows = tuple((note.statement,) for note in found.notes)
        tables.append(Table("guarantee.notes", (Column("note", "text"),), rows, "Notes"))
    facts = {"model": found.model, "described": found.described, "data_used": found.data, "vacuous": found.vacuous}
    return Record(
        "guarantee",
        title=f"What is guaranteed of {found.model}",
        text=(*result(found), _losses(found)),
        claims=found.claims,
        tables=tuple(tables),
        data=facts,
    )


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


def _measured(found: Guarantee) -> Table:
    """The tightest bound of each target and level, the quantity itself with its interval, and the plain loss."""
    rows = []
    for claim in tightest(found.measured):
        facts, interval = claim.evidence, claim.interval
        of = "fresh" if facts["level"] == "documents" else "seen"
        ends = (None, None) if interval is None else (interval.low, interval.high)
        verdict = "below" if facts["below_bound"] else "VIOLATED"
        rows.append((facts["target"], of, claim.value, *ends, facts["bound"], verdict))
    plain = found.plain_loss
    assert plain is not None and plain.interval is not None
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


def _assumptions(found: Guarantee) -> Table:
    """Every assumption once; those that do not hold come first."""
    order = {"violated": 0, "assumed": 1, "checked": 2}
    seen: dict[tuple[str, str], set[str]] = {}
    for one in found.bounds:
        for assumption in one.risk.assumptions:
            seen.setdefault((assumption.check, assumption.statement), set()).add(one.level)
    levels = {one.level for one in found.bounds}
    rows = tuple(
        (check, statement, "all bounds" if where == levels else f"bounds of {next(iter(where))}")
        for (check, statement), where in sorted(seen.items(), key=lambda pair: order[pair[0][0]])
    )
    columns = (Column("check", "text"), Column("assumption", "text"), Column("level", "text", "of"))
    return Table("guarantee.assumptions", columns, rows, "What this rests on")


def _tried(found: Guarantee) -> Table:
    rows = tuple((one.quantiser, one.bits, one.loss, one.foreseen) for one in found.message.tried)
    columns = (Column("quantiser", "text"), Column("bits", "whole"), Column("loss"), Column("foreseen"))
    note = "on a part of the data; the message pays for the choice; foreseen: the bound on all data"
    return Table("guarantee.tried", columns, rows, "Quantisers that were tried", note, detail=True)
