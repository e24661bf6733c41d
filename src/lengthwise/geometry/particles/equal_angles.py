"""The exact reference: tokens whose pairwise inner products are all equal keep them equal, and one ODE says how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.geometry.particles.system import Kind


def gamma(kind: Kind, n: int, beta: float, times: Sequence[float] | np.ndarray, start: float = 0.0) -> np.ndarray:
    """The common inner product at each of `times` (ascending, from the start at time 0)."""
    raise NotImplementedError
