"""Tokens on a sphere that move and are shaken: `dx = velocity(x) dt + sqrt(2 D)` times Brownian motion on the sphere.

A step of length h moves along the great circle in the direction `u = h velocity(x) + sqrt(2 D h) P_x z`, P_x being the
projection on the tangent space and z standard normal numbers: Euler and Maruyama's method with the exponential map. It
stays on the sphere. The mean of f after a step is f + h (<velocity, grad f> + D Laplace f) + O(h^2), as the exponential
map follows geodesics, so the law at a fixed time is right to first order in h (weak order 1). On the circle z is one
number per token, the noise is the same whatever x is, and paths are right to first order too; on spheres of more
dimensions they are right to order 1/2, the usual order for noise that depends on x.

**The check of the step.** A companion takes steps of 2 h, driven by the same Brownian path: its increments are the sums
of pairs. `error` is the greatest angle between the two, which estimates the error of a path; `order_gap` is the
greatest difference between the lengths of the means of all tokens, which is a statement about laws: paths may drift
apart, as all tokens together do on a circle, while the length of their mean is right. Unless the step is given it is
halved until the order gap is within `STEP_CHECK`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.dynamics import Dynamics
from lengthwise.geometry.particles.integrate import (
    ParticleTrajectory,
    Progress,
    check_pace,
    moments_of,
    unit,
    unit_vectors,
)
from lengthwise.messages import explain
from lengthwise.records import Claim
from lengthwise.seeds import Seeds

explain({"simulation.step_check": "order parameter with steps of {step:.3g} and of twice that, greatest difference"})
STEP_CHECK = 0.01  # of the length of the mean, between 0 and 1
_HALVINGS = 5
_LONGEST = 0.1  # a first step moves tokens by no more than about this many radians, and noise by about its root


@dataclass(frozen=True, eq=False)
class NoisyTrajectory(ParticleTrajectory):
    """One path of a noisy system; `error` and `order_gap` come from the companion of double steps."""

    noise: float
    step: float
    order_gap: float

    @property
    def checked(self) -> bool:
        """Whether the length of the mean depends on the step by no more than STEP_CHECK."""
        return self.order_gap <= STEP_CHECK


def step_claim(trajectory: NoisyTrajectory) -> Claim:
    """What the step makes of the order parameter, from the companion with double steps."""
    status = "holds" if trajectory.checked else "unknown"
    evidence = {"step": trajectory.step, "allowed": STEP_CHECK, "noise": trajectory.noise}
    return Claim("simulation.step_check", trajectory.order_gap, "", "heuristic", status, evidence=evidence)


def simulate_noisy(
    system: Dynamics,
    start: Tensor | np.ndarray,
    times: Sequence[float] | np.ndarray,
    noise: float,
    seed: int,
    step: float | None = None,
    progress: Progress | None = None,
    most_steps: int = 1_000_000,
) -> NoisyTrajectory:
    """One path from `start` [..., n, d] at `times`, with diffusion `noise` = D (radians squared per unit of time).

    `step` is the greatest step; None takes the first of a row of halved steps that passes the check, or the last that
    `most_steps` allow. The same seed, step and times give the same path.
    """
    points, moments = unit_vectors(start), moments_of(times)
    if not (math.isfinite(noise) and noise >= 0):
        raise UsageError(f"the noise must be a number of at least 0, not {noise}")
    if step is not None and not 0 < step < math.inf:
        raise UsageError(f"the step must be a number above 0, not {step}")
    system.check(points)
    check_pace(system, points.shape, 3 * (len(moments) - 1))  # a step in two halves and as a whole
    with torch.no_grad():
        speed = float(system.velocity(points).norm(dim=-1).max())
        length = _LONGEST / (1 + speed + noise) if step is None else step
        found = _path(system, points, moments, noise, seed, length, progress, most_steps)
        for _ in range(0 if step is not None else _HALVINGS):
            if found.checked or 2 * found.steps > most_steps:
                break
            found = _path(system, points, moments, noise, seed, found.step / 2, progress, most_steps)
    return found


def _path(
    system: Dynamics,
    points: Tensor,
    moments: np.ndarray,
    noise: float,
    seed: int,
    step: float,
    progress: Progress | None,
    most_steps: int,
) -> NoisyTrajectory:
    too_many = f"steps of {step:g} are more than {most_steps:,}; take a shorter time or a longer step"
    if not float(moments[-1] - moments[0]) <= 2 * most_steps * step:  # so that the quotients below are floats
        raise UsageError(too_many)
    counts = [2 * math.ceil((after - before) / (2 * step)) for before, after in itertools.pairwise(moments)]
    if sum(counts) > most_steps:
        raise UsageError(too_many)
    generator = np.random.default_rng(Seeds(seed).key("noise"))
    flat = points.shape[-1] == 2
    shape = (2, *points.shape[:-1], 1 if flat else points.shape[-1])
    fine, coarse, kept, angle, gap = points.clone(), points.clone(), [points.numpy().copy()], 0.0, 0.0
    for place, count in enumerate(counts):
        size = float(moments[place + 1] - moments[place]) / count
        spread = math.sqrt(2 * noise * size)
        for _ in range(count // 2):
            first, second = torch.from_numpy(spread * generator.standard_normal(shape))
            fine = _moved(fine, size * system.velocity(fine), first)
            fine = _moved(fine, size * system.velocity(fine), second)
            coarse = _moved(coarse, 2 * size * system.velocity(coarse), first + second)
        kept.append(fine.numpy().copy())
        angle = max(angle, 2 * math.asin(min(1.0, float((fine - coarse).norm(dim=-1).max()) / 2)))
        gap = max(gap, float((fine.mean(-2).norm(dim=-1) - coarse.mean(-2).norm(dim=-1)).abs().max()))
        if progress:
            progress(f"t = {moments[place + 1]:.4g} of {moments[-1]:g}", place + 1, len(counts))
    # A companion of order 1 is twice as wrong, and the distance is the error; of order 1/2, sqrt(2) times.
    error = angle if flat or noise == 0 else min(math.pi, angle / (math.sqrt(2) - 1))
    return NoisyTrajectory(moments, np.stack(kept), sum(counts), 0, error, noise, step, gap)


def _moved(x: Tensor, drift: Tensor, shaking: Tensor) -> Tensor:
    """The end of the geodesic from x along the tangent vector that drift and projected noise make together."""
    if x.shape[-1] == 2:
        way = drift + shaking * torch.stack([-x[..., 1], x[..., 0]], dim=-1)
    else:
        way = drift + shaking - (shaking * x).sum(-1, keepdim=True) * x
    length = way.norm(dim=-1, keepdim=True)
    return unit(torch.cos(length) * x + torch.sinc(length / math.pi) * way)
