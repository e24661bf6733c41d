"""The contract of a ground metric: settings, what it takes from the training sample, and the distances it gives.

A metric is two objects, as a position encoding is: a `Metric`, which is settings, and the `Fitted` it makes of the
first (training) sample, which measures. A metric that places trajectories in a space of vectors says so, because then
no n x m matrix is ever stored; any other gives distances by pairs.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from lengthwise.seeds import Floats
from lengthwise.transport.problem import Cost, MatrixCost, VectorCost
from lengthwise.transport.trajectories import Sample

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
