"""From a start to a trajectory: adaptive Runge-Kutta steps on the sphere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lengthwise.geometry.particles.system import System
from lengthwise.geometry.particles.trajectory import Trajectory

if TYPE_CHECKING:
    from torch import Tensor


def simulate(
    system: System,
    start: Tensor | np.ndarray,
    times: Sequence[float] | np.ndarray,
    tolerance: float = 1e-8,
    listener: Callable[[float], None] | None = None,
) -> Trajectory:
    """The positions at `times` of tokens that begin at `start` [..., n, d] at times[0]."""
    raise NotImplementedError
