"""Processes whose conditional risk is known, made to break bounds: each gives losses and the truth."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from lengthwise.bounds.tokens import TokenLosses
from lengthwise.seeds import Floats

Truth = Callable[[float | None], float]  # the true quantity at a smoothing, or that of errors at None
Drawn = tuple[TokenLosses, Truth]
V, RARE, PREDICTOR_BITS = 64, 0.02, 14


def kept(surprise: Floats, expected: Floats, errors: Floats, chance: Floats | float, length: int) -> TokenLosses:
    """Losses with the given top-1 errors, in documents of one length; the model expects errors with `chance`."""
    n = len(surprise)
    mass = np.repeat((1 - chance * np.ones(n))[:, None], 3, axis=1)
    return TokenLosses(surprise, expected, np.where(errors, V - 1, 0), mass, np.arange(n) // length, V)


def two_outcomes(good: float, bad: float, chance: Floats, errors: Floats, expected: Floats, length: int) -> Drawn:
    """Each token is one of two: one of the probability `good`, or, with a known chance, a `bad` one and an error."""
    losses = kept(-np.log(np.where(errors, bad, good)), expected, errors, chance, length)

    def truth(alpha: float | None) -> float:
        if alpha is None:
            return float(chance.mean())
        right, wrong = (-math.log((1 - alpha) * p + alpha / V) for p in (good, bad))
        return float(np.mean(chance * wrong + (1 - chance) * right))

    return losses, truth


def two_points(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """Nearly always the least loss, rarely nearly the greatest, which a small sample does not show."""
    ones = np.ones(n)
    return two_outcomes(1.0, 1e-9, RARE * ones, rng.random(n) < RARE, 0 * ones, length)


def coin(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """The greatest variance there is: where Hoeffding's inequality is tight."""
    ones = np.ones(n)
    return two_outcomes(1.0, 1e-9, ones / 2, rng.random(n) < 0.5, 0 * ones, length)


def exponential(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """Surprises are exponential with mean 1, cut off by smoothing: probabilities are uniform."""
    errors = rng.random(n) < 0.3
    losses = kept(rng.exponential(size=n), np.ones(n), errors, 0.3, length)

    def truth(alpha: float | None) -> float:
        if alpha is None:
            return 0.3
        a, b = 1 - alpha, alpha / V  # the integral of -ln(a p + b) over p from 0 to 1
        return 1 - ((a + b) * math.log(a + b) - b * math.log(b)) / a

    return losses, truth


def changing_variance(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """After a bad token the next is risky, after a good one it is nearly safe; the model expects no more than half."""
    draws, chance, errors = rng.random(n), np.empty(n), np.empty(n, dtype=bool)
    risky = True
    for i in range(n):
        chance[i] = 0.4 if risky else 0.05
        risky = errors[i] = draws[i] < chance[i]
    return two_outcomes(0.9, 1e-4, chance, errors, chance * math.log(V), length)


def adaptive(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """An adversary tosses coins until it is lucky enough, then keeps its luck by tokens that are certain."""
    errors = rng.random(n) < 0.5
    ahead = np.cumsum(0.5 - errors)
    lucky = ahead >= 1.2 * np.sqrt(np.arange(1, n + 1))
    lucky[:10] = False
    stop = int(np.argmax(lucky)) + 1 if lucky.any() else n
    chance = np.where(np.arange(n) < stop, 0.5, 0.0)
    return two_outcomes(1.0, 1e-9, chance, errors & (chance > 0), chance, length)


def wrong_expectation(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """A model that expects anything but what comes: bounds must hold all the same."""
    expected = np.where(rng.random(n) < 0.5, 0.0, math.log(V))
    return two_outcomes(0.99, 1e-6, np.full(n, 0.1), rng.random(n) < 0.1, expected, length)


def whole_documents(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """Documents are all good or all bad: tokens of one are copies of each other. For bounds of documents alone."""
    errors = np.repeat(rng.random(-(-n // length)) < 0.1, length)[:n]
    return two_outcomes(0.8, 1e-5, np.full(n, 0.1), errors, np.full(n, 0.5), length)


@functools.cache
def predictors() -> np.ndarray:
    """2^14 predictors of the next of two letters from the last ten, [contexts, predictors]: fixed before any data."""
    return np.random.default_rng(7).integers(0, 2, (1024, 1 << PREDICTOR_BITS)).astype(bool)


def selection(rng: np.random.Generator, n: int, length: int) -> Drawn:
    """The best of 2^14 predictors on a sequence that cannot be predicted: it was only lucky. A bound pays 14 bits."""
    letters = rng.integers(0, 2, n + 10)
    context = sum(letters[i : i + n] << i for i in range(10))
    errors = predictors()[context] ^ letters[10:, None].astype(bool)
    best = errors[:, np.argmin(errors.sum(axis=0, dtype=np.int16))]
    return two_outcomes(0.9, 0.1 / (V - 1), np.full(n, 0.5), best, np.full(n, 0.6), length)


INDEPENDENT = (two_points, coin, exponential, wrong_expectation)
DEPENDENT = (changing_variance, adaptive)
