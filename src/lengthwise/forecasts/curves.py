"""Curves fitted to exact match by size, and the values that they reach beyond."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.evidence import AtlasRun
from lengthwise.seeds import Floats

CURVES = ("persists", "hazard", "weibull", "logistic")
_SCALES = np.geomspace(0.1, 1e4, 120)  # in training sizes: where the fitted curve comes down
_SHAPES = np.geomspace(0.25, 16, 25)  # how steeply


def curve_forecasts(name: str, shown: Sequence[AtlasRun], multiples: Sequence[float]) -> Floats:
    """The exact match that a curve gives for every run at multiples of its training size, [runs, multiples], from the
    sizes that the runs show.

    persists   the last value
    hazard     exp(-n / a): every unit of size fails with the same probability
    weibull    exp(-(n / a)^b)
    logistic   1 / (1 + (n / a)^b), logistic in log n

    a and b are the likeliest on a grid, exact match counting as a share of the items.
    """
    if name == "persists":
        return np.array([[run.exact[-1]] * len(multiples) for run in shown]).reshape(len(shown), len(multiples))
    scale, shape = (grid.reshape(-1, 1) for grid in np.meshgrid(_SCALES, np.ones(1) if name == "hazard" else _SHAPES))
    known: dict[tuple[float, ...], tuple[Floats, Floats]] = {}  # many runs have the same grid of sizes
    found = []
    for run in shown:
        sizes, exact = tuple(size / run.train_size for size in run.sizes), np.array(run.exact)
        if sizes not in known:
            right = np.clip(_curve(name, np.array(sizes), scale, shape), 1e-4, 1 - 1e-4)
            known[sizes] = np.log(right), np.log(1 - right)
        right, wrong = known[sizes]
        best = int(np.argmax(right @ exact + wrong @ (1 - exact)))
        found.append(_curve(name, np.array(multiples, dtype=float), scale[best], shape[best]))
    return np.array(found).reshape(len(shown), len(multiples))


def _curve(name: str, sizes: Floats, scale: Floats, shape: Floats) -> Floats:
    power = np.power(sizes / scale, shape)
    return 1 / (1 + power) if name == "logistic" else np.exp(-power)
