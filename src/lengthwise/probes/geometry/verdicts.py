"""What is concluded from the measures of tokens, as claims. Collapsing, metastable or stable: the rule.

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
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import t as student

from lengthwise.geometry.clusters import ROUNDING, energy_course
from lengthwise.messages import explain
from lengthwise.probes.geometry.token_measures import BETA, KAPPA, AtLongest, Floats, TokenMeasures
from lengthwise.records import Assumption, Claim, Interval, Reference

TRAINED, RANDOM = "the model", "random weights"

HALF = -1.0  # in doublings
FEWEST_BLOCKS = 4

explain(
    {
        "geometry.verdict": "tokens of {weights} at length {length}",
        "geometry.trend": "change of the contraction per doubling of length, {weights}",
        "geometry.independent": "sequences are independent draws from one source; parts of one text are not quite",
        "geometry.rule": "the rule behind verdicts, which is a convention",
        "geometry.one_sequence": "undecided: one sequence shows no spread",
        "geometry.spread_open": "undecided: the interval of the change of spread contains one half",
        "geometry.number_open": "undecided: the interval of the change of the number of groups contains one half",
        "geometry.too_shallow": "undecided: {depth} blocks do not show whether groups stay",
        "geometry.unsettled": "undecided: the number of groups is not settled in the second half of the blocks",
        "geometry.one_length": "one length shows no trend",
        "geometry.minus_random": "contraction of the model minus that of random weights at length {length}",
        "geometry.narrowest": "least spread, {after}",
        "geometry.first_token": "change of spread by the first token at length {tokens}, {after}",
        "geometry.energy": "blocks that lower the energy at beta {beta:g}, of {blocks}",
        "geometry.hemisphere": "an open hemisphere contains the tokens of the first sequence {after}",
        "geometry.flat_margin": "a margin of {rounding:g} or less counts as none",
        "geometry.one_draw": "one draw of the random weights stands for all",
        "geometry.chosen_place": "the place was chosen as the least of all, so its interval is a little too low",
        "geometry.first_sequence": "the first sequence stands for all, and its states are those computed, rounding "
        "included",
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


def mean_claim(key: str, values: Floats, unit: str, evidence: Mapping[str, Any], *more: Assumption) -> Claim:
    """The mean over sequences, with its interval."""
    interval, rests_on = interval_of_mean(values), (SEQUENCES, *more)
    return Claim(key, float(values.mean()), unit, "measured", "holds", interval, rests_on, None, evidence)


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
        return None, (Assumption(f"geometry.{key}", "caveat", values),)

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
    evidence: dict[str, Any] = {"weights": weights, "lengths": list(found.lengths), "sequences": len(found.spread)}
    if len(found.lengths) < 2:
        short = Assumption("geometry.one_length", "caveat")
        return Claim(key, None, unit, "measured", "unknown", None, (short,), None, evidence)
    x = np.log2(found.lengths)
    x = x - x.mean()
    slopes = contraction(found) @ x / (x @ x)
    evidence |= {"slopes": slopes.tolist(), "mean_contraction": contraction(found).mean(axis=0).tolist()}
    interval = interval_of_mean(slopes)
    evidence["reading"] = "none"
    if interval is not None:
        evidence["reading"] = "worse" if interval.high < 0 else "milder" if interval.low > 0 else "none"
    return mean_claim(key, slopes, unit, evidence)


def geometry_claims(trained: TokenMeasures, random: TokenMeasures) -> list[Claim]:
    """All claims, the verdicts first. `trained` has its measures at the longest length."""
    longest = trained.longest
    assert longest is not None
    return [
        *(verdict(trained, length, TRAINED) for length in trained.lengths),
        verdict(random, trained.lengths[-1], RANDOM),
        length_trend(trained, TRAINED),
        length_trend(random, RANDOM),
        _minus_random(trained, random),
        _narrowest(trained),
        _first_token(trained),
        _energy(trained, 1 / trained.number[:, :, -1], KAPPA),  # N_κ = e^κ / (2 κ E_κ): the energy up to a factor
        _energy(trained, longest.energy, BETA),
        *(_hemisphere(trained, longest, at) for at in (0, -1)),
    ]


def _minus_random(trained: TokenMeasures, random: TokenMeasures) -> Claim:
    """How much more trained weights contract than random ones, on the same sequences."""
    difference = (contraction(trained) - contraction(random))[:, -1]
    length = trained.lengths[-1]
    evidence = {"length": length, "tokens": length - 1, "differences": difference.tolist()}
    one_draw = Assumption("geometry.one_draw")
    return mean_claim("geometry.minus_random", difference, "doublings of spread", evidence, one_draw)


def _narrowest(trained: TokenMeasures) -> Claim:
    """Where tokens are closest together."""
    spread = trained.spread[:, :, -1]
    at = int(spread.mean(axis=0).argmin())
    evidence = {"sequences": len(spread), "embedding": float(spread[:, 0].mean()), "end": float(spread[:, -1].mean())}
    evidence |= _place(trained, at)
    return mean_claim("geometry.narrowest", spread[:, at], "", evidence, Assumption("geometry.chosen_place"))


def _first_token(trained: TokenMeasures) -> Claim:
    """How much one token changes the picture, at the place where it changes it most."""
    change = np.log2(trained.spread_with_first / trained.spread)[:, :, 0]
    at = int(np.abs(change).mean(axis=0).argmax())
    both = {"without": trained.spread, "with": trained.spread_with_first}
    evidence = {name: float(spread[:, at, 0].mean()) for name, spread in both.items()}
    evidence |= {"tokens": trained.lengths[0], **_place(trained, at)}
    return mean_claim("geometry.first_token", change[:, at], "doublings", evidence)


def _energy(trained: TokenMeasures, energies: Floats, beta: float) -> Claim:
    """Whether the energy [sequences, places] climbs from block to block, as it does along the particle systems."""
    courses = [energy_course(one) for one in energies]
    falls = [course.falls for course in courses]
    evidence = {"falls": falls, "blocks": len(trained.places) - 1, "tokens": trained.lengths[-1] - 1, "beta": beta}
    evidence["never_falls"] = all(course.monotone for course in courses)
    value = float(np.mean(falls))
    return Claim("geometry.energy", value, "blocks", "measured", "holds", None, (SEQUENCES,), None, evidence)


def _hemisphere(trained: TokenMeasures, longest: AtLongest, at: int) -> Claim:
    """Whether an open hemisphere holds the tokens of the first sequence: if so, particles would gather in one point."""
    low, high = (float(bound) for bound in longest.margin[at])
    evidence = {"margin_low": low, "margin_high": high, "rounding": ROUNDING, "tokens": trained.lengths[-1] - 1}
    evidence |= _place(trained, at)
    seen = (Assumption("geometry.first_sequence"),)
    source = Reference("docs/explanation/geometry.md", "cluster measures")
    value, status = (None, "unknown") if low <= ROUNDING < high else (low > ROUNDING, "holds")
    if value is False:
        seen += (Assumption("geometry.flat_margin", "caveat", {"rounding": ROUNDING}),)
    return Claim("geometry.hemisphere", value, "", "certified", status, None, seen, source, evidence)


def _place(trained: TokenMeasures, at: int) -> dict[str, str]:
    """A place of the forward pass, and where that is in words."""
    place = trained.places[at]
    return {"place": place, "after": "at the embedding" if at % len(trained.places) == 0 else f"after {place}"}
