"""Forecasts from similar cases: the outcomes of known cases, weighted by how similar they are.

A case is a task with an encoding, perhaps with what a checkpoint has shown so far. With a distance d_f for each feature
f, a known case j has the weight

    w_j = e + exp(-sum_f r_f d_f),        r_f >= 0, e > 0

in the forecast for another one. The relevances r and the floor e are chosen so that every task of the atlas is forecast
as well as possible from the others (leave one task out; sum of CRPS and Brier score). With r large for the oracle's
class and the encoding and 0 for all other features this is the base rate by class and encoding, and with r = 0 it is
the base rate of everything: both are special cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lengthwise.seeds import Floats, Ints


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases and what became of them.

    task       [cases], numbers: cases of one task are never used for one another
    stratum    [cases], texts: neither are cases of different strata
    features   by name [cases]: texts, compared for equality, or numbers, whose distance is their difference
    weight     [cases], the share of its task and encoding that a case stands for
    outcomes   [cases, horizons, grid], distributions of exact match; NaN where it was not measured
    holds      [cases, horizons], shares that hold
    """

    task: Ints
    stratum: NDArray[np.str_]
    features: Mapping[str, NDArray]
    weight: Floats
    outcomes: Floats
    holds: Floats

    def __len__(self) -> int:
        return len(self.task)

    def part(self, chosen: NDArray) -> Cases:
        """The chosen cases: numbers, or truth values."""
        own = {name: getattr(self, name)[chosen] for name in ("task", "stratum", "weight", "outcomes", "holds")}
        return replace(self, **own, features={name: values[chosen] for name, values in self.features.items()})


@dataclass(frozen=True)
class Relevance:
    """How much each feature matters, and ln e."""

    by_feature: Mapping[str, float]
    floor: float

    def distances(self, asked: Cases, known: Cases) -> Floats:
        """sum_f r_f d_f for each case asked about and each known one."""
        total = np.zeros((len(asked), len(known)))
        for name, relevance in self.by_feature.items():
            if relevance:
                total += relevance * distance(asked.features[name], known.features[name])
        return total

    def weights(self, asked: Cases, known: Cases) -> Floats:
        """The weights of the known cases, [asked, known]; none for a case of the same task or another stratum."""
        found = np.exp(self.floor) + np.exp(-self.distances(asked, known))
        return found * known.weight * usable(asked, known)


def usable(asked: Cases, known: Cases) -> NDArray[np.bool_]:
    """Which known cases may be used for which: those of other tasks and of the same stratum, [asked, known]."""
    return (asked.task[:, None] != known.task) & (distance(asked.stratum, known.stratum) == 0)


def distance(first: NDArray, second: NDArray) -> Floats:
    """Between the values of one feature, [first, second]: 0 or 1 for texts, at most 3 for numbers. A number that is
    missing is 1 from any other and 0 from another that is missing."""
    if first.dtype.kind in "UO":
        numbers = np.unique(np.concatenate([first, second]), return_inverse=True)[1]  # compared faster than texts
        return (numbers[: len(first), None] != numbers[len(first) :]).astype(float)
    missing = np.isnan(first)[:, None].astype(float) + np.isnan(second)
    return np.where(missing == 1, 1.0, np.where(missing == 2, 0.0, np.minimum(np.abs(first[:, None] - second), 3.0)))


def mixtures(weights: Floats, values: Floats) -> Floats:
    """Means of the known cases' values [known, ...] by weight, [asked, ...]; those that are missing are left out."""
    flat = values.reshape(len(values), -1)
    there = ~np.isnan(flat)
    total = weights @ there.astype(float)
    found = np.divide(weights @ np.nan_to_num(flat), total, out=np.full(total.shape, np.nan), where=total > 0)
    return found.reshape(len(weights), *values.shape[1:])
