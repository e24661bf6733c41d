"""A guarantee as text of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lengthwise.cli.output import wrapped, write_field
from lengthwise.records import Assumption, Claim

if TYPE_CHECKING:
    from lengthwise.bounds.tokens.token_bound import TokenBound
    from lengthwise.guarantees.guarantee import Guarantee

_LN2 = math.log(2)
_TITLES = {
    "documents": "Fresh documents",
    "tokens": "Tokens in the contexts seen",
}


def write_guarantee(found: Guarantee) -> None:
    """The model, its message, its losses; the bounds of documents and of tokens with their terms; what they rest on."""
    _write_facts(found)
    for level, title in _TITLES.items():
        bounds = [one for one in found.bounds if one.level == level]
        if bounds:
            _heading(title)
            _write_bounds(bounds)
    _write_assumptions(found.bounds)
    if found.measured:
        _write_measured(found)
    if found.notes:
        _heading("Notes")
    for note in found.notes:
        print(wrapped(note, "- ", "  "))
    _heading("In short")
    for line in in_short(found):
        print(wrapped(line))
    if found.folder is not None:
        print(f"\n{found.folder}")


def in_short(found: Guarantee) -> list[str]:
    """The verdict in a sentence or two."""
    lines = []
    if found.broken:
        lines.append("NOT AS IT SHOULD BE: " + "; ".join(found.broken) + ".")
    if found.vacuous:
        return [*lines, "Every bound is vacuous: none says more than a uniform guess would."]
    useful = [one for one in found.bounds if not one.vacuous]
    target = "loss" if any(one.target == "loss" for one in useful) else useful[0].target
    rivals = [one for one in found.bounds if one.target == target]
    one = min((one for one in useful if one.target == target), key=lambda bound: bound.total)
    value = f"{_both(one.total)} a token" if target == "loss" else f"{one.total:.1%} of tokens"
    chance = f"{one.chance:.4f} nats" if target == "loss" else f"{one.chance:.1%}"
    lines.append(f"{_upper(one.quantity)}: at most {value}; chance is {chance} ({one.risk.kind}).")
    together = max(0.0, 1 - len(rivals) * one.delta)
    lines.append(
        f"It is the smallest of {len(rivals)} such bounds; all of them hold at once with probability {together:.3g} at "
        f"least (--delta {one.delta / len(rivals):.3g} would make that {1 - one.delta:g})."
    )
    if one.risk.kind != "certified":
        lines.append(
            "It is not certified: something it rests on is taken for granted or does not hold (see above)."
            if one.risk.kind == "heuristic"
            else "It is a prediction: that the data are a sample of a training set of that size is taken as said."
        )
    return lines


def _write_facts(found: Guarantee) -> None:
    message, losses = found.description, found.losses
    print(found.model)
    write_field("model", found.described)
    write_field("data", found.data)
    size = f"{message.bits:,} bits ({message.bits / 8:,.0f} bytes), {message.bits_a_weight:.3g} bits a weight"
    write_field("message", f"{size}: {message.source}")
    write_field("", ", ".join(f"{name} {bits:,}" for name, bits in message.parts.items() if bits))
    if message.tried:
        write_field("", f"the best of {len(message.tried)} quantisers on a part of the data; the message pays for it")
    write_field("loss", f"{_both(losses.loss)} a token, on {losses.tokens:,} tokens of {losses.documents:,} documents")
    write_field("quantising", _quantising(found))
    write_field("expected", f"{_both(losses.entropy)} a token by the model itself")
    errors = ", ".join(f"top-{k} {share:.2%}" for k, share in losses.errors)
    write_field("errors", f"{errors} of tokens are not among the likeliest")
    write_field("chance", f"ln {found.vocabulary:,} = {_both(math.log(found.vocabulary))}")


def _quantising(found: Guarantee) -> str:
    message = found.description
    if "quantiser" not in message.facts:
        return "the weights are quantised already, so there is no gap"
    gap = message.quantised - message.original
    return (
        f"{message.original:.4f} nats before, {message.quantised:.4f} after ({gap:+.4f}), on the first "
        f"{message.compared:,} tokens"
    )


def _write_bounds(bounds: Sequence[TokenBound]) -> None:
    print(wrapped(f"{_upper(bounds[0].quantity)}; or the share of tokens missed."))
    print(f"Each bound by itself holds with probability {1 - bounds[0].delta:g}.\n")
    names = list(dict.fromkeys(term.name for one in bounds for term in one.risk.terms))
    rows = [["", "", *(name.removeprefix("on the ") for name in names), "bound", "bits", "chance", ""]]
    for one in bounds:
        terms = {term.name: term.value for term in one.risk.terms}
        cells = [_number(terms.get(name)) for name in names]
        verdict = "vacuous" if one.vacuous else "holds"
        bits = _number(one.total_bits)
        rows.append([one.target, one.inequality, *cells, _number(one.total), bits, _number(one.chance), verdict])
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        parts = [cell.ljust(w) if i in (0, 1, len(row) - 1) else cell.rjust(w) for i, (cell, w) in _each(row, wide)]
        print(" ".join(parts).rstrip())
    settings = [
        f"{one.inequality}: α = {one.alpha:.3g}, C = {one.complexity:.4g}"
        for one in bounds
        if one.target == "loss" and one.alpha
    ]
    if settings:
        print(wrapped(f"({'; '.join(settings)}; nats for loss, shares for top-k)"))


def _each(row: list[str], wide: list[int]) -> Iterator[tuple[int, tuple[str, int]]]:
    return enumerate(zip(row, wide, strict=True))


def _write_assumptions(bounds: Sequence[TokenBound]) -> None:
    """Every assumption once; those that do not hold come first."""
    _heading("What this rests on")
    order = {"violated": 0, "assumed": 1, "checked": 2}
    seen: dict[Assumption, set[str]] = {}
    for one in bounds:
        for assumption in one.risk.assumptions:
            seen.setdefault(assumption, set()).add(one.level)
    levels = {one.level for one in bounds}
    for assumption, where in sorted(seen.items(), key=lambda pair: order[pair[0].check]):
        of = "" if where == levels else f" (bounds of {next(iter(where))})"
        print(wrapped(f"{assumption.check}: {assumption.statement}{of}", "- ", "  "))


def _write_measured(found: Guarantee) -> None:
    _heading("What they really are")
    for claim in _once(found.measured):
        held = "below the bound" if claim.evidence["below the bound"] else "NOT below the bound"
        low, high = (claim.interval.low, claim.interval.high) if claim.interval else (claim.value, claim.value)
        print(
            wrapped(
                f"{claim.name}: {claim.value:.4f} [{low:.4f}, {high:.4f}] {claim.unit}, {held} "
                f"{claim.evidence['bound']:.4f}",
                "- ",
                "  ",
            )
        )


def _once(claims: Sequence[Claim]) -> list[Claim]:
    """The claim beside the tightest bound of each target and level: the others say the same of looser ones."""
    best: dict[str, Claim] = {}
    for claim in claims:
        key = claim.name.split(",")[0] + claim.name.split(":")[1]
        if key not in best or claim.evidence["bound"] < best[key].evidence["bound"]:
            best[key] = claim
    return list(best.values())


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _both(nats: float) -> str:
    return f"{nats:.4f} nats ({nats / _LN2:.4f} bits)"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:.3g}"


def _heading(title: str) -> None:
    print(f"\n{title}\n{'─' * len(title)}")
