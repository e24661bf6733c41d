"""In how many pairs is the first larger? The sign test, with an interval of the share.

Pairs without a difference are left out, as in the test's usual form. The p is that of a fair coin, two-sided and exact;
the interval of the share is that of Clopper and Pearson. Both take pairs for independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.statistics.bootstrap import LEVEL, mean_interval

REFERENCE = Reference("dixon1946", "sign test; interval of Clopper and Pearson")

explain(
    {
        "signs.independent": "pairs are independent; those that share a task, its items and its training data are not",
        "signs.none": "no pair differs",
    }
)


def sign_test(
    key: str, first: Mapping[str, float], second: Mapping[str, float], *, about: Mapping[str, Any] = {}
) -> Claim:
    """The share of pairs in which `first` is larger, of those that differ. For values above 0 the evidence has the
    geometric mean of the ratio too, with a bootstrap interval."""
    pairs = sorted(set(first) & set(second))
    larger = sum(first[pair] > second[pair] for pair in pairs)
    smaller = sum(first[pair] < second[pair] for pair in pairs)
    differing = larger + smaller
    evidence: dict[str, Any] = {**about, "n": len(pairs), "larger": larger, "smaller": smaller, "level": LEVEL}
    if not differing:
        none = (Assumption("signs.none", "caveat"),)
        return Claim(key, None, "of pairs", "measured", "unknown", None, none, REFERENCE, evidence)
    test = stats.binomtest(larger, differing)
    ends = test.proportion_ci(LEVEL, method="exact")
    evidence |= {"p_value": float(test.pvalue), **_ratio([(first[pair], second[pair]) for pair in pairs])}
    interval = Interval(float(ends.low), float(ends.high), LEVEL, "Clopper-Pearson")
    given = (Assumption("signs.independent"),)
    return Claim(key, larger / differing, "of pairs", "measured", "holds", interval, given, REFERENCE, evidence)


def _ratio(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """The geometric mean of first / second with its interval; nothing where a value is not above 0."""
    if any(one <= 0 or two <= 0 for one, two in pairs):
        return {}
    logs = np.array([math.log(one) - math.log(two) for one, two in pairs])
    ends = mean_interval(logs)
    found = {"ratio": math.exp(float(logs.mean()))}
    return found | ({"ratio_low": math.exp(ends.low), "ratio_high": math.exp(ends.high)} if ends else {})
