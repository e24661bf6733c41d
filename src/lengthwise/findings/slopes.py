"""How steep an error can be on trajectories in the edit metric: for certain, and as far as was seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.trajectories import Sample, Trajectory

METRIC = "edit"


def steepest_possible(longest: int) -> float:
    """n + 1/2: a Lipschitz constant of every function into [0, 1] on trajectories of at most n = `longest` tokens.

    The metric is D(x, y) = 2 d / (|x| + |y| + d), d the Levenshtein distance. It grows with d and falls with
    |x| + |y|; different trajectories have d >= 1, and |x| + |y| <= 2n. So D >= 2 / (2n + 1) between different ones,
    which two of n tokens that differ at one place attain, and a function into [0, 1] changes by 1 at most over that.

    A bound made from it is never better than total variation: whatever a coupling moves at all it moves by 2 / (2n + 1)
    or more, so (n + 1/2) W1 is at least the mass that must move. Where training and test share no trajectory, as when
    depth shifts, that is all of it, and the bound is vacuous.
    """
    return longest + 0.5


def edit_distances(first: Sequence[Trajectory], second: Sequence[Trajectory]) -> Floats:
    """The normalised edit distances of two rows of trajectories, [first, second]."""
    one, two = Sample.of(first, name="first"), Sample.of(second, name="second")
    return metrics.make(METRIC).fit(one).distances(one, two)[one.owner][:, two.owner]


def steepest_seen(distances: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """The largest |e(x) - e(y)| / d(x, y) over pairs that differ, a lower bound of the Lipschitz constant; 0 without
    such pairs. `first` and `second` are the errors, `distances` is [first, second]."""
    gaps = np.abs(np.asarray(first, dtype=np.float64)[:, None] - np.asarray(second, dtype=np.float64)[None, :])
    apart = distances > 0
    return float((gaps[apart] / distances[apart]).max()) if apart.any() else 0.0
