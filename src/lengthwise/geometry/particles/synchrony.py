"""What is known of a Kuramoto model before it is simulated, and what the simulation shows of it.

Statements about many oscillators are limits as n grows; they are predictions for n tokens, with the limit as an
assumption. The coupling from which a locked state exists is exact for any n. docs/explanation/theorems-particles.md has
sources and proofs, and how each statement was checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lengthwise.geometry.particles.frequencies import FrequencyLaw, locking_coupling
from lengthwise.geometry.particles.integrate import ParticleTrajectory
from lengthwise.geometry.particles.kuramoto import Kuramoto
from lengthwise.geometry.particles.theorems import CLOSE, HERE, SURVEY, assumed, theorem
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference, Status

CRITICAL, ORDER = "kuramoto.critical", "kuramoto.order"
LOCKING, LOCKED, GATHER = "kuramoto.locking", "kuramoto.locked", "kuramoto.gather"
SPREAD = 1e-3  # angular velocities that differ by less, relative to 1 + their greatest, are called locked
explain(
    {
        CRITICAL: "critical coupling K_c of many oscillators",
        ORDER: "order parameter r of many oscillators at K = {coupling:g}",
        LOCKING: "least coupling K_L above 0 at which these frequencies have a locked state",
        LOCKED: "a locked state exists at K = {coupling:g}",
        GATHER: "all phases meet: r tends to 1",
        f"{ORDER}.simulated": "order parameter r, mean over the second half of the time",
        f"{LOCKED}.simulated": "angular velocities at the end differ by at most",
        f"{GATHER}.simulated": "order parameter r at the end",
        "kuramoto.many": "the number of oscillators grows without bound; with n of them r differs by about 1/sqrt(n), "
        "which is {floor:.2g}, and by more near K_c",
        "kuramoto.law": "frequencies follow a law that is symmetric and does not rise away from its centre: {law}",
        "kuramoto.known_law": "the law of the frequencies is known, not only the frequencies",
        "kuramoto.stationary": "r has settled on the branch that leaves r = 0 at K_c",
        "kuramoto.recalled": "cited from memory of the works; simulations agree "
        "(docs/explanation/theorems-particles.md)",
        "kuramoto.formula": "a formula for r is known here: there is no noise, or all frequencies are equal",
        "kuramoto.no_noise": "there is no noise",
        "kuramoto.equal": "all frequencies are equal",
        "kuramoto.attractive": "the coupling is above 0",
        "kuramoto.almost_every": "the start is not one of a set of measure zero",
        "kuramoto.existence": "the state exists; whether this start reaches it is not part of the claim",
    }
)


def check_kuramoto(system: Kuramoto, law: FrequencyLaw | None, noise: float = 0.0) -> tuple[Claim, ...]:
    """What theory says of these oscillators; `law` is None where the frequencies were given as they are."""
    frequencies, coupling = system.frequencies.double().numpy(), system.coupling
    n, equal = len(frequencies), bool(np.ptp(frequencies) < CLOSE)
    law = FrequencyLaw("equal", 0.0) if law is None and equal else law
    many = Assumption("kuramoto.many", values={"floor": 1 / math.sqrt(n)})
    about = {"coupling": coupling, "noise": noise, "n": n}
    quiet = assumed_of("no_noise", noise == 0)
    claims = [*_limits(law, about, many)]
    if noise == 0:
        least = locking_coupling(frequencies)
        there = abs(coupling) >= least
        source = Reference(HERE, "locked states")
        evidence = {**about, "least": least, "mean_frequency": float(frequencies.mean())}
        claims.append(Claim(LOCKING, least, "", "proved", "holds", None, (quiet,), source, evidence))
        rests = (quiet, assumed_of("existence", None)) if there else (quiet,)
        claims.append(Claim(LOCKED, there, "", "proved", "holds", None, rests, source, evidence))
    else:
        claims += [
            Claim(key, None, "", "proved", "unknown", None, (quiet,), evidence=about) for key in (LOCKING, LOCKED)
        ]
    pulled, usual = assumed_of("attractive", coupling > 0), assumed_of("almost_every", None)
    rests = (quiet, assumed_of("equal", equal), pulled, usual)
    place = "theorem 4.1 (beta = 0), time multiplied by K"
    return (*claims, theorem(GATHER, rests, place, SURVEY, evidence=about))


def assumed_of(key: str, true: bool | None) -> Assumption:
    """An assumption of this module: checked, violated, or assumed where nobody looked."""
    return Assumption(f"kuramoto.{key}", assumed(key, true).check)


def _limits(law: FrequencyLaw | None, about: dict[str, Any], many: Assumption) -> tuple[Claim, Claim]:
    """K_c and r in the limit of many oscillators."""
    source = Reference(HERE, "onset, after kuramoto1984, sakaguchi1988 and strogatz1991")
    if law is None:
        unknown = (Assumption("kuramoto.known_law", "violated"),)
        return (
            Claim(CRITICAL, None, "", "predicted", "unknown", None, unknown, source, about),
            Claim(ORDER, None, "", "predicted", "unknown", None, unknown, source, about),
        )
    described = Assumption("kuramoto.law", "checked", {"law": f"{law.name}, width {law.width:g}"})
    recalled = Assumption("kuramoto.recalled")
    critical = law.critical_coupling(about["noise"])
    order = law.order(about["coupling"], about["noise"])
    seen = {**about, "critical": critical}
    onset = Claim(CRITICAL, critical, "", "predicted", "holds", None, (described, many, recalled), source, seen)
    rests = (described, many, Assumption("kuramoto.stationary"), recalled)
    if order is None:
        rests = (described, Assumption("kuramoto.formula", "violated"))
        return onset, Claim(ORDER, None, "", "predicted", "unknown", None, rests, source, seen)
    return onset, Claim(ORDER, order, "", "predicted", "holds", None, rests, source, seen)


def compare_kuramoto(
    claims: Sequence[Claim], trajectory: ParticleTrajectory, system: Kuramoto, allowed: float | None = None
) -> tuple[Claim, ...]:
    """What a trajectory [times, n, 2] shows of each claim that has a value.

    The mean r of the second half agrees with the limit within `allowed`, 3 / sqrt(n) unless given. A trajectory of n
    oscillators cannot refute a limit, nor a path the existence of a state: where it differs the status is unknown.
    """
    order = order_parameter(trajectory.points)
    n = trajectory.points.shape[1]
    allowed = 3 / math.sqrt(n) if allowed is None else allowed
    late = order[len(order) // 2 :]
    held = {claim.key: claim for claim in claims}
    predicted = held[ORDER].value
    status: Status = "unknown"
    if isinstance(predicted, int | float) and abs(late.mean() - predicted) <= allowed:
        status = "holds"
    seen = {"predicted": predicted, "allowed": allowed, "deviation": float(late.std()), "moments": len(late)}
    found = [_simulated(held[ORDER], float(late.mean()), "", "holds" if predicted is None else status, seen)]
    if held[LOCKED].value is not None:
        speeds = system.angular_velocity(torch.from_numpy(trajectory.final)).numpy()
        apart, limit = float(np.ptp(speeds)), SPREAD * (1 + float(np.abs(speeds).max()))
        agrees = (apart <= limit) == held[LOCKED].value
        seen = {"locked_below": limit, "until": float(trajectory.times[-1])}
        found.append(_simulated(held[LOCKED], apart, "rad per unit of time", "holds" if agrees else "unknown", seen))
    if held[GATHER].value is not None:
        status = "holds" if order[-1] > 0.999 else "unknown"
        found.append(_simulated(held[GATHER], float(order[-1]), "", status, {"until": float(trajectory.times[-1])}))
    return tuple(found)


def _simulated(claim: Claim, value: float, unit: str, status: Status, evidence: dict[str, Any]) -> Claim:
    return Claim(f"{claim.key}.simulated", value, unit, "measured", status, None, (), claim.reference, evidence)


def order_parameter(points: np.ndarray) -> np.ndarray:
    """The length of the mean of unit vectors [..., n, d]."""
    return np.linalg.norm(points.mean(axis=-2), axis=-1)
