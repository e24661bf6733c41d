"""The trend of a head's margins in the logarithm of the length, and the length at which it reaches what is needed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy import stats

from lengthwise.records import Interval

LONGEST = 1e30  # tokens; a trend that reaches further is called none
Kind = Literal["rising", "flat", "falling", "hard"]


@dataclass(frozen=True)
class HeadTrend:
    """`slope` is gamma, with its 95 % interval from `low` to `high`. `length` is the number of tokens at which the
    line meets the margin that is needed, or from which on the measured margins suffice; None where it rises too slowly
    or not at all."""

    kind: Kind
    slope: float | None = None
    low: float | None = None
    high: float | None = None
    length: float | None = None
    interval: Interval | None = None


def trend_of(points: Sequence[tuple[float, float | None]], needed: float) -> HeadTrend:
    """The least-squares line through (ln n, median margin). A head is hard already if its margin at the largest length
    suffices (or all its keys tie, which is no margin); it rises or falls if the interval of the slope is on one side of
    0. Without three margins there is no trend."""
    known = [(x, y) for x, y in points if y is not None]
    if not known or points[-1][1] is None or points[-1][1] >= needed:
        enough = itertools.takewhile(lambda point: point[1] is None or point[1] >= needed, reversed(points))
        return HeadTrend("hard", length=min((math.exp(x) for x, _ in enough), default=None))
    if len(known) < 3 or len({x for x, _ in known}) < 3:
        return HeadTrend("flat")
    fit: Any = stats.linregress([x for x, _ in known], [y for _, y in known])
    reach = float(stats.t.ppf(0.975, len(known) - 2)) * float(fit.stderr)
    slope, low, high = float(fit.slope), float(fit.slope) - reach, float(fit.slope) + reach
    kind: Kind = "rising" if low > 0 else "falling" if high < 0 else "flat"
    if kind != "rising":
        return HeadTrend(kind, slope, low, high)
    middle = [sum(values) / len(known) for values in zip(*known, strict=True)]

    def meets(gamma: float) -> float:
        """Where a line of this slope through the middle of the points reaches the margin."""
        power = middle[0] + (needed - middle[1]) / gamma
        return math.exp(power) if power < math.log(LONGEST) else math.inf

    length, early, late = meets(slope), meets(high), meets(low)
    if math.isinf(length):
        return HeadTrend(kind, slope, low, high)
    interval = Interval(min(early, length), max(late, length), 0.95, "slope of the least-squares line")
    return HeadTrend(kind, slope, low, high, length, interval)
