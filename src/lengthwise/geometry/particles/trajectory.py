"""Where the tokens were at each time, and how far that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ParticleTrajectory:
    """The positions of tokens at chosen times.

    `error` estimates the greatest angle, in radians, between a point given here and the true solution from the same
    start, over all times, systems and tokens. It is the distance to a second solution with steps of double length,
    carried beside the first (shampine1976). So it counts how errors grow on the way, which an estimate made step by
    step does not. For short steps the second solution, of order 5, is 32 times as wrong, and the distance is 31 times
    the error: it is given undivided because a few long steps, as near an unstable balance, gain less from halving. It
    is an estimate, not a bound.
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
