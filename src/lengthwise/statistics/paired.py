"""Two configurations compared pair by pair: by seed, or by task.

The p-value is that of Fisher's sign-flip test (fisher1935, section 21): if the two were the same, each difference
could equally well have had the other sign, so p is the share of sign patterns whose mean is as far from zero as the
observed one. With n pairs there are 2^n patterns, in mirrored pairs, hence no p below 2 / 2^n: three pairs can never
show a difference at the 5 % level, six can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats, Seeds
from lengthwise.statistics.bootstrap import (
    LEVEL,
    finite,
    mean_interval,
    mean_of,
    seed_evidence,
    spread_assumptions,
    spread_evidence,
    whole_seeds,
)

EXACT_UP_TO = 16
FLIPS = 20000
REFERENCE = Reference("fisher1935", "section 21")
_ROUNDING = 1e-9

Key = TypeVar("Key", int, str)

explain(
    {
        "paired.exchangeable": "if the two were the same, they would be exchangeable within a {noun}",
        "paired.unpaired": "left out, because they occur on one side only: {noun} {names}",
        "paired.none": "no {noun} is on both sides",
        "paired.insignificant": (
            "pairs by {noun} cannot be significant, because there are {n}: no p is below {smallest:g}"
        ),
    }
)


def paired_difference(
    key: str,
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    about: Mapping[str, Any] = {},
    discarded: Sequence[int] = (),
    rule: str = "",
    unit: str = "",
) -> Claim:
    """The mean of first - second over the seeds that both have.

    Seeds that only one has are named in the evidence and left out. `discarded` are seeds that were left out of both
    before, by `rule`.
    """
    pairs = sorted(set(whole_seeds(first)) & set(whole_seeds(second)))
    evidence = {**about, **seed_evidence(pairs, discarded, rule)}
    return _paired(key, first, second, pairs, "seed", evidence, unit)


def paired_over_tasks(
    key: str,
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    about: Mapping[str, Any] = {},
    rule: str = "",
    unit: str = "",
) -> Claim:
    """The mean of first - second over the tasks that both have; a value is one number per task, say a mean over the
    seeds that were kept by `rule`."""
    for task in (*first, *second):
        if not isinstance(task, str):
            raise UsageError(f"tasks are compared by name, not {task!r}; use paired_difference for seeds")
    pairs = sorted(set(first) & set(second))
    kept = {"seeds": {}, "discarded": {}, "rule": rule or "all seeds are kept"}
    return _paired(key, first, second, pairs, "task", {**about, "tasks": pairs, **kept}, unit)


def sign_flip_p(differences: Floats) -> tuple[float, int]:
    """The two-sided p of the sign-flip test, and how many patterns it rests on.

    Exact for n <= 16. Beyond, 20,000 seeded patterns are drawn and the one seen is counted among them, which keeps
    the test valid. Sums that differ by rounding alone count as equal.
    """
    n = len(differences)
    differences = np.sort(differences)  # the order of the pairs is not to matter where patterns are drawn
    bar = abs(differences.sum()) - _ROUNDING * np.abs(differences).sum()
    if n <= EXACT_UP_TO:
        sums = np.zeros(1)
        for difference in differences:
            sums = np.concatenate([sums + difference, sums - difference])
        return float(np.mean(np.abs(sums) >= bar)), 2**n
    generator = np.random.default_rng(Seeds(0).key("sign-flip", n))
    beyond, left = 0, FLIPS
    while left:  # in blocks, so that many pairs need little memory
        rows = min(left, 1000)
        signs = generator.integers(0, 2, size=(rows, n), dtype=np.int8) * 2 - 1
        beyond += int(np.sum(np.abs(signs @ differences) >= bar))
        left -= rows
    return (beyond + 1) / (FLIPS + 1), FLIPS


def _paired(
    key: str,
    first: Mapping[Key, float],
    second: Mapping[Key, float],
    pairs: Sequence[Key],
    noun: str,
    evidence: dict[str, Any],
    unit: str,
) -> Claim:
    """The claim for either kind of pair."""
    ones = finite([first[pair] for pair in pairs], "values")
    others = finite([second[pair] for pair in pairs], "values")
    alone = {"only_first": sorted(set(first) - set(pairs)), "only_second": sorted(set(second) - set(pairs))}
    evidence = {**evidence, **alone, "n": len(pairs), "level": LEVEL}
    assumptions = [Assumption("paired.exchangeable", values={"noun": noun})]
    if unpaired := [*alone["only_first"], *alone["only_second"]]:
        names = ", ".join(map(str, sorted(set(unpaired))))
        assumptions.append(Assumption("paired.unpaired", "caveat", {"noun": noun, "names": names}))
    if not pairs:
        assumptions.append(Assumption("paired.none", "caveat", {"noun": noun}))
        return Claim(key, None, unit, "measured", "unknown", None, tuple(assumptions), REFERENCE, evidence)
    differences = ones - others
    p_value, patterns = sign_flip_p(differences)
    smallest = 2 / 2 ** len(pairs)
    evidence |= spread_evidence(differences)
    evidence |= {
        "p_value": p_value,
        "smallest_p": smallest,
        "p_method": f"sign flips, {'all' if len(pairs) <= EXACT_UP_TO else 'a sample of'} {patterns}, two-sided",
        "zero_differences": int(np.sum(differences == 0)),
        "mean_first": mean_of(ones),
        "mean_second": mean_of(others),
        "interval_reference": "efron1993, chapter 13",
    }
    assumptions += spread_assumptions(differences, noun)
    if smallest > 1 - LEVEL + _ROUNDING:
        values = {"n": len(pairs), "noun": noun, "smallest": smallest}
        assumptions.append(Assumption("paired.insignificant", "caveat", values))
    interval, value = mean_interval(differences), mean_of(differences)
    return Claim(key, value, unit, "measured", "holds", interval, tuple(assumptions), REFERENCE, evidence)
