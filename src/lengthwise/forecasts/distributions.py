"""Distributions of exact match, as cumulative probabilities on a grid of hundredths, and proper scores for them.

Outcomes over tasks and seeds are two-peaked (a run holds or it collapses), so a forecast is a whole distribution. `F`
below is an array whose last axis is the grid: F[..., i] is the probability of an exact match of at most i / 100.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lengthwise.seeds import Floats

GRID: Floats = np.linspace(0, 1, 101)
CLIP = 0.01  # a probability that is scored by its logarithm is at least this, and at most 1 minus it


def place(values: Floats) -> NDArray[np.intp]:
    """The place on the grid of each exact match, the nearest one."""
    return np.rint(np.asarray(values) * (len(GRID) - 1)).astype(np.intp)


def steps(values: Floats) -> Floats:
    """The distributions that are certain of one value each, [..., grid]; NaN where a value is missing."""
    values = np.asarray(values, dtype=float)
    at = place(np.nan_to_num(values))[..., None]
    return np.where(np.isnan(values)[..., None], np.nan, np.arange(len(GRID)) >= at)


def mean(F: Floats) -> Floats:
    """The expected exact match: the area above F."""
    return (1 - F[..., :-1]).mean(axis=-1)


def quantile(F: Floats, level: float) -> Floats:
    """The least exact match of which F reaches `level`."""
    return GRID[np.argmax(level - 1e-9 <= F, axis=-1)]


def middle(F: Floats) -> Floats:
    """The mid-distribution function, (P(Y < y) + P(Y <= y)) / 2 at every y of the grid."""
    return F - np.diff(F, prepend=0.0, axis=-1) / 2


def crps(F: Floats, outcomes: Floats) -> Floats:
    """The continuous ranked probability score, the area of (F(y) - 1[outcome <= y])^2. For a forecast that is certain
    of one value it is the absolute error."""
    return np.square(F - steps(outcomes))[..., :-1].mean(axis=-1)


def brier(probability: Floats, outcomes: Floats) -> Floats:
    """Squared error of a probability."""
    return np.square(probability - outcomes)


def log_score(probability: Floats, outcomes: Floats) -> Floats:
    """Minus the logarithm, in nats, of the probability given to what happened; lower is better."""
    kept = np.clip(probability, CLIP, 1 - CLIP)
    return -np.log(np.where(outcomes > 0.5, kept, 1 - kept))


def auroc(probability: Floats, outcomes: Floats) -> float | None:
    """The probability that a run that held got a higher forecast than one that did not, ties counting half; None
    where all did the same."""
    held = outcomes > 0.5
    if held.all() or not held.any():
        return None
    others = np.sort(probability[~held])
    below, up_to = (np.searchsorted(others, probability[held], side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(others)))
