"""What a forecast has to beat before training: the base rate by class and encoding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.forecasts.similar import Cases, distances, mixtures
from lengthwise.seeds import Floats, Ints

CELL = ("oracle_class", "design")


class BaseRate:
    """What tasks of the same class did with the same encoding or model, each counting once, with one further task that
    did what the average one does."""

    def fit(self, known: Cases, horizon: int, weights: Floats) -> FittedRate:
        """One base rate for each row of weights [fits, known]."""
        return FittedRate(known, horizon, weights)


@dataclass(frozen=True, eq=False)
class FittedRate:
    """Base rates, as `FittedLevels` has regressions."""

    known: Cases
    horizon: int
    weights: Floats

    def at(self, asked: Cases, fits: Ints) -> tuple[Floats, Floats]:
        """For each case asked about, the share that holds [asked] and the distribution of exact match [asked, grid]."""
        alike = distances(asked, self.known, CELL) == 0
        weights = (alike + 1 / len(self.known)) * self.weights[fits]
        holds = mixtures(weights, self.known.holds[:, [self.horizon]])[:, 0]
        return holds, mixtures(weights, np.asarray(self.known.outcomes[:, self.horizon]))
