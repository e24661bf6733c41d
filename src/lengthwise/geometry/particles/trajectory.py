"""Where the tokens were at each time, and how far that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The positions of tokens at chosen times.

    `error` estimates the greatest angle, in radians, between a point given here and the true solution from the same
    start, over all times, systems and tokens. It is found by integrating a second time with steps of double length: the
    error of a method of order 5 is then 32 times as large, so the true error is the difference of the two over 31
    (shampine1976). It counts how errors grow along the way, which an estimate made step by step does not. It is an
    estimate, not a bound: it rests on the steps being short enough for the errors to follow their leading term. Where
    the two differ by more than 0.01 radians they are not, and the difference itself is given.
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
