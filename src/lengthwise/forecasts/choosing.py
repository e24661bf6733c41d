"""Choose how much each feature of a case matters, so that every task is forecast best from the other tasks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lengthwise.forecasts.similar import Cases, Relevance, distance, usable
from lengthwise.seeds import Floats

LARGEST, FLOOR = 8.0, (-9.0, -0.5)  # of a relevance; of ln e
_START, _START_FLOOR = 0.7, -4.0
_ITERATIONS = 40
_COARSE = slice(None, None, 5)  # of the grid: enough for choosing relevances
_PENALTY = 1e-3  # on relevances, so that a feature that tells nothing is left out


def chosen(cases: Cases, features: tuple[str, ...], iterations: int = _ITERATIONS) -> Relevance:
    """The relevances that forecast every task of the cases best from the other tasks. O(iterations x cases^2)."""
    found = [distance(cases.features[name], cases.features[name]).astype(np.float32) for name in features]
    gaps = np.stack(found).reshape(len(features), -1) if features else np.zeros((0, len(cases) ** 2), np.float32)
    other = (usable(cases, cases) * cases.weight).astype(np.float32)
    truth = np.concatenate(
        [cases.outcomes[..., _COARSE][..., :-1].reshape(len(cases), -1), cases.holds], axis=1
    ).astype(np.float32)
    there = ~np.isnan(truth)
    known, truth = there.astype(np.float32), np.nan_to_num(truth)
    points = (truth.shape[1] - cases.holds.shape[1]) // max(1, cases.holds.shape[1])
    scale = np.concatenate([np.full(truth.shape[1] - cases.holds.shape[1], 1 / points), np.ones(cases.holds.shape[1])])
    scale = (scale * known * cases.weight[:, None]).astype(np.float32)
    scale /= max(1e-9, float((known[:, -cases.holds.shape[1] :] * cases.weight[:, None]).sum()))

    def loss(vector: Floats) -> tuple[float, Floats]:
        floor, relevance = np.exp(vector[0]), vector[1:].astype(np.float32)
        near = np.exp(-(relevance @ gaps).reshape(other.shape))
        weights = (near + np.float32(floor)) * other
        total = weights @ known
        forecast = (weights @ truth) / np.maximum(total, 1e-20)
        off = (forecast - truth) * scale
        # The derivative of a mean by the weight of case j is (value of j - mean) / total.
        pull = 2 * off / np.maximum(total, 1e-20)
        slope = (pull @ truth.T - (pull * forecast) @ known.T) * other
        by_near = (slope * near).reshape(-1)
        gradient = np.concatenate([[floor * slope.sum()], -(gaps @ by_near)])
        gradient[1:] += _PENALTY
        return float((off * (forecast - truth)).sum() + _PENALTY * relevance.sum()), gradient.astype(float)

    low, high = (np.array([end, *[other] * len(features)]) for end, other in zip(FLOOR, (0.0, LARGEST), strict=True))
    best = _least(loss, np.array([_START_FLOOR, *[_START] * len(features)]), low, high, iterations)
    kept = {name: round(float(value), 3) for name, value in zip(features, best[1:], strict=True)}
    return Relevance(kept, round(float(best[0]), 3))


def _least(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, low: Floats, high: Floats, iterations: int
) -> Floats:
    """The best point found by resilient propagation (riedmiller1993) within bounds: a step of its own for each
    coordinate, which grows while the sign of its derivative stays and is halved when it changes. It needs no more than
    numpy: importing scipy takes longer than all of a forecast."""
    point, step, before = start, np.full(len(start), 0.4), np.zeros(len(start))
    best, least = start, np.inf
    for _ in range(iterations):
        value, slope = loss(point)
        if value < least:
            best, least = point, value
        turned = slope * before < 0
        step = np.where(turned, step / 2, np.where(slope * before > 0, np.minimum(step * 1.3, 2.0), step))
        before = np.where(turned, 0.0, slope)
        point = np.clip(point - step * np.sign(before), low, high)
    return best
