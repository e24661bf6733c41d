"""The shape of the walk through the tree: depth as a function of how far along the trajectory is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Vectors
from lengthwise.transport.trajectories import Sample, Trajectory

_PARTS = ("first", "second", "third", "last")


@metrics.register("contour")
@dataclass(frozen=True)
class Contour(Metric):
    """How unlike the depth profiles are: the mean gap in depth, plus a price for the difference in length.

    A profile is a step function on [0, 1], the depth at the share t of the trajectory. Two are compared by the integral
    of |p(t) - q(t)| after averaging each over `cells` equal parts, plus `price` times the difference of the numbers of
    tokens: a sum of absolute differences, hence a pseudo-metric. Averaging only shortens distances; it changes nothing
    for profiles whose numbers of steps divide `cells`.
    """

    identity = False
    tokens = False
    fixed = True

    cells: int = 240
    price: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= self.cells <= 10_000:
            raise UsageError(f"the metric contour must have 1 to 10000 cells, not {self.cells}")
        if not (math.isfinite(self.price) and self.price >= 0):
            raise UsageError(f"the price of a token of length must be a finite number from 0 on, not {self.price}")

    def fit(self, reference: Sample) -> Fitted:
        if not any(trajectory.profile().any() for trajectory in reference.trajectories):
            raise UsageError(
                f"the metric contour compares depth profiles, and {reference.name or 'the first sample'} has neither "
                "brackets nor a 'depth'; use edit or features instead"
            )
        facts = {"standardised_on": "nothing", "cells": self.cells, "price": self.price}
        return _FittedContour("levels of depth", facts, self.cells, self.price)


@dataclass(frozen=True)
class _FittedContour(FittedVectors):
    cells: int = 0
    price: float = 0.0

    def vectors(self, first: Sample, second: Sample) -> Vectors:
        parts = [f"depth, {_PARTS[cell * len(_PARTS) // self.cells]} quarter" for cell in range(self.cells)]
        one, two = (np.stack([self._place(t) for t in sample.trajectories]) for sample in (first, second))
        return Vectors(one, two, (*parts, "length"), "cityblock")

    def _place(self, trajectory: Trajectory) -> Floats:
        """The integral of the profile over each cell, and the priced length."""
        profile = trajectory.profile()
        ends = np.arange(len(profile) + 1) / len(profile)
        area = np.concatenate([[0.0], profile.cumsum() / len(profile)])
        inside = np.diff(np.interp(np.arange(self.cells + 1) / self.cells, ends, area))
        return np.append(inside, self.price * len(trajectory.tokens))
