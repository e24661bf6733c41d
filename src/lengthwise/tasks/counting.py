"""Numbers of choices as logarithms, which stay finite at every size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.seeds import Floats


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    """ln C(n, k) for whole numbers that broadcast, minus infinity where there is no such choice."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(k, dtype=np.int64))
    inside = (k >= 0) & (k <= n)
    n, k = np.where(inside, n, 0), np.where(inside, k, 0)
    logs = np.append(0.0, np.log(np.arange(1, n.max(initial=0) + 1)).cumsum())  # ln of the factorials
    return np.where(inside, logs[n] - logs[k] - logs[n - k], -np.inf)
