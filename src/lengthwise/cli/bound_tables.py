"""The tables of `lengthwise bound`: every bound with its terms, and what was measured beside the tightest ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lengthwise.cli.output import wrapped
from lengthwise.records import Claim

if TYPE_CHECKING:
    from lengthwise.bounds.tokens.problem import TokenBound

_LN2 = math.log(2)
_SHORT = {"data": "data", "sampling": "sample"}  # eight columns of numbers and a verdict are 80 characters


def write_bounds(bounds: Sequence[TokenBound]) -> None:
    """A row a bound: its terms, which add up to it, and chance; then what the columns and settings mean."""
    names = {term.key: _SHORT.get(term.key, term.name) for one in bounds for term in one.risk.terms}
    rows = [["", "", *names.values(), "bound", "bits", "chance", ""]]
    for one in bounds:
        terms = {term.key: term.value for term in one.risk.terms}
        cells = [_number(terms.get(key)) for key in names]
        verdict = "vacuous" if one.vacuous else "below"
        bits = _number(one.total_bits)
        rows.append([one.target, one.inequality, *cells, _number(one.total), bits, _number(one.chance), verdict])
    _write_rows(rows, left=(0, 1, len(rows[0]) - 1))
    print(wrapped(_legend(bounds)))


def write_measured(measured: Sequence[Claim]) -> None:
    """The tightest bound of each target and level beside the quantity itself, with its interval."""
    rows = [["", "", "really", "95% interval", "bound", ""]]
    kept = tightest(measured)
    several = len({claim.evidence["level"] for claim in kept}) > 1
    for claim in kept:
        facts, interval = claim.evidence, claim.interval
        of = ("fresh" if facts["level"] == "documents" else "seen") if several else ""
        between = "" if interval is None else f"{_number(interval.low)} to {_number(interval.high)}"
        held = "below" if facts["below the bound"] else "NOT BELOW"
        rows.append([facts["target"], of, _number(claim.value), between, _number(facts["bound"]), held])
    _write_rows(rows, left=(0, 1, 5))


def tightest(claims: Sequence[Claim]) -> list[Claim]:
    """The claim beside the tightest bound of each target and level: the others say the same of looser ones."""
    best: dict[tuple[str, str], Claim] = {}
    for claim in claims:
        key = claim.evidence["level"], claim.evidence["target"]
        if key not in best or claim.evidence["bound"] < best[key].evidence["bound"]:
            best[key] = claim
    return list(best.values())


def both(nats: float) -> str:
    return f"{nats:.4f} nats ({nats / _LN2:.4f} bits)"


def _legend(bounds: Sequence[TokenBound]) -> str:
    """Units, and the smoothing and the price that each inequality chose for the loss."""
    losses = [one for one in bounds if one.target == "loss" and one.alpha]
    if not losses:
        return "(shares of tokens)"
    unit = "document" if bounds[0].level == "documents" else "token"
    smoothing = ", ".join(f"{one.alpha:.3g} {one.inequality}" for one in losses)
    return (
        f"(loss in nats, top-k in shares of tokens; data: the loss of the smoothed model (1 - α) p + α / V, α = "
        f"{smoothing}; the message and all choices cost {losses[0].complexity:.4g} nats a {unit})"
    )


def _write_rows(rows: list[list[str]], left: tuple[int, ...]) -> None:
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(size) if place in left else cell.rjust(size)
            for place, (cell, size) in enumerate(zip(row, wide, strict=True))
        ]
        print(" ".join(cells).rstrip())


def _number(value: float | str | None) -> str:
    """Six characters, whatever the size."""
    if value is None or isinstance(value, str):
        return value or ""
    size = abs(value)
    if size >= 99_999.5:
        return f"{value:.0e}"
    return f"{value:.{4 if size < 9.99995 else 3 if size < 99.9995 else 2 if size < 999.995 else 0}f}"
