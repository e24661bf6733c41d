"""What is concluded from the measures of tokens, as claims."""

from __future__ import annotations

import numpy as np

from lengthwise.geometry.clusters import ROUNDING, energy_course
from lengthwise.messages import explain
from lengthwise.probes.geometry.token_measures import BETA, KAPPA, AtLongest, Floats, TokenMeasures
from lengthwise.probes.geometry.verdicts import SEQUENCES, contraction, interval_of_mean, length_trend, verdict
from lengthwise.records import Assumption, Claim, Reference

TRAINED, RANDOM = "the model", "random weights"

explain(
    {
        "geometry.minus_random": "contraction of the model minus that of random weights at length {length}",
        "geometry.narrowest": "least spread, {after}",
        "geometry.first_token": "change of spread by the first token at length {tokens}, {after}",
        "geometry.energy": "blocks that lower the energy at beta {beta:g}, of {blocks}",
        "geometry.hemisphere": "an open hemisphere contains the tokens of the first sequence {after}",
        "geometry.one_draw": "one draw of the random weights stands for all",
        "geometry.chosen_place": "the place was chosen as the least of all, so its interval is a little too low",
        "geometry.first_sequence": "the first sequence stands for all, and its states are those computed, rounding "
        "included",
    }
)


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
    assumptions = (SEQUENCES, Assumption("geometry.one_draw"))
    evidence = {"length": length, "tokens": length - 1, "differences": difference.tolist()}
    interval = interval_of_mean(difference)
    value, unit = float(difference.mean()), "doublings of spread"
    return Claim("geometry.minus_random", value, unit, "measured", "holds", interval, assumptions, None, evidence)


def _narrowest(trained: TokenMeasures) -> Claim:
    """Where tokens are closest together."""
    spread = trained.spread[:, :, -1]
    at = int(spread.mean(axis=0).argmin())
    evidence = {"sequences": len(spread), "embedding": float(spread[:, 0].mean()), "end": float(spread[:, -1].mean())}
    evidence |= _place(trained, at)
    assumptions = (SEQUENCES, Assumption("geometry.chosen_place"))
    value, interval = float(spread[:, at].mean()), interval_of_mean(spread[:, at])
    return Claim("geometry.narrowest", value, "", "measured", "holds", interval, assumptions, None, evidence)


def _first_token(trained: TokenMeasures) -> Claim:
    """How much one token changes the picture, at the place where it changes it most."""
    change = np.abs(np.log2(trained.spread_with_first / trained.spread)).mean(axis=0)[:, 0]
    at = int(change.argmax())
    length = trained.lengths[0]
    both = trained.spread[:, at, 0].mean(), trained.spread_with_first[:, at, 0].mean()
    evidence = {"without": float(both[0]), "with": float(both[1]), "tokens": length, **_place(trained, at)}
    interval = interval_of_mean(np.log2(trained.spread_with_first / trained.spread)[:, at, 0])
    value = float(np.log2(trained.spread_with_first / trained.spread)[:, at, 0].mean())
    return Claim(
        "geometry.first_token", value, "doublings", "measured", "holds", interval, (SEQUENCES,), None, evidence
    )


def _energy(trained: TokenMeasures, energies: Floats, beta: float) -> Claim:
    """Whether the energy [sequences, places] climbs from block to block, as it does along the particle systems."""
    courses = [energy_course(one) for one in energies]
    blocks = len(trained.places) - 1
    falls = float(np.mean([course.falls for course in courses]))
    evidence = {"falls": [course.falls for course in courses], "blocks": blocks, "tokens": trained.lengths[-1] - 1}
    evidence |= {"beta": beta}
    evidence["never_falls"] = all(course.monotone for course in courses)
    return Claim("geometry.energy", falls, "blocks", "measured", "holds", None, (SEQUENCES,), None, evidence)


def _hemisphere(trained: TokenMeasures, longest: AtLongest, at: int) -> Claim:
    """Whether an open hemisphere holds the tokens of the first sequence: if so, particles would gather in one point."""
    low, high = (float(bound) for bound in longest.margin[at])
    evidence = {"margin_low": low, "margin_high": high, "rounding": ROUNDING, "tokens": trained.lengths[-1] - 1}
    evidence |= _place(trained, at)
    seen = (Assumption("geometry.first_sequence"),)
    source = Reference("docs/geometry.md", "cluster measures")
    if low <= ROUNDING < high:
        return Claim("geometry.hemisphere", None, "", "certified", "unknown", None, seen, source, evidence)
    return Claim("geometry.hemisphere", low > ROUNDING, "", "certified", "holds", None, seen, source, evidence)


def _place(trained: TokenMeasures, at: int) -> dict[str, str]:
    """A place of the forward pass, and where that is in words."""
    place = trained.places[at]
    return {"place": place, "after": "at the embedding" if at % len(trained.places) == 0 else f"after {place}"}
