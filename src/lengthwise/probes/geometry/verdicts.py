"""Collapsing, metastable or stable: the rule, and what it says of a model's tokens.

With A the spread and N = N_20 of the tokens without the first (`token_measures`), for each sequence
    a = log2(A after the last block / A at the embedding),
    b = log2(N after the last block / the greater N of the embedding and the first block),
    c = log2(N after the last block / N after the middle block),
and a 95 % interval of each mean over sequences (Student's t):

- **collapsing**: a is below −1. Tokens end less than half as spread as they began: they go towards one point.
- **metastable**: a is above −1, b below −1, c between −1 and 1, and there are four blocks or more. Tokens gather in
  fewer than half as many groups, the groups stay apart, and they no longer merge in the second half.
- **stable**: a and b are above −1.
- otherwise **undecided**: an interval holds a border, or groups still merge.

"Below" and "above" are said of whole intervals. N starts at the greater of two places, as equal tokens have equal
embeddings wherever no position is added: the embedding alone would start too low. The rule was fixed before it was
applied to any published model. It names what these tokens do in these layers; it is no law, and proves nothing about
deeper models or other texts.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t as student

from lengthwise.messages import explain
from lengthwise.probes.geometry.token_measures import KAPPA, Floats, TokenMeasures
from lengthwise.records import Assumption, Claim, Interval

HALF = -1.0  # in doublings
FEWEST_BLOCKS = 4

explain(
    {
        "geometry.verdict": "tokens of {weights} at length {length}",
        "geometry.trend": "change of the contraction per doubling of length, {weights}",
        "geometry.independent": "sequences are independent draws from one source; parts of one text are not quite",
        "geometry.rule": "the rule of verdicts, which is a convention",
        "geometry.one_sequence": "undecided: one sequence shows no spread",
        "geometry.spread_open": "undecided: the interval of the change of spread contains one half",
        "geometry.number_open": "undecided: the interval of the change of the number of groups contains one half",
        "geometry.too_shallow": "undecided: {depth} blocks do not show whether groups stay",
        "geometry.unsettled": "undecided: the number of groups is not settled in the second half of the blocks",
        "geometry.one_length": "one length shows no trend",
    }
)

SEQUENCES = Assumption("geometry.independent")


def interval_of_mean(values: Floats, level: float = 0.95) -> Interval | None:
    """Student's interval of the mean of independent values that are about normal; None for fewer than two."""
    n = len(values)
    if n < 2:
        return None
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n)
    reach = float(student.ppf((1 + level) / 2, n - 1)) * error
    return Interval(mean - reach, mean + reach, level, f"Student's t over {n} sequences")


def contraction(found: TokenMeasures) -> Floats:
    """a for each sequence and length: how many times the spread doubles from the embedding to the end."""
    return np.log2(found.spread[:, -1] / found.spread[:, 0])


def verdict(found: TokenMeasures, length: int, weights: str) -> Claim:
    """What the tokens of the prefix of this many tokens do; `weights` says of which weights."""
    at = found.lengths.index(length)
    number = found.number[:, :, at]
    depth = number.shape[1] - 1
    changes = {
        "spread": contraction(found)[:, at],
        "number": np.log2(number[:, -1] / number[:, :2].max(axis=1)),
        "second_half": np.log2(number[:, -1] / number[:, (depth + 1) // 2]),
    }
    intervals = {name: interval_of_mean(values) for name, values in changes.items()}
    value, reason = _ruled(intervals["spread"], intervals["number"], intervals["second_half"], depth)
    evidence = {
        "sequences": len(number),
        "tokens": length - 1,
        "doublings": {name: float(values.mean()) for name, values in changes.items()},
        "intervals": {name: None if i is None else [i.low, i.high] for name, i in intervals.items()},
        "kappa": KAPPA,
        "first_token": "left out",
        "weights": weights,
        "length": length,
    }
    assumptions = (SEQUENCES, Assumption("geometry.rule"), *reason)
    status = "holds" if value else "unknown"
    return Claim("geometry.verdict", value, "", "measured", status, None, assumptions, None, evidence)


def _ruled(
    spread: Interval | None, number: Interval | None, second_half: Interval | None, depth: int
) -> tuple[str | None, tuple[Assumption, ...]]:
    """The verdict, or None and the reason why there is none."""

    def undecided(key: str, **values: int) -> tuple[None, tuple[Assumption]]:
        return None, (Assumption(f"geometry.{key}", "violated", values),)

    if spread is None or number is None or second_half is None:
        return undecided("one_sequence")
    if spread.high < HALF:
        return "collapsing", ()
    if spread.low <= HALF:
        return undecided("spread_open")
    if number.low > HALF:
        return "stable", ()
    if number.high >= HALF:
        return undecided("number_open")
    if depth < FEWEST_BLOCKS:
        return undecided("too_shallow", depth=depth)
    if second_half.low > HALF and second_half.high < -HALF:
        return "metastable", ()
    return undecided("unsettled")


def length_trend(found: TokenMeasures, weights: str) -> Claim:
    """Does it get worse with length? The slope of a against log2 of the length, by least squares in each sequence.

    Lengths are prefixes of the same sequences, so what other texts would do is not mixed in. Below 0: longer inputs
    are contracted more.
    """
    key, unit = "geometry.trend", "doublings of spread"
    evidence = {"weights": weights, "lengths": list(found.lengths), "sequences": len(found.spread)}
    if len(found.lengths) < 2:
        short = Assumption("geometry.one_length", "violated")
        return Claim(key, None, unit, "measured", "unknown", None, (short,), None, evidence)
    x = np.log2(found.lengths)
    x = x - x.mean()
    slopes = contraction(found) @ x / (x @ x)
    interval = interval_of_mean(slopes)
    evidence |= {"slopes": slopes.tolist(), "mean_contraction": contraction(found).mean(axis=0).tolist()}
    evidence["reading"] = "none" if interval is None else _trend(interval)
    return Claim(key, float(slopes.mean()), unit, "measured", "holds", interval, (SEQUENCES,), None, evidence)


def _trend(interval: Interval) -> str:
    return "worse" if interval.high < 0 else "milder" if interval.low > 0 else "none"
