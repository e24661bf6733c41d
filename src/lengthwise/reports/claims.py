"""Every claim of a report, and the compact columns in which the page holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.records import Claim, Interval
from lengthwise.reports.answer import Answer
from lengthwise.reports.comparisons import encoding_differences, trends
from lengthwise.reports.content import Content
from lengthwise.reports.ladder.part import LadderPart
from lengthwise.reports.plateaus import Plateau
from lengthwise.reports.predictions import Predictions
from lengthwise.reports.published import Published
from lengthwise.reports.sparsity import sparsity_claims
from lengthwise.reports.words import percent, short
from lengthwise.studies.cells import MEASURES

_LISTED = 6
_EVIDENCE = {  # parts of the evidence that are lists of names, and what they are called
    "discarded": "seeds discarded",
    "the others": "not",
    "contradictions": "contradicted by",
    "not learned": "not learned:",
    "decided": "decided",
}


def all_claims(
    content: Content,
    answered: Answer,
    compared: Published,
    fits: Sequence[Plateau],
    foretold: Predictions,
    ladder: LadderPart | None = None,
) -> list[Claim]:
    """What the report claims, from the general to the particular."""
    climbed = [] if ladder is None else ladder.claims()
    return [
        *(climbed if ladder is not None and ladder.leads else ()),
        *answered.claims,
        *(() if ladder is not None and ladder.leads else climbed),
        *foretold.claims(),
        *compared.claims(),
        *encoding_differences(content),
        *trends(content),
        *(fit.claim for fit in fits),
        *sparsity_claims(content),
        *foretold.cell_claims(),
        *(cell.claim(measure) for measure in MEASURES for cell in content.cells if cell.values(measure)),
    ]


def claim_columns(claims: Sequence[Claim]) -> dict[str, list[Any]]:
    """The claims by column, as text, ready for a table."""
    rows = [_row(claim) for claim in claims]
    return {name: [row[name] for row in rows] for name in _row(_EXAMPLE)}


def claim_rows(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The same by row, for a short table that is written out in the page."""
    return [_row(claim) for claim in claims]


def _row(claim: Claim) -> dict[str, Any]:
    interval = claim.interval
    seeds = claim.evidence.get("seeds")
    return {
        "kind": claim.kind,
        "claim": claim.title,
        "value": _value(claim) + ("" if claim.status == "holds" else f" ({claim.status})"),
        "interval": "" if interval is None else _interval(interval, claim),
        "n": claim.evidence.get("n", len(seeds) if isinstance(seeds, list) else None),
        "assumptions": [f"{a.check}: {a.statement}" for a in claim.assumptions],
        "evidence": _evidence(claim),
        "reference": "" if claim.reference is None else str(claim.reference),
    }


def _interval(interval: Interval, claim: Claim) -> str:
    if interval.is_open:
        return f"at least {_number(interval.low, claim)}"
    return f"{_number(interval.low, claim)} to {_number(interval.high, claim)}"


def _evidence(claim: Claim) -> str:
    """The parts of the evidence that a reader asks for first."""
    found = claim.evidence
    parts = []
    for key, title in _EVIDENCE.items():
        if found.get(key):
            parts.append(f"{title} {_names(found[key])}")
    if found.get("discarded") and found.get("rule"):
        parts.append(f"rule: {found['rule']}")
    if isinstance(p := found.get("p_value"), float):
        parts.append(f"p = {p:.3g}")
    if isinstance(tau := found.get("tau"), float):
        parts.append(f"settles over {tau:.3g} sizes")
    if isinstance(why := found.get("why"), str):
        parts.append(why)
    return "; ".join(parts)


def _names(values: Any) -> str:
    names = [str(value) for value in values]
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def _value(claim: Claim) -> str:
    if claim.value is None:
        return "–"
    bound = "at least " if claim.evidence.get("lower_bounds") else ""
    unit = f" {claim.unit}" if claim.unit and claim.unit not in ("size", "share") else ""
    return f"{bound}{_number(claim.value, claim)}{unit}"


def _number(value: Any, claim: Claim) -> str:
    """A size with one decimal, a share in per cent, other numbers with three digits; a truth as yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    if claim.unit == "size":
        return short(value)
    if claim.title.startswith("exact match") or claim.unit == "share":
        return percent(value)
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


_EXAMPLE = Claim("", "", "", "measured")
