"""By how much a mean, or a transport distance, of a sample may fall short of the truth.

Each function gives a number t such that the truth exceeds the value of the sample by more than t with probability at
most `delta`. Items must be drawn independently of each other and of the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lengthwise.errors import UsageError


@dataclass(frozen=True)
class Sampling:
    """What is added to a bound because the source risk, or the distance, is that of a sample."""

    risk: float = 0.0
    distance: float = 0.0


NOT_SAMPLED = Sampling()


def risk_deviation(items: int, loss_range: float, delta: float) -> float:
    """Hoeffding: a mean of `items` losses, each between 0 and `loss_range`, is too small by at most
    loss_range √(ln(1/δ) / 2n) (hoeffding1963, theorem 2)."""
    _check(items, delta)
    if not 0 < loss_range < math.inf:
        raise UsageError(
            f"the range of a loss must be above 0 and finite, not {loss_range}; clip an unbounded loss first"
        )
    return loss_range * math.sqrt(math.log(1 / delta) / (2 * items))


def uniform_deviation(items: int, delta: float) -> float:
    """Dvoretzky, Kiefer and Wolfowitz with Massart's constant, to one side: with probability 1 - δ the share of `items`
    draws below t is too small by at most √(ln(1/δ) / 2n), at every t at once (massart1990; δ at most 1/2, and a larger
    one counts as that). A mean of ramps clip(1 - s/γ, 0, 1) is a mean of such shares over t from 0 to γ, so the same
    holds of it at every γ, however γ was chosen."""
    return risk_deviation(items, 1.0, min(delta, 0.5))


def distance_deviation(items: int, diameter: float, cells: int, delta: float, cell_width: float = 0.0) -> float:
    """How far a distribution is from its sample in W1, if its support has `diameter` and is covered by `cells` sets of
    diameter `cell_width` (0: that many points).

    width + (D/2) √(K/n) in the mean (statement 16 of docs/explanation/bounds.md) and D √(ln(1/δ) / 2n) around it
    (McDiarmid: an item that changes moves W1 by at most D/n).
    """
    _check(items, delta)
    if cells < 1 or not diameter >= 0 or not cell_width >= 0:
        raise UsageError(
            "a support has a diameter of 0 or more, 1 cell or more, and cells of width 0 or more, "
            f"not {diameter}, {cells} and {cell_width}"
        )
    mean = cell_width + diameter / 2 * math.sqrt(cells / items)
    return min(mean, diameter) + diameter * math.sqrt(math.log(1 / delta) / (2 * items))


def _check(items: int, delta: float) -> None:
    if items < 1 or not 0 < delta < 1:
        raise UsageError(
            f"a sample must have 1 item or more and delta must lie between 0 and 1, not {items} and {delta}"
        )
