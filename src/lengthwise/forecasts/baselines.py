"""What a forecast has to beat: the base rate by class and encoding and, for a checkpoint, curves fitted to what
was seen.

A curve gives one value of exact match. As it stands, its forecast is certain of that value, and of holding where the
value is 95 % or more and the run held so far. Calibrated, it is what became of other tasks' runs with similar values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lengthwise.evidence import AtlasRun
from lengthwise.forecasts.cases import seen_to
from lengthwise.forecasts.similar import Cases, Relevance
from lengthwise.seeds import Floats

CURVES = ("persists", "hazard", "weibull", "logistic")
CELL = ("oracle_class", "design")  # the features of the base rate
_SCALES = np.geomspace(0.1, 1e4, 120)  # in training sizes: where the fitted curve comes down
_SHAPES = np.geomspace(0.25, 16, 25)  # how steeply


def base_rate(cases: Cases) -> Relevance:
    """What all tasks of the same class did with the same encoding, each counting once, with one further task that did
    what the average one does."""
    return Relevance(dict.fromkeys(CELL, 30.0), -float(np.log(len(cases))))


def curve_forecasts(runs: Sequence[AtlasRun], seen: float, multiple: float) -> Mapping[str, Floats]:
    """The exact match that each curve gives for every run at a multiple of its training size, from the sizes seen.

    hazard     exp(-n / a): every unit of size fails with the same probability
    weibull    exp(-(n / a)^b)
    logistic   1 / (1 + (n / a)^b), logistic in log n

    a and b are the likeliest on a grid, exact match counting as a share of the items.
    """
    found: dict[str, list[float]] = {name: [] for name in CURVES}
    for run in runs:
        shown = seen_to(run, seen)
        sizes, exact = np.array(shown.sizes) / run.train_size, np.array(shown.exact)
        found["persists"].append(float(exact[-1]))
        for name in CURVES[1:]:
            found[name].append(_fitted(name, sizes, exact, multiple))
    return {name: np.array(values) for name, values in found.items()}


def _fitted(name: str, sizes: Floats, exact: Floats, multiple: float) -> float:
    shapes = np.ones(1) if name == "hazard" else _SHAPES
    scale, shape = (grid.reshape(-1, 1) for grid in np.meshgrid(_SCALES, shapes))
    right = np.clip(_curve(name, sizes, scale, shape), 1e-4, 1 - 1e-4)
    likely = np.log(right) @ exact + np.log(1 - right) @ (1 - exact)
    best = int(np.argmax(likely))
    return float(_curve(name, np.array([multiple]), scale[best], shape[best])[0])


def _curve(name: str, sizes: Floats, scale: Floats, shape: Floats) -> Floats:
    power = np.power(sizes / scale, shape)
    return 1 / (1 + power) if name == "logistic" else np.exp(-power)
