"""Cases and how near they are to each other. A case is a task with an encoding or another model, perhaps with what a
checkpoint has shown so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lengthwise.seeds import Floats, Ints


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases and what became of them.

    task       [cases], numbers: cases of one task are never used for one another
    stratum    [cases], texts: intervals are calibrated on cases of the same stratum
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


def distances(asked: Cases, known: Cases, features: Iterable[str]) -> Floats:
    """The sum of the distances by these features, [asked, known]. All count alike: whether one that varies little is
    relevant is not known."""
    total = np.zeros((len(asked), len(known)))
    for name in features:
        total += distance(asked.features[name], known.features[name])
    return total


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
