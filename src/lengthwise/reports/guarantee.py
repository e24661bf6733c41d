"""The terms of the best bounds of a loss as a chart: one waterfall per level, with chance as a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.figures.style import alt
from lengthwise.figures.waterfall import waterfall_chart


def guarantee_chart(bounds: Sequence[TokenBound]) -> Any:
    """The terms of each bound, one chart below the other."""
    return alt.vconcat(*map(_chart, bounds))


def _chart(one: TokenBound) -> Any:
    of = "fresh documents" if one.level == "documents" else "tokens in the contexts seen"
    verdict = "vacuous" if one.vacuous else f"{one.chance - one.total:.3g} below chance"
    title = f"loss of {of}, nats per token: {verdict} (dashed: chance, ln V = {one.chance:.3g})"
    terms = [(term.name, max(0.0, term.value)) for term in one.risk.terms]
    return waterfall_chart(terms, title, one.chance, f"bound ({one.inequality})")
