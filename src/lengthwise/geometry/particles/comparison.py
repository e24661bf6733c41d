"""Each theorem about a start compared with what the simulation did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters import Floats
from lengthwise.geometry.particles import theorems
from lengthwise.geometry.particles.equal_angles import gamma
from lengthwise.geometry.particles.integrate import ParticleTrajectory
from lengthwise.messages import explain
from lengthwise.records import Claim, Status

explain({f"{key}.simulated": f"{text}: simulated" for key, text in theorems.CLAIMS.items()})


def compare(claims: Sequence[Claim], trajectory: ParticleTrajectory, near: float = 1e-3) -> tuple[Claim, ...]:
    """For each claim of `theorems.check` that a trajectory can confirm or refute, what that trajectory shows.

    The status is 'holds' or 'refuted' where the trajectory decides, 'unknown' where it ends too early. Tokens are in
    one cluster when all inner products are at least 1 - near. A trajectory that ends never refutes a limit in time.
    """
    if trajectory.points.ndim != 3:
        raise UsageError("one trajectory [times, n, d] is compared, not a batch of them")
    if not 0 < near < 1:
        raise UsageError(f"near must lie between 0 and 1, not {near}")
    shown: list[Claim] = []
    for claim in claims:
        if claim.key == theorems.ONE_CLUSTER:
            shown.append(_gathering(claim, trajectory, near))
        elif claim.value is not None and claim.key in _LOOKS:
            shown.append(_LOOKS[claim.key](claim, trajectory))
    return tuple(shown)


def _measured(
    claim: Claim,
    value: float | None,
    unit: str,
    status: Status,
    trajectory: ParticleTrajectory,
    evidence: dict[str, Any],
) -> Claim:
    seen = {"until": float(trajectory.times[-1]), "error": trajectory.error, **evidence}
    return Claim(f"{claim.key}.simulated", value, unit, "measured", status, reference=claim.reference, evidence=seen)


def _gathering(claim: Claim, trajectory: ParticleTrajectory, near: float) -> Claim:
    """When the tokens were first in one cluster."""
    spread = np.array([_widest(points) for points in trajectory.points])  # 1 - the least inner product
    inside = np.flatnonzero(spread <= near)
    evidence: dict[str, Any] = {"near": near, "gap_at_end": float(spread[-1])}
    if not len(inside):
        return _measured(claim, None, theorems.TIME, "unknown", trajectory, evidence)
    status: Status = "refuted" if claim.value is False else "holds"
    if status == "refuted":
        evidence["note"] = "an exceptional start is unstable, and rounding moves the tokens off it"
    return _measured(claim, float(trajectory.times[inside[0]]), theorems.TIME, status, trajectory, evidence)


def _staying(claim: Claim, trajectory: ParticleTrajectory) -> Claim:
    """The least <x_i, w_q> of a token and the centre of its cap, over the times for which persistence is proved."""
    labels, centres = np.array(claim.evidence["labels"]), np.array(claim.evidence["centres"])
    floor = 1 - 2 * claim.evidence["epsilon"]
    reach = np.einsum("kid,id->ki", trajectory.points, centres[labels]).min(1)
    covered = trajectory.times - trajectory.times[0] <= _number(claim)
    out = np.flatnonzero(reach < floor)
    least = float(reach[covered].min())
    status: Status = "holds" if least >= floor - 2 * trajectory.error - 1e-12 else "refuted"
    left = float(trajectory.times[out[0]]) if len(out) else None
    unit = f"least inner product with the centre of its cap, where {floor:.4g} is allowed"
    return _measured(claim, least, unit, status, trajectory, {"floor": floor, "first_left_at": left})


def _shrinking(claim: Claim, trajectory: ParticleTrajectory) -> Claim:
    """The greatest squared distance inside a cap between T1 and the published T2, against 2 e^(-lambda beta)."""
    since = trajectory.times - trajectory.times[0]
    window = (since >= _number(claim)) & (since <= claim.evidence["published_time"])
    labels = np.array(claim.evidence["labels"])
    ceiling = 2 * math.exp(-claim.evidence["lambda"] * claim.evidence["beta"])
    if not window.any():
        return _measured(claim, None, "", "unknown", trajectory, {"ceiling": ceiling})
    widest = 2 * max(
        _widest(points[labels == q]) for points in trajectory.points[window] for q in range(labels.max() + 1)
    )
    status: Status = "holds" if widest <= ceiling + 4 * trajectory.error else "refuted"
    unit = f"greatest squared distance in a cap, where {ceiling:.3g} is allowed"
    return _measured(claim, widest, unit, status, trajectory, {"ceiling": ceiling})


def _falling(claim: Claim, trajectory: ParticleTrajectory) -> Claim:
    """The least rate at which 1 - min <x_i, x*> fell between two kept times, from 1/2 on."""
    times, gap = _gaps(trajectory)
    usable = gap <= 0.5
    if usable.sum() < 2:
        return _measured(claim, None, claim.unit, "unknown", trajectory, {"why": "the tokens did not gather"})
    rates = -np.diff(np.log(gap[usable])) / np.diff(times[usable])
    least = float(rates.min())
    status: Status = "holds" if least >= _number(claim) * (1 - 1e-3) else "refuted"
    return _measured(claim, least, claim.unit, status, trajectory, {"bound": claim.value, "intervals": len(rates)})


def _late_falling(claim: Claim, trajectory: ParticleTrajectory) -> Claim:
    """The rate over the last kept times at which 1 - min <x_i, x*> was below 0.001; within a tenth it agrees."""
    times, gap = _gaps(trajectory)
    usable = gap <= 1e-3
    if usable.sum() < 2:
        return _measured(claim, None, claim.unit, "unknown", trajectory, {"why": "the tokens did not gather enough"})
    rate = float(-np.diff(np.log(gap[usable]))[-1] / np.diff(times[usable])[-1])
    status: Status = "holds" if abs(rate / _number(claim) - 1) < 0.1 else "refuted"
    return _measured(claim, rate, claim.unit, status, trajectory, {"predicted": claim.value})


def _following(claim: Claim, trajectory: ParticleTrajectory) -> Claim:
    """The greatest distance of an inner product from gamma(t)."""
    seen = claim.evidence
    since = trajectory.times - trajectory.times[0]
    curve = gamma(seen["kind"], seen["n"], seen["beta"], since, seen["start"])
    pairs = np.triu_indices(seen["n"], 1)
    off = [float(np.abs((p @ p.T)[pairs] - g).max()) for p, g in zip(trajectory.points, curve, strict=True)]
    allowed = 1e-8 + 4 * trajectory.error
    status: Status = "holds" if max(off) <= allowed else "refuted"
    unit = "greatest distance of an inner product from gamma"
    evidence = {"allowed": allowed, "gamma_at_end": float(curve[-1])}
    return _measured(claim, max(off), unit, status, trajectory, evidence)


_LOOKS = {
    theorems.CAPS_STAY: _staying,
    theorems.CAPS_SHRINK: _shrinking,
    theorems.RATE: _falling,
    theorems.LATE_RATE: _late_falling,
    theorems.COMMON: _following,
}


def _gaps(trajectory: ParticleTrajectory) -> tuple[Floats, Floats]:
    """1 - min_i <x_i, x*> at the times where it is trusted, x* being the mean direction at the end.

    A distance |x - x*|^2 / 2 is exact where 1 - <x, x*> would cancel. Times are left out at which the gap is not far
    above that at the end, as x* is known no better, or above what the integration's error makes of it.
    """
    limit = trajectory.points[-1].mean(0)
    limit /= max(float(np.linalg.norm(limit)), 1e-300)
    gap = (np.linalg.norm(trajectory.points - limit, axis=2) ** 2 / 2).max(1)
    trusted = (gap > 1e4 * gap[-1]) & (gap > 1e4 * trajectory.error**2) & (gap[-1] < 1e-3)
    return trajectory.times[trusted], gap[trusted]


def _widest(points: Floats) -> float:
    """1 - the least inner product of two points, by distances."""
    if len(points) < 2:
        return 0.0
    return float(pdist(points).max()) ** 2 / 2


def _number(claim: Claim) -> float:
    assert isinstance(claim.value, int | float)
    return float(claim.value)
