"""From a start to a trajectory: adaptive steps on the sphere, and a second run that measures the error.

Every system of a batch has its own step size, so a system gives the same trajectory alone and in any batch, up to the
rounding of matrix products. Two solutions are carried: the one that is given takes two steps where its companion takes
one of double length. The distance between them estimates the error, with all its growth on the way, which an estimate
made step by step does not count (shampine1976). It costs half as much again as the solution alone.

A pair of steps is accepted when the local errors of both steps are within the tolerance, and that of the long step is
within 2^5 times it, which is what a method of order 5 makes of a doubled step. The second condition keeps the companion
stable where tokens have clustered and stability, not accuracy, limits the step.

Steps end exactly at the times asked for; nothing is interpolated.

Steps are those of the Dormand-Prince pair 5(4). The velocity is extended to all of space by `f(y) = velocity(y / |y|)`,
which is smooth away from 0 and tangent to the sphere through y, so the solution of `dy/dt = f(y)` from a unit vector is
the one on the sphere. A Runge-Kutta step for f keeps its order 5, and so does the step followed by y / |y|: the nearest
point of the sphere to y is no further from y than the true solution is. Since f(y) = f(y / |y|), the last slope of a
step is still the first slope of the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.dynamics import Dynamics, ManyHeads
from lengthwise.geometry.particles.system import System
from lengthwise.limits import SIMULATED_SECONDS, Patience, check_reach

PAIR_SECONDS = 3e-9  # of one pair of tokens in one velocity, measured on one core in two dimensions: the least


@dataclass(frozen=True, eq=False)
class ParticleTrajectory:
    """The positions of tokens at chosen times.

    `error` estimates the greatest angle, in radians, between a point given here and the true solution from the same
    start, over all times, systems and tokens: the distance to the companion. For short steps the companion, of order 5,
    is 32 times as wrong, and the distance is 31 times the error; it is given undivided because a few long steps, as
    near an unstable balance, gain less from halving. It is an estimate, not a bound.
    """

    times: np.ndarray  # [K], ascending; times[0] is the start
    points: np.ndarray  # [K, ..., n, d], unit vectors
    steps: int  # steps taken, summed over the systems of a batch
    rejected: int  # steps tried and thrown away as too long
    error: float

    @property
    def final(self) -> np.ndarray:
        """The points [..., n, d] at the last time."""
        return self.points[-1]


# dormand1980, table 2. Row i holds the weights of the slopes before slope i + 1; the last row is the step itself.
TABLEAU = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# The step of order 5 less the step of order 4.
DIFFERENCE = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
ORDER = 5


@dataclass(frozen=True, eq=False)
class RungeKuttaStep:
    """Where a step ends: unit vectors [systems, n, d], their velocities, and the local error in radians [systems]."""

    points: Tensor
    slope: Tensor
    error: Tensor


def field(system: Dynamics, points: Tensor) -> Tensor:
    """The velocity, extended to points off the sphere."""
    return system.velocity(unit(points))


def unit(points: Tensor) -> Tensor:
    return points / points.norm(dim=-1, keepdim=True)


def step(system: Dynamics, points: Tensor, slope: Tensor, size: Tensor) -> RungeKuttaStep:
    """One step of `size` [systems] from unit vectors [systems, n, d] whose velocity `slope` is known: six evaluations.

    The error is the greatest length, over the tokens, of the difference between the steps of order 5 and 4. It
    estimates the error of the latter, so it is usually far above the error of the former, which is the one taken.
    """
    width = size[:, None, None]
    slopes = torch.empty(len(DIFFERENCE), *points.shape, dtype=points.dtype)
    slopes[0] = slope
    ahead = points
    for stage, weights in enumerate(TABLEAU, start=1):
        ahead = points + width * _combined(weights, slopes)
        slopes[stage] = field(system, ahead)
    wrong = width * _combined(DIFFERENCE, slopes)
    return RungeKuttaStep(unit(ahead), slopes[-1], wrong.norm(dim=-1).amax(-1))


def _combined(weights: tuple[float, ...], slopes: Tensor) -> Tensor:
    return torch.tensordot(torch.tensor(weights, dtype=slopes.dtype), slopes[: len(weights)], dims=1)


Progress = Callable[[str, int, int], None]
FINEST, COARSEST = 1e-13, 1e-2
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0
_DOUBLED = 2.0**ORDER


def check_pace(system: Dynamics, shape: Sequence[int], velocities: int) -> None:
    """Refuse a number of tokens for which even the fewest velocities, those of one step per span of time, would take
    too long: a step that has begun is not interrupted. Oscillators have no pairs and are quick."""
    heads = len(system.heads) if isinstance(system, ManyHeads) else int(isinstance(system, System))
    n, seconds = shape[-2], PAIR_SECONDS * heads * math.prod(shape[:-1]) * shape[-2] * velocities
    check_reach(f"a simulation of {n:,} tokens that all attract each other", seconds=seconds, most=SIMULATED_SECONDS)


def simulate(
    system: Dynamics,
    start: Tensor | np.ndarray,
    times: Sequence[float] | np.ndarray,
    tolerance: float = 1e-8,
    progress: Progress | None = None,
    most_steps: int = 1_000_000,
) -> ParticleTrajectory:
    """The positions at `times` of tokens that start at `start` [..., n, d], unit vectors, at times[0].

    `tolerance` bounds the estimated error that a step adds, in radians; the trajectory's `error` says what came of it.
    All arithmetic is in float64. `progress` hears, after every round of steps, the time that all systems have reached
    and how many of the times are done; an exception it raises ends the simulation, and `start` is never written to.
    More than `most_steps` steps for one system are refused: USA moves at speed e^beta, which no tolerance helps.
    """
    points, moments = unit_vectors(start), moments_of(times)
    if not FINEST <= tolerance <= COARSEST:
        raise UsageError(f"the tolerance must lie between {FINEST:g} and {COARSEST:g} radians, not {tolerance!r}")
    shape = points.shape
    check_pace(system, shape, 12 * (len(moments) - 1))  # a step and its companion
    with torch.no_grad():
        pair = _EmbeddedPair(system, points, moments, tolerance, most_steps)
        kept, error = [pair.fine.numpy().copy()], 0.0
        pace, span = Patience(f"the simulation to t = {moments[-1]:g}"), max(float(moments[-1] - moments[0]), 1e-300)
        for place, end in enumerate(moments[1:]):

            def reached(time: float, place: int = place) -> None:
                pace((time - float(moments[0])) / span)
                if progress:
                    progress(f"t = {time:.4g} of {moments[-1]:g}", place, len(moments) - 1)

            pair.advance(float(end), reached)
            kept.append(pair.fine.numpy().copy())
            error = max(error, pair.error())
    steps, rejected = int(pair.steps.sum()), int(pair.rejected.sum())
    return ParticleTrajectory(moments, np.stack(kept).reshape(len(moments), *shape), steps, rejected, error)


class _EmbeddedPair:
    """Two solutions of all systems, [systems, n, d]: `fine` takes two steps where `coarse` takes one."""

    def __init__(
        self, system: Dynamics, points: Tensor, moments: np.ndarray, tolerance: float, most_steps: int
    ) -> None:
        self.fine = points.reshape(-1, *points.shape[-2:])
        system.check(points)
        self.system = system.flat()
        self.tolerance, self.most_steps = tolerance, most_steps
        self.fine_slope = field(self.system, self.fine)
        self.coarse, self.coarse_slope = self.fine.clone(), self.fine_slope.clone()
        count = len(self.fine)
        self.time = torch.full((count,), float(moments[0]), dtype=torch.float64)
        speed = self.fine_slope.norm(dim=-1).amax(-1)
        self.size = tolerance ** (1 / ORDER) / (1 + speed)  # a guess; the first errors correct it
        self.steps, self.rejected = torch.zeros(count, dtype=torch.int64), torch.zeros(count, dtype=torch.int64)

    def advance(self, end: float, reached: Callable[[float], None]) -> None:
        """Bring every system to the time `end`; `reached` hears of the time after every round of steps."""
        while bool((late := self.time < end).any()):
            self._round(late.nonzero()[:, 0], end)
            reached(float(self.time.min()))

    def _round(self, rows: Tensor, end: float) -> None:
        """Try one pair of steps for the systems `rows`."""
        left = end - self.time[rows]
        count = torch.ceil(left / self.size[rows])
        size = left / count  # equal steps to the end: none is longer than allowed, and none is a mere remainder
        system, half = self.system.only(rows), size / 2
        first = step(system, self.fine[rows], self.fine_slope[rows], half)
        second = step(system, first.points, first.slope, half)
        double = step(system, self.coarse[rows], self.coarse_slope[rows], size)
        error = torch.maximum(torch.maximum(first.error, second.error), double.error / _DOUBLED)
        good = error <= self.tolerance
        done = rows[good]
        self.fine[done], self.fine_slope[done] = second.points[good], second.slope[good]
        self.coarse[done], self.coarse_slope[done] = double.points[good], double.slope[good]
        self.time[done] = torch.where(count == 1, end, self.time[rows] + size)[good]
        self.steps[done] += 2
        self.rejected[rows[~good]] += 2
        self._resize(rows, size, error, good)

    def _resize(self, rows: Tensor, size: Tensor, error: Tensor, good: Tensor) -> None:
        """The sizes to try next: as large as the errors allow, and after a failure no larger than before."""
        ratio = torch.nan_to_num(error / self.tolerance, nan=math.inf).clamp_min(1e-10)
        factor = (_SAFETY * ratio ** (-1 / ORDER)).clamp(_SHRINK, _GROW)
        wanted = size * torch.where(good, factor, factor.clamp_max(_SAFETY))
        # A step cut short to end at a chosen time says little about the size that was allowed before it.
        allowed = self.size[rows]
        cut = good & (size < allowed / 2)
        self.size[rows] = torch.where(cut, torch.maximum(wanted, allowed), wanted)
        if bool((self.time[rows] + self.size[rows] == self.time[rows]).any()):
            raise UsageError(
                f"the steps became too short to continue; a tolerance above {self.tolerance:g} or a smaller beta helps"
            )
        if int((self.steps + self.rejected).max()) > self.most_steps:
            raise UsageError(
                f"{self.most_steps:,} steps reached only time {float(self.time.min()):.4g}; "
                "ask for a shorter time, a smaller beta (USA moves at speed e^beta) or more steps"
            )

    def error(self) -> float:
        """The greatest angle between a token of one solution and the same token of the other."""
        chord = (self.fine - self.coarse).norm(dim=-1).max().item() if self.fine.numel() else 0.0
        return 2 * math.asin(min(1.0, chord / 2))


def unit_vectors(start: Tensor | np.ndarray) -> Tensor:
    """A float64 copy of the start, of length one to rounding."""
    points = torch.as_tensor(start).to(torch.float64)
    if points.ndim < 2 or 0 in points.shape:
        raise UsageError(f"a start must be [..., n, d] with at least one token, not of shape {list(points.shape)}")
    lengths = points.norm(dim=-1)
    if not bool(((lengths - 1).abs() <= 1e-5).all()):  # also where a length is not a number
        raise UsageError("a start holds unit vectors; divide each token by its length")
    return unit(points)


def moments_of(times: Sequence[float] | np.ndarray) -> np.ndarray:
    moments = np.array(times, dtype=np.float64)
    if moments.ndim != 1 or len(moments) == 0 or not np.isfinite(moments).all() or (np.diff(moments) <= 0).any():
        raise UsageError(
            "times must be a list of finite numbers, each greater than the one before; the first is the start"
        )
    return moments
