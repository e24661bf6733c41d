"""Does a number rise or fall along an order? Spearman for one row of points, Page for several blocks.

Both p-values come from permuting the observed values, so ties need no correction (`scipy.stats.page_trend_test` has
exact p-values without ties only): for up to eight values all orders are enumerated, beyond that 20,000 are drawn and
the observed order is counted among them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Seeds
from lengthwise.statistics.bootstrap import (
    LEVEL,
    finite,
    mean_interval,
    mean_of,
    percentile_ends,
    resampling,
    seed_evidence,
    spread_assumptions,
    spread_evidence,
)

EXACT_UP_TO = 8
ORDERS = 20000
SPEARMAN = Reference("spearman1904")
PAGE = Reference("page1963")
_ROUNDING = 1e-9

explain(
    {
        "trend.few_points": "a trend needs three points",
        "trend.constant": "{row} never changes",
        "trend.exchangeable_points": "without a trend, the points would be exchangeable",
        "trend.insignificant": "{n} points are too few for a significant trend",
        "trend.constant_blocks": "every block is the same in all conditions",
        "trend.independent_blocks": "blocks are independent",
        "trend.exchangeable_conditions": "without a trend, the conditions would be exchangeable within a block",
    }
)


def ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of the ranks they take."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def spearman_trend(
    key: str,
    x: Sequence[float],
    y: Sequence[float],
    *,
    about: Mapping[str, Any] = {},
) -> Claim:
    """Spearman's rank correlation of y with x, with a two-sided permutation p.

    1 means that y rises wherever x does, -1 that it falls. Fewer than three points, or a row that never changes, show
    no trend either way: unknown. The interval resamples points (percentile bootstrap); it shrinks to one value where
    the order is perfect, so read it together with the p.
    """
    first, second = finite(x, "x"), finite(y, "y")
    n = len(first)
    if len(second) != n:
        raise UsageError(f"x and y must have one value per point each, not {n} and {len(second)}")
    evidence: dict[str, Any] = {**about, **seed_evidence((), (), ""), "n": n, "level": LEVEL}
    reasons = [Assumption("trend.few_points", "caveat")] if n < 3 else []
    for row, what in ((first, "x"), (second, "y")):
        if n >= 3 and row.min() == row.max():
            reasons = [Assumption("trend.constant", "caveat", {"row": what})]
    if reasons:
        violated = tuple(reasons)
        return Claim(key, None, "", "measured", "unknown", None, violated, SPEARMAN, evidence)
    one, two = _standard(ranks(first)), _standard(ranks(second))
    rho = float(np.clip(one @ two, -1, 1))
    p_value, orders = _permutation_p(one, two)
    evidence |= {
        "p_value": p_value,
        "p_method": f"permutation, {'all' if n <= EXACT_UP_TO else 'a sample of'} {orders} orders, two-sided",
        "smallest_p": min(1.0, 2 / math.factorial(n)),
        "ties_x": n - len(np.unique(first)),
        "ties_y": n - len(np.unique(second)),
    }
    assumptions = [Assumption("trend.exchangeable_points")]
    interval, evidence["resamples"] = _rho_interval(first, second, rho)
    if evidence["smallest_p"] > 1 - LEVEL:
        assumptions.append(Assumption("trend.insignificant", "caveat", {"n": n}))
    return Claim(key, rho, "", "measured", "holds", interval, tuple(assumptions), SPEARMAN, evidence)


def page_trend(
    key: str,
    table: Sequence[Sequence[float]],
    *,
    about: Mapping[str, Any] = {},
    conditions: Sequence[str] = (),
    blocks: Sequence[int] | Sequence[str] = (),
) -> Claim:
    """Page's test that values rise along the columns of a table: each row is a block (a seed or a task), the columns
    are conditions in the order in which the values are expected to rise.

    With R_bj the rank of column j within block b, Page's statistic is L = sum_j j sum_b R_bj. The value given is the
    mean over the m blocks of the rank correlation with the order, 12 L / (m k (k^2 - 1)) - 3 (k + 1) / (k - 1), from
    -1 to 1 for k columns. The p is one-sided (L as large or larger), exact for k <= 8 with or without ties, and the
    interval is the bootstrap over blocks. Seeds as blocks are `blocks=[0, 1, 2]`.
    """
    rows = _checked_table(table, conditions, blocks)
    m, k = rows.shape
    names = list(blocks) or list(range(m))
    seeds: list[int] = [int(block) for block in blocks if not isinstance(block, str)]
    evidence: dict[str, Any] = {**about, **seed_evidence(seeds, (), ""), "n": m, "level": LEVEL}
    evidence |= {"blocks": names, "conditions": list(conditions) or k}
    if (rows.min(axis=1) == rows.max(axis=1)).all():
        violated = (Assumption("trend.constant_blocks", "caveat"),)
        return Claim(key, None, "", "measured", "unknown", None, violated, PAGE, evidence)
    ranked = np.array([ranks(row) for row in rows])
    each = ranked @ np.arange(1, k + 1)
    correlations = 12 * each / (k * (k**2 - 1)) - 3 * (k + 1) / (k - 1)
    p_value, method = _page_p(ranked, float(each.sum()))
    evidence |= spread_evidence(correlations)
    evidence |= {"page_l": float(each.sum()), "p_value": p_value, "p_method": f"{method}, one-sided"}
    evidence |= {"smallest_p": math.factorial(k) ** -float(m), "interval_reference": "efron1993, chapter 13"}
    assumptions = (
        Assumption("trend.independent_blocks"),
        Assumption("trend.exchangeable_conditions"),
        *spread_assumptions(correlations, "block"),
    )
    interval = mean_interval(correlations)
    return Claim(key, mean_of(correlations), "", "measured", "holds", interval, assumptions, PAGE, evidence)


@functools.lru_cache(maxsize=EXACT_UP_TO)
def _orders(n: int) -> NDArray[np.int8]:
    """All orders of n things, [n!, n]."""
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def _standard(values: Floats) -> Floats:
    """Shifted and scaled so that the product of two such rows is their correlation."""
    centred = values - values.mean()
    return centred / math.sqrt(centred @ centred)


def _permutation_p(one: Floats, two: Floats) -> tuple[float, int]:
    """The share of orders of the second row whose correlation with the first is as far from zero, and how many."""
    n = len(one)
    bar = abs(float(one @ two)) - _ROUNDING
    if n <= EXACT_UP_TO:
        return float(np.mean(np.abs(two[_orders(n)] @ one) >= bar)), math.factorial(n)
    generator = np.random.default_rng(Seeds(0).key("spearman", n))
    beyond, ordered = 0, np.tile(np.sort(two), (1000, 1))
    for _ in range(ORDERS // 1000):
        beyond += int(np.sum(np.abs(generator.permuted(ordered, axis=1) @ one) >= bar))
    return (beyond + 1) / (ORDERS + 1), ORDERS


def _rho_interval(first: Floats, second: Floats, rho: float) -> tuple[Interval | None, int]:
    """The percentile bootstrap of rho over points, and the number of resamples.

    The rank of value i in a resample with counts c is sum_j c_j [x_j < x_i] + (sum_j c_j [x_j = x_i] + 1) / 2, so all
    resamples are one product of matrices. Resamples in which a row never changes have no rho and are left out.
    """
    order = np.lexsort((second, first))  # the order of the points is not to matter
    drawn = resampling(len(first))
    centred = []
    for row in (first[order], second[order]):
        places = (row[None, :] < row[:, None]) + 0.5 * (row[None, :] == row[:, None])
        ranked = drawn.counts @ places.T
        middle = (drawn.counts * ranked).sum(axis=1, keepdims=True) / len(row)
        centred.append(ranked - middle)
    one, two = centred
    scale = np.sqrt((drawn.counts * one**2).sum(axis=1) * (drawn.counts * two**2).sum(axis=1))
    known = scale > _ROUNDING
    rhos = np.clip((drawn.counts * one * two).sum(axis=1)[known] / scale[known], -1, 1)
    mass = drawn.probabilities[known] / drawn.probabilities[known].sum()
    low, high = percentile_ends(rhos, mass)
    method = f"percentile bootstrap over points, {drawn}"
    return Interval(min(low, rho), max(high, rho), LEVEL, method), int(known.sum())


def _checked_table(table: Sequence[Sequence[float]], conditions: Sequence[str], blocks: Sequence[Any]) -> Floats:
    """The table as an array, or the sentence that says what is wrong with it."""
    rows = [finite(row, "the values of a block") for row in table]
    if not rows:
        raise UsageError("the table has no rows; give one row per block")
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise UsageError(f"every block needs a value in every condition, but rows have {widths} values")
    if widths[0] < 3:
        raise UsageError(f"Page's test orders at least three conditions, not {widths[0]}; compare two in pairs")
    for labels, count, what in ((conditions, widths[0], "condition"), (blocks, len(rows), "block")):
        if len(labels) not in (0, count):
            raise UsageError(f"{len(labels)} {what} names do not fit {count} {what}s; give one name each")
    return np.stack(rows)


def _page_p(ranked: Floats, observed: float) -> tuple[float, str]:
    """P(L >= observed) when every block is put in a uniformly random order."""
    m, k = ranked.shape
    weights = np.arange(1, k + 1)
    if k <= EXACT_UP_TO:
        law, start = np.ones(1), 0
        for row in np.sort(ranked, axis=1):
            twice = np.rint(2 * row).astype(np.int64)  # ranks are halves at worst
            sums = twice[_orders(k)] @ weights
            law = np.convolve(law, np.bincount(sums - sums.min()) / len(sums))
            start += int(sums.min())
        return min(1.0, float(law[max(0, round(2 * observed) - start) :].sum())), "exact permutation within blocks"
    generator = np.random.default_rng(Seeds(0).key("page", m, k))
    totals = np.zeros(ORDERS)
    for row in sorted(np.sort(ranked, axis=1).tolist()):  # the order of the blocks is not to matter
        totals += generator.permuted(np.tile(row, (ORDERS, 1)), axis=1) @ weights
    beyond = int(np.sum(totals >= observed - _ROUNDING * observed))
    return (beyond + 1) / (ORDERS + 1), f"permutation within blocks, a sample of {ORDERS} orders"
