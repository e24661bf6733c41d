"""The contract of a ground metric: settings, what it takes from the training sample, and the distances it gives.

A metric is two objects, as a position encoding is: a `Metric`, which is settings, and the `Fitted` it makes of the
first (training) sample, which measures. A metric that places trajectories in a space of vectors says so, because then
no n x m matrix is ever stored; any other gives distances by pairs.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.seeds import Floats
from lengthwise.transport.problem import Cost, MatrixCost, VectorCost
from lengthwise.transport.trajectories import Sample

SLACK = 1e-9  # of the largest distance; below it a violation is rounding


def broken_axiom(distances: ArrayLike, names: Sequence[str] = ()) -> str:
    """What keeps a square table from being the distances of a pseudo-metric, with the points that show it; or nothing.

    Looked at are all triples: O(n^3) time, O(n^2) memory. `names` are what the points are called.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    said = list(names) or [f"number {index}" for index in range(len(matrix))]
    if matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        return f"distances are [n, n], not {matrix.shape}"
    if not np.isfinite(matrix).all():
        x, y = map(int, np.argwhere(~np.isfinite(matrix))[0])
        return f"the distance of `{said[x]}` and `{said[y]}` is {matrix[x, y]}, not a finite number"
    if matrix.min(initial=0) < 0:
        x, y = map(int, np.unravel_index(np.argmin(matrix), matrix.shape))
        return f"the distance of `{said[x]}` and `{said[y]}` is {matrix[x, y]:.6g}, below 0"
    slack = SLACK * float(matrix.max(initial=0))
    own = int(np.argmax(np.diag(matrix)))
    if matrix[own, own] > slack:
        return f"`{said[own]}` is at {matrix[own, own]:.6g} from itself"
    x, y = map(int, np.unravel_index(np.argmax(np.abs(matrix - matrix.T)), matrix.shape))
    if abs(matrix[x, y] - matrix[y, x]) > slack:
        there, back = f"{matrix[x, y]:.6g}", f"{matrix[y, x]:.6g}"
        return f"from `{said[x]}` to `{said[y]}` it is {there}, but {back} the other way"
    return _broken_triangle(matrix, said, slack)


def _broken_triangle(matrix: np.ndarray, said: list[str], slack: float) -> str:
    for middle, row in enumerate(matrix):
        excess = matrix - (row[:, None] + row[None, :])
        x, z = map(int, np.unravel_index(np.argmax(excess), excess.shape))
        if excess[x, z] > slack:
            way = f"{row[x]:.6g} + {row[z]:.6g} by way of `{said[middle]}`"
            straight = f"`{said[x]}` and `{said[z]}` are {matrix[x, z]:.6g} apart"
            return f"the triangle inequality fails, as {straight}, but only {way}"
    return ""


Norm = Literal["euclidean", "cityblock"]


class Metric(abc.ABC):
    """A way to say how far two trajectories are apart. A subclass is a frozen dataclass of settings that declares:

    `identity`   True: only trajectories with equal tokens are at distance 0. False: a pseudo-metric, which may not
                 tell some trajectories apart; W1 is then 0 between some different distributions;
    `tokens`     it compares token with token, so two samples that share none have nothing to say to each other;
    `fixed`      it takes nothing from the sample it is fitted on. What is proved about samples needs that, or a
                 fitting sample that is independent of the measured ones;
    `diameter`   no two trajectories are ever further apart; None where there is no such number.

    Whatever it declares, distances are symmetric, at least 0, 0 from a trajectory to itself, and keep the triangle
    inequality. `check_metric` in `lengthwise.testing` looks for counterexamples.
    """

    identity: ClassVar[bool]
    tokens: ClassVar[bool]
    fixed: ClassVar[bool]
    diameter: ClassVar[float | None] = None

    @abc.abstractmethod
    def fit(self, reference: Sample) -> Fitted:
        """The metric ready to measure; what it is standardised on comes from `reference`."""


@dataclass(frozen=True)
class Fitted(abc.ABC):
    """A metric that measures. `unit` is what a distance of 1 is, `facts` (plain data) what it was standardised on."""

    unit: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @abc.abstractmethod
    def distances(self, first: Sample, second: Sample) -> Floats:
        """The distances of the distinct trajectories of two samples, [first, second]."""

    def cost(self, first: Sample, second: Sample) -> Cost:
        """The same as the cost of a transport problem."""
        return MatrixCost(self.distances(first, second))


@dataclass(frozen=True, eq=False)
class Vectors:
    """Two samples in one space, [trajectories, coordinates]. Coordinates that share a name are one to a reader."""

    first: Floats
    second: Floats
    names: tuple[str, ...]
    norm: Norm


@dataclass(frozen=True)
class FittedVectors(Fitted):
    """A metric that places trajectories in a space of vectors."""

    @abc.abstractmethod
    def vectors(self, first: Sample, second: Sample) -> Vectors:
        """The trajectories of two samples as points; the distance of two does not depend on the others."""

    def cost(self, first: Sample, second: Sample) -> VectorCost:
        placed = self.vectors(first, second)
        return VectorCost(placed.first, placed.second, placed.norm)

    def distances(self, first: Sample, second: Sample) -> Floats:
        return self.cost(first, second).block(slice(None), slice(None))
