"""One step of the Dormand-Prince pair 5(4) for tokens on the sphere, one step size for each system of a batch.

The velocity is extended to all of space by `f(y) = velocity(y / |y|)`, which is smooth away from 0 and tangent to the
sphere through y, so the solution of `dy/dt = f(y)` from a unit vector is the one on the sphere. A Runge-Kutta step for
f keeps its order 5, and so does the step followed by y / |y|: the nearest point of the sphere to y is no further from y
than the true solution is. Since f(y) = f(y / |y|), the last slope of a step is still the first slope of the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.geometry.particles.system import System

if TYPE_CHECKING:
    from torch import Tensor

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


def field(system: System, points: Tensor) -> Tensor:
    """The velocity, extended to points off the sphere."""
    return system.velocity(unit(points))


def unit(points: Tensor) -> Tensor:
    return points / points.norm(dim=-1, keepdim=True)


def step(system: System, points: Tensor, slope: Tensor, size: Tensor) -> RungeKuttaStep:
    """One step of `size` [systems] from unit vectors [systems, n, d] whose velocity `slope` is known: six evaluations.

    The error is the greatest length, over the tokens, of the difference between the steps of order 5 and 4. It
    estimates the error of the latter, so it is usually far above the error of the former, which is the one taken.
    """
    import torch

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
    import torch

    return torch.tensordot(torch.tensor(weights, dtype=slopes.dtype), slopes[: len(weights)], dims=1)
