"""How wide a network must be for an error: Barron's bound, a network that attains it, and rates with depth.

Barron 1993: if f has a Fourier representation with C = integral of |w| |f^(w)| dw, then for each n, each radius r and
each probability law on the ball of radius r, some network f(0) + sum of n step units has a root mean square error of at
most 2 r C / sqrt(n). The proof in docs/limit.md draws the units at random; `sampled_gaussian` does so for exp(-|x|²/2),
whose C is known, so that the bound can be compared with a measured error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats, Seeds

BARRON = Reference("barron1993", "root mean square error 2 r C / sqrt(n); proof in docs/limit.md")
explain(
    {
        "width.enough": "width that is enough, one hidden layer",
        "width.deep": "width needed with {layers} hidden layers",
        "width.fourier": "f has a Fourier representation with this first moment C, which must be known",
        "width.ball": "inputs lie in the ball of this radius; the error is a root mean square, not a maximum",
        "width.exists": "such weights exist; training may not find them",
        "width.range": "smoothness times layers is at most 1/2 and the error below 1",
        "width.constant": "the constant is unknown: exponents and ratios between depths are meaningful",
        "width.recalled": "exponents are partly recalled from an abstract (arXiv:2507.06789); the proof was not "
        "checked here",
    }
)


def barron_width(error: float, constant: float, radius: float = 1.0) -> Claim:
    """Units that are enough for a root mean square error: ceil((2 r C / error)²), one hidden layer of steps."""
    _positive(error=error, constant=constant, radius=radius)
    return Claim(
        "width.enough",
        math.ceil((2 * radius * constant / error) ** 2),
        "units",
        "proved",
        assumptions=tuple(map(Assumption, ("width.fourier", "width.ball", "width.exists"))),
        reference=BARRON,
        evidence={"error": error, "constant": constant, "radius": radius, "formula": "ceil((2 r C / error)²)"},
    )


def deep_width(error: float, smoothness: float, layers: int) -> Claim:
    """The order of width at a depth: error^(-1/(s L)) for a target of spectral smoothness s, if s L <= 1/2."""
    _positive(error=error, smoothness=smoothness, layers=layers)
    applies = smoothness * layers <= 0.5 and error < 1
    power = 1 / (smoothness * layers)
    return Claim(
        "width.deep",
        f"C · error^-{power:.4g} = C · {error**-power:.3g}, C unknown" if applies else None,
        "units",
        "heuristic",
        "holds" if applies else "refused",
        assumptions=(
            Assumption("width.range", "checked" if applies else "violated"),
            Assumption("width.constant"),
            Assumption("width.recalled"),
        ),
        reference=Reference("spectralbarron2025", "rate N^(-s L) for L hidden layers, N^(-s) for one"),
        evidence={"error": error, "smoothness": smoothness, "layers": layers, "exponent": power},
    )


def gaussian_constant(dimension: int) -> float:
    """C of exp(-|x|²/2) in this many dimensions: the mean length of a standard normal vector."""
    return math.sqrt(2) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))


@dataclass(frozen=True)
class StepNetwork:
    """f(x) = 1 + sum over units of weight · [direction · x > threshold]."""

    directions: Floats
    thresholds: Floats
    weights: Floats

    def __call__(self, points: Floats) -> Floats:
        return 1.0 + (points @ self.directions.T > self.thresholds) @ self.weights


@dataclass(frozen=True)
class BarronCheck:
    """Root mean square errors of networks drawn at random, their root mean square, and Barron's bound."""

    errors: tuple[float, ...]
    bound: float

    @property
    def error(self) -> float:
        return math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))


def check_barron(dimension: int, units: int, radius: float = 1.0, draws: int = 8, points: int = 2000) -> BarronCheck:
    """Draw networks for exp(-|x|²/2) and measure their errors on points uniform in the ball."""
    if min(dimension, units, draws, points) < 1:
        raise UsageError("dimension, units, draws and points are at least 1")
    _positive(radius=radius)
    random = np.random.default_rng(Seeds(0).key("ball", dimension, points))
    normal = random.standard_normal((points, dimension))
    lengths = radius * random.random(points) ** (1 / dimension)
    x = normal / np.linalg.norm(normal, axis=1, keepdims=True) * lengths[:, None]
    wanted = np.exp(-(x**2).sum(axis=1) / 2)
    errors = [
        float(np.sqrt(np.mean((sampled_gaussian(dimension, units, radius, seed)(x) - wanted) ** 2)))
        for seed in range(draws)
    ]
    bound = 2 * radius * gaussian_constant(dimension) / math.sqrt(units)
    return BarronCheck(tuple(errors), bound)


def sampled_gaussian(dimension: int, units: int, radius: float, seed: int = 0) -> StepNetwork:
    """The network of Barron's proof for exp(-|x|²/2): its mean over draws is the function itself on the ball.

    A frequency w is drawn with density |w| times the normal density over C, a threshold u uniform on [0, r], a sign;
    the unit is -(2 r C / n) sin(|w| u) [± w·x/|w| > u]. |w| then has the chi law of dimension + 1.
    """
    random = np.random.default_rng(Seeds(seed).key("units", dimension, units))
    length = np.sqrt(random.chisquare(dimension + 1, units))
    normal = random.standard_normal((units, dimension))
    sign = random.choice([-1.0, 1.0], units)
    directions = sign[:, None] * normal / np.linalg.norm(normal, axis=1, keepdims=True)
    thresholds = radius * random.random(units)
    weights = -2 * radius * gaussian_constant(dimension) * np.sin(length * thresholds) / units
    return StepNetwork(directions, thresholds, weights)


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise UsageError(f"{name} is above 0 and finite, not {value}")
