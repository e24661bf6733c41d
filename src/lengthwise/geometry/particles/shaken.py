"""What theorems about attention say with several heads, and with noise.

**Several heads.** The velocity is `Proj sum_j a_ij x_j` with a_ij the sum of the weights of all heads, if every V is
the identity. The lemma on cones and the rate in a hemisphere use of the weights only that they are positive and bounded
below (docs/explanation/theorems-particles.md), so both hold, with the sum of the heads' rates. Where all tokens are one
point the weights of each head are equal, so the late rates add up as well. The other theorems are about one head.

**Noise.** No theorem of `theorems.py` is about noise. In the limit of many tokens the density obeys
d rho/dt = -div(rho X) + D Laplace(rho), and a harmonic of degree l on the uniform density grows at the rate
growth_rate(l) - D l (l + d - 2) (`mean_field.growth_rate` has the first part). Growth rates divided by l (l + d - 2)
fall with l, as Bessel functions fall with their order, so the uniform density is linearly unstable exactly for D below
that quotient at l = 1: the noise at which order sets in. Heads with Q = K = V = I add up. At beta = 0 it is 1 / d per
head; on the circle this is Kuramoto's K_c = 2 D at K = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from lengthwise.geometry.mean_field import growth_rate
from lengthwise.geometry.particles.dynamics import ManyHeads
from lengthwise.geometry.particles.system import System, is_identity
from lengthwise.geometry.particles.theorems import HERE, LATE_RATE, ONE_CLUSTER, RATE, assumed, check
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference

NOISE_ONSET, EXCEPTIONAL = "particles.noise_onset", "particles.exceptional"
ABOUT_THE_START = ("particles.chance_of_hemisphere",)  # which noise does not touch
HEADS_HOLD = (f"{ONE_CLUSTER}.hemisphere", f"{ONE_CLUSTER}.high_dimension")
explain(
    {
        NOISE_ONSET: "noise D above which many tokens stay spread evenly",
        "particles.one_head": "there is one head",
        "particles.all_heads": "the weights of all heads together are positive and bounded below",
        "particles.no_noise": "there is no noise",
        "particles.many_tokens": "the number of tokens grows without bound",
        "particles.linear": "linear stability of the uniform density decides; other states may exist as well",
        "particles.plain_heads": "Q^T K and V of every head are the identity",
    }
)


def check_heads(points: ArrayLike, system: System | ManyHeads) -> tuple[Claim, ...]:
    """`theorems.check` for one head or several: with several, what is proved for them, and the rest as unknown."""
    if isinstance(system, System):
        return check(points, system)
    each = [check(points, head) for head in system.heads]
    if len(each) == 1:
        return each[0]
    found = []
    for same in zip(*_aligned(each), strict=True):
        found.append(_together(same))
    grounds = [claim for claim in found if claim.key in HEADS_HOLD and claim.status == "holds"]
    return tuple(_verdict(claim, grounds) if claim.key == ONE_CLUSTER else claim for claim in found)


def _aligned(each: Sequence[Sequence[Claim]]) -> list[list[Claim]]:
    """The claims of every head under the keys that all heads have, in the order of the first."""
    keys = [claim.key for claim in each[0] if all(any(claim.key == c.key for c in other) for other in each)]
    return [[next(claim for claim in claims if claim.key == key) for key in keys] for claims in each]


def _together(same: Sequence[Claim]) -> Claim:
    """One claim of several heads."""
    first = same[0]
    rests = tuple(dict.fromkeys(a for claim in same for a in claim.assumptions))
    if first.key in ABOUT_THE_START:
        return first
    if first.key in (EXCEPTIONAL, ONE_CLUSTER) and _same_for_all_weights(same):
        return first
    if first.key in HEADS_HOLD:
        holds = all(claim.status == "holds" for claim in same)
        rests = (*rests, assumed("all_heads", True))
        return replace(first, value=True if holds else None, status="holds" if holds else "unknown", assumptions=rests)
    if first.key in (RATE, LATE_RATE) and all(claim.value is not None for claim in same):
        total = sum(float(claim.value) for claim in same if isinstance(claim.value, float))
        evidence = {"heads": len(same)}
        return replace(first, value=total, assumptions=(*rests, assumed("all_heads", True)), evidence=evidence)
    return replace(first, value=None, status="unknown", assumptions=(*rests, assumed("one_head", False)), evidence={})


def _same_for_all_weights(same: Sequence[Claim]) -> bool:
    """Whether heads agree for a reason that holds for their sum: tokens that are one point, that no head moves, that
    are their own mirror image, or that a hemisphere holds."""
    first, agree = same[0], len({claim.value for claim in same}) == 1
    if first.key == EXCEPTIONAL:
        return agree
    one_point = any(assumption.key == "particles.one_point" for assumption in first.assumptions)
    return agree and (first.value is False or one_point)


def _verdict(claim: Claim, grounds: Sequence[Claim]) -> Claim:
    """Whether all tokens end in one cluster, from what holds for several heads."""
    if not grounds:
        return claim
    last = grounds[-1]
    return replace(claim, value=True, status="holds", assumptions=last.assumptions, reference=last.reference)


def with_noise(claims: Sequence[Claim], system: System | ManyHeads, noise: float, d: int) -> tuple[Claim, ...]:
    """The same claims under noise, which no theorem here covers, and the noise at which order sets in."""
    if noise == 0:
        return tuple(claims)
    shaken = assumed("no_noise", False)
    silent = [
        claim
        if claim.key in ABOUT_THE_START
        else replace(claim, value=None, status="unknown", assumptions=(*claim.assumptions, shaken), evidence={})
        for claim in claims
    ]
    return (noise_onset(system, d, noise), *silent)


def noise_onset(system: System | ManyHeads, d: int, noise: float) -> Claim:
    """The noise below which the uniform density of many tokens is unstable."""
    heads = (system,) if isinstance(system, System) else system.heads
    plain = all(is_identity(head.scores) and is_identity(head.value) for head in heads)
    rests = (assumed("plain_heads", plain), Assumption("particles.many_tokens"), Assumption("particles.linear"))
    source = Reference(HERE, "noise")
    if not plain:
        return Claim(NOISE_ONSET, None, "", "predicted", "unknown", None, rests[:1], source, {"noise": noise})
    onset = sum(growth_rate(head.kind, float(head.beta), 1, d) for head in heads) / (d - 1)
    evidence = {"noise": noise, "below": bool(noise < onset)}
    return Claim(NOISE_ONSET, onset, "rad² per unit of time", "predicted", "holds", None, rests, source, evidence)
