"""Forecasts by logistic regression on the features of a case.

Exact match falls into four levels: collapsed (below 5 %), below 50 %, below holding, and holding (95 % or more at every
size up to there). The probability of each level or a higher one is a logistic function of the features,

    P(level >= k) = 1 / (1 + exp(-(b_k0 + b_k x))),

with b_k the maximum of the likelihood minus RIDGE |b_k|^2 / 2. Within a level the forecast is what became of the known
cases in it: of all alike or, for a checkpoint, of those whose fitted curves reach a similar value. Many regressions are
made at once, on the same cases with different weights, since intervals need one without each task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.forecasts.distributions import GRID, steps
from lengthwise.forecasts.similar import Cases, distance
from lengthwise.seeds import Floats, Ints

RIDGE = 0.3
LEVELS = (0.05, 0.5)  # of exact match; above them is holding
_INTERCEPT = 1e-2  # the ridge of b_k0
_ITERATIONS, _LONGEST = 50, 4.0  # of Newton's method, and of one step
_TOLERANCE = 1e-2  # of the last step, whose square is about the error
_AT_ONCE = 128  # regressions
_NEARNESS, _FLOOR = 4.0, np.exp(-5)  # within a level: exp(-4 d) + e^-5, d the distance of the fitted values


@dataclass(frozen=True)
class Regression:
    """A way to forecast: the features that count and, for the spread within a level, the one that nearness is about."""

    features: tuple[str, ...]
    nearness: str | None = None

    def fit(self, known: Cases, horizon: int, weights: Floats) -> FittedLevels:
        """One regression for each row of weights [fits, known]."""
        outcomes, holds = known.outcomes[:, horizon], known.holds[:, horizon]
        there = ~np.isnan(holds)
        known, weights = known.part(there), weights[:, there]
        outcomes, holds = outcomes[there], holds[there]
        exact = GRID[np.argmax(outcomes, axis=1)]
        marks = [np.maximum(exact >= least, holds) for least in LEVELS] + [holds]
        X = matrix(known, known, self.features, horizon)
        level = np.sum([mark > 0.5 for mark in marks], axis=0)
        return FittedLevels(self, horizon, known, outcomes, weights, fitted(X, marks, weights), level)


@dataclass(frozen=True, eq=False)
class FittedLevels:
    """Fitted regressions: `coefficients` [fits, levels, 1 + columns], `level` [known]."""

    method: Regression
    horizon: int
    known: Cases
    outcomes: Floats
    weights: Floats
    coefficients: Floats
    level: Ints

    def at(self, asked: Cases, fits: Ints) -> tuple[Floats, Floats]:
        """For each case asked about, with the fit of that number: the probability of holding [asked], and the
        distribution of exact match [asked, grid]."""
        X = matrix(asked, self.known, self.method.features, self.horizon)
        chances = _logistic(np.einsum("ap,alp->al", X, self.coefficients[fits]))
        chances = np.minimum.accumulate(chances, axis=1)
        if "held" in asked.features:
            chances[asked.features["held"] != "yes", -1] = 0.0  # what has failed already holds nowhere
        ends = np.ones((len(chances), 1)), np.zeros((len(chances), 1))
        shares = np.concatenate([ends[0], chances], axis=1) - np.concatenate([chances, ends[1]], axis=1)
        F = np.zeros((len(chances), len(GRID)))
        for level in range(shares.shape[1]):
            F += shares[:, [level]] * self._within(level, asked, fits)
        return chances[:, -1], F

    def _within(self, level: int, asked: Cases, fits: Ints) -> Floats:
        """The distributions of the known cases in a level, [asked, grid]."""
        inside = self.level == level
        edges = (0.0, *LEVELS, 0.95, 1.0)
        empty = steps(np.array((edges[level] + edges[level + 1]) / 2))  # where no case is known
        if not inside.any():
            return np.broadcast_to(empty, (len(fits), len(GRID)))
        if self.method.nearness is None:
            of_fits = self.weights[:, inside]
        else:
            values, own = (_at(cases, self.method.nearness, self.horizon) for cases in (self.known, asked))
            of_fits = (np.exp(-_NEARNESS * distance(own, values[inside])) + _FLOOR) * self.weights[fits][:, inside]
        total = of_fits.sum(axis=1, keepdims=True)
        found = np.where(total > 0, of_fits @ self.outcomes[inside] / np.maximum(total, 1e-300), empty)
        return found[fits] if self.method.nearness is None else found


def _at(cases: Cases, feature: str, horizon: int) -> NDArray:
    """The values of a feature; some have one for each horizon."""
    values = cases.features[feature]
    return values if values.ndim == 1 else values[:, horizon]


def matrix(cases: Cases, known: Cases, features: Sequence[str], horizon: int) -> Floats:
    """A regression's columns, [cases, 1 + columns]: 1, a column for each text that known cases have, and for each
    number its value (0 where it is missing) and whether it is missing."""
    columns = [np.ones(len(cases))]
    for name in features:
        own, all_known = (_at(some, name, horizon) for some in (cases, known))
        if own.dtype.kind in "UO":
            columns += [(own == value).astype(float) for value in np.unique(all_known)]
        else:
            columns += [np.nan_to_num(own), np.isnan(own).astype(float)]
    return np.stack(columns, axis=1)


def fitted(X: Floats, marks: Sequence[Floats], weights: Floats) -> Floats:
    """The coefficients [fits, marks, columns] of ridge logistic regressions of each mark [cases] on X [cases, columns],
    one for each row of weights [fits, cases]; the first column is the intercept.

    Newton's method on cases pooled by equal rows of X, such as seeds before training; O(fits x marks x rows x
    columns^2).
    """
    first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)[1:]
    X, pooled = X[first], np.eye(len(first))[place.ravel()]  # [cases, rows]
    rows, columns = np.triu_indices(X.shape[1])
    products = (X[:, rows] * X[:, columns]).astype(np.float32)  # of second derivatives: slopes decide what is reached
    found = []
    for mark in marks:
        total, marked = weights @ pooled, (weights * mark) @ pooled
        start = _newton(X, total[:1], marked[:1], products, np.zeros((1, X.shape[1])))
        parts = (slice(at, at + _AT_ONCE) for at in range(0, len(weights), _AT_ONCE))
        found.append(np.concatenate([_newton(X, total[part], marked[part], products, start) for part in parts]))
    return np.stack(found, axis=1)


def _newton(X: Floats, weights: Floats, marked: Floats, products: NDArray[np.float32], start: Floats) -> Floats:
    """`weights` and `marked` [fits, rows]: of all cases that a row of X stands for, and of the marked ones."""
    found = np.repeat(start, len(weights), axis=0)
    (rows, columns), diagonal = np.triu_indices(X.shape[1]), np.arange(X.shape[1])
    ridge = np.where(diagonal == 0, _INTERCEPT, RIDGE)
    second = np.zeros((len(weights), X.shape[1], X.shape[1]))
    for _ in range(_ITERATIONS):
        chance = _logistic(found @ X.T)
        slope = (weights * chance - marked) @ X + ridge * found
        curved = (weights * chance * (1 - chance)).astype(np.float32) @ products
        second[:, rows, columns] = second[:, columns, rows] = curved
        second[:, diagonal, diagonal] += ridge
        step = np.linalg.solve(second, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        found = found - step * np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300))
        if longest.max() < _TOLERANCE:
            break
    return found


def _logistic(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(z, -40, 40)))
