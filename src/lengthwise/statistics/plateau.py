"""Does the loss beyond the training size settle, and where?

The model is loss(n) = P + A exp(-(n - N) / tau) for test sizes n > N, N the training size, P >= 0 the plateau and
tau > 0 the size over which it is approached; A < 0 is a loss that rises to its plateau (as in the figures of izzo2026).
A fit always gives some P. The claim is made only where the data show a plateau: see `plateau`.

From simulation (300 curves each; 6, 12 or 40 sizes between 24 and 100, N = 20, P = 1, A = -0.8 to 0.8, tau = 3 to 20,
noise 0.02 to 0.1): a plateau is claimed for 84 to 100 % of the curves, and the 95 % interval holds P in 93 to 97 % of
those; of constants with noise, 91 to 96 % and 93 to 95 %. Growth without bound (linear, square root, quadratic,
logarithm) with noise 0.05 is called a plateau in at most 3 %. With six sizes, noise can hide growth: a loss that rises
from 0.5 to 2 with noise 0.3 is called a plateau in 14 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats
from lengthwise.statistics.bootstrap import LEVEL, finite, seed_evidence

REFERENCE = Reference("izzo2026", "experiments")
FEWEST = 6
DRIFT = 0.05
_STARTS = 3
_GRID = 42
_ALPHA = 0.05
_LEAST_SHARE = 0.01

explain(
    {
        "plateau.loss": "plateau of the loss",
        "plateau.few_sizes": "{sizes} sizes beyond training are too few; {needed} are needed",
        "plateau.settled": "over the last third the loss changes by less than {share:.0%} of the plateau",
        "plateau.residuals": "residuals are independent, normal and of one size",
        "plateau.beyond": "beyond the largest size the loss continues as the fit does",
        "plateau.drifts": "the last third still drifts by {drift:.3g}, more than {share:.0%} of the plateau",
        "plateau.not_exponential": "the loss drifts over all sizes, but not as an exponential",
        "plateau.far": "at the largest size the fit is still more than {share:.0%} away from the plateau",
    }
)


@dataclass(frozen=True)
class PlateauFit:
    """A fitted curve: P, A and tau (A = 0 is the constant), its residuals, and the standard error of P."""

    level: float
    amplitude: float
    tau: float | None
    residuals: Floats
    error: float
    parameters: int

    @property
    def freedom(self) -> int:
        return len(self.residuals) - self.parameters

    @property
    def noise(self) -> float:
        """The standard deviation of the residuals."""
        return math.sqrt(float(self.residuals @ self.residuals) / self.freedom)

    def left(self, distance: float) -> float:
        """How far the fit still is from its plateau at a distance beyond the training size."""
        return 0.0 if self.tau is None else abs(self.amplitude) * math.exp(-distance / self.tau)


def plateau(
    sizes: Sequence[float],
    losses: Sequence[float],
    train_size: float,
    *,
    key: str = "plateau.loss",
    unit: str = "",
    seeds: Sequence[int] = (),
    discarded: Sequence[int] = (),
    rule: str = "",
) -> Claim:
    """The loss at which test sizes beyond training settle, or why none can be named.

    The exponential is taken if it fits better than a constant (F test at 5 %), else the constant. The interval is from
    the Jacobian of the least-squares fit with Student's t. The status is unknown if
    - fewer than six sizes lie beyond the training size;
    - the last third drifts: a line through it has a slope that is significant at 5 % (noise from the whole fit) and
      changes the loss by more than 5 % of P over that third; under the constant, a line through all sizes likewise;
    - the fitted exponential is, at the largest size, still further than 5 % of P from its plateau.
    Where P is below 1 % of the largest loss, that 1 % takes its place in these rules.
    """
    distances, values = _beyond(sizes, losses, train_size)
    evidence: dict[str, Any] = {**seed_evidence(seeds, discarded, rule), "n": len(values), "level": LEVEL}
    evidence |= {"train_size": float(train_size), "method": "least squares, interval from the Jacobian"}
    if len(values) < FEWEST:
        few = Assumption("plateau.few_sizes", "violated", {"sizes": len(values), "needed": FEWEST})
        return Claim(key, None, unit, "heuristic", "unknown", None, (few,), REFERENCE, evidence)
    fit = _chosen(distances, values)
    scale = max(fit.level, _LEAST_SHARE * float(values.max()))
    third = max(3, math.ceil(len(values) / 3))
    drift, error = _drift(distances[-third:], values[-third:], fit.noise)
    evidence |= {
        "model": "constant" if fit.tau is None else "exponential",
        "limit": fit.level,
        "amplitude": fit.amplitude,
        "tau": fit.tau,
        "residual": fit.noise,
        "mean_of_last_third": float(values[-third:].mean()),
        "sizes_in_last_third": third,
        "drift": drift,
        "drift_error": error,
        "drift_limit": DRIFT * scale,
    }
    reasons = _reasons(distances, values, fit, scale, (drift, error))
    if reasons:
        return Claim(key, None, unit, "heuristic", "unknown", None, tuple(reasons), REFERENCE, evidence)
    half = _student(LEVEL, fit.freedom) * fit.error
    interval = Interval(max(0.0, fit.level - half), fit.level + half, LEVEL, "Jacobian of the fit, Student's t")
    seen = abs(drift) + _student(1 - _ALPHA, fit.freedom) * error <= DRIFT * scale
    assumptions = (
        Assumption("plateau.settled", "checked" if seen else "assumed", {"share": DRIFT}),
        Assumption("plateau.residuals"),
        Assumption("plateau.beyond"),
    )
    return Claim(key, fit.level, unit, "heuristic", "holds", interval, assumptions, REFERENCE, evidence)


def _beyond(sizes: Sequence[float], losses: Sequence[float], train_size: float) -> tuple[Floats, Floats]:
    """Distances beyond the training size, in order, and the losses there."""
    where, values = finite(sizes, "sizes"), finite(losses, "losses")
    (start,) = finite([train_size], "training sizes")
    if len(where) != len(values):
        raise UsageError(f"every size has one loss, not {len(where)} sizes and {len(values)} losses")
    if len(np.unique(where)) != len(where):
        raise UsageError("a size is given twice; give the mean loss of each size once")
    if (values < 0).any():
        raise UsageError(f"a loss is at least 0, not {values.min():g}")
    order = np.argsort(where)
    where, values = where[order], values[order]
    return where[where > start] - start, values[where > start]


def _chosen(distances: Floats, values: Floats) -> PlateauFit:
    """The exponential where it is significantly better than the constant, else the constant."""
    from scipy.stats import f as fisher

    residuals = values - values.mean()
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    constant = PlateauFit(float(values.mean()), 0.0, None, residuals, error, 1)
    total = float(residuals @ residuals)
    if total <= 1e-24 * float(values @ values):
        return constant
    exponential = _exponential(distances, values)
    rest = float(exponential.residuals @ exponential.residuals)
    ratio = (total - rest) / 2 / max(rest / exponential.freedom, 1e-300)
    return exponential if fisher.sf(ratio, 2, exponential.freedom) < _ALPHA else constant


def _exponential(distances: Floats, values: Floats) -> PlateauFit:
    """Least squares over P >= 0, A and log tau, with the largest loss scaled to 1."""
    from scipy.optimize import least_squares

    scale, target = float(values.max()), values / values.max()
    shortest, longest = _range_of_tau(distances)

    def residuals(parameters: Floats) -> Floats:
        p, a, log_tau = parameters
        return p + a * np.exp(-distances / math.exp(log_tau)) - target

    def jacobian(parameters: Floats) -> Floats:
        _, a, log_tau = parameters
        ratio = distances / math.exp(log_tau)
        decay = np.exp(-ratio)
        return np.stack([np.ones_like(decay), decay, a * ratio * decay], axis=1)

    jac: Any = jacobian  # scipy's annotations know only its names of methods
    bounds = ([0, -np.inf, shortest], [np.inf, np.inf, longest])
    found = [
        least_squares(residuals, start, jac, bounds, x_scale="jac", max_nfev=200)
        for start in _starts(distances, target)
    ]
    best = min(found, key=lambda one: float(one.cost))
    p, a, log_tau = map(float, best.x)
    rest, slopes = residuals(best.x), jacobian(best.x)
    spread = np.linalg.pinv(slopes.T @ slopes) * float(rest @ rest) / (len(values) - 3)
    error = scale * math.sqrt(max(float(spread[0, 0]), 0.0))
    return PlateauFit(scale * p, scale * a, math.exp(log_tau), -scale * rest, error, 3)


def _range_of_tau(distances: Floats) -> tuple[float, float]:
    """The logarithms of the least and the greatest tau that the sizes could tell from 0 and from infinity."""
    return math.log(float(np.diff(distances).min()) / 4), math.log(10 * float(distances[-1]))


def _starts(distances: Floats, target: Floats) -> list[Floats]:
    """Where to start the fit: every tau of a grid that is better than its neighbours, with the best P and A for it."""
    shortest, longest = _range_of_tau(distances)
    grid = np.linspace(shortest, longest, _GRID)[1:-1]
    found = []
    for log_tau in grid:
        decay = np.exp(-distances / math.exp(log_tau))
        p, a = _line(decay, target)
        if p < 0:
            p, a = 0.0, float(decay @ target) / float(decay @ decay)
        found.append((float(np.sum((p + a * decay - target) ** 2)), np.array([max(p, 1e-9), a, log_tau])))
    costs = np.array([np.inf, *(cost for cost, _ in found), np.inf])
    low = (costs[1:-1] <= costs[:-2]) & (costs[1:-1] <= costs[2:])
    best = sorted(np.flatnonzero(low), key=lambda i: found[i][0])[:_STARTS]
    return [found[i][1] for i in best]


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope of the least-squares line."""
    centred = x - x.mean()
    square = float(centred @ centred)
    slope = float(centred @ y) / square if square else 0.0
    return float(y.mean()) - slope * float(x.mean()), slope


def _drift(distances: Floats, values: Floats, noise: float) -> tuple[float, float]:
    """How much a line through the points changes from the first to the last, and the standard error of that."""
    span = float(distances[-1] - distances[0])
    centred = distances - distances.mean()
    square = float(centred @ centred)
    return float(centred @ values) / square * span, noise / math.sqrt(square) * span


def _reasons(
    distances: Floats, values: Floats, fit: PlateauFit, scale: float, last: tuple[float, float]
) -> list[Assumption]:
    """Why no plateau can be named; empty if one can."""

    def drifts(drift: float, error: float) -> bool:
        return abs(drift) > DRIFT * scale and abs(drift) > _student(1 - _ALPHA, fit.freedom) * error

    reasons = []
    if drifts(*last):
        reasons.append(Assumption("plateau.drifts", "violated", {"drift": last[0], "share": DRIFT}))
    intercept, slope = _line(distances, values)
    around = values - intercept - slope * distances
    noise = math.sqrt(float(around @ around) / (len(values) - 2))
    if fit.tau is None and drifts(*_drift(distances, values, noise)):
        reasons.append(Assumption("plateau.not_exponential", "violated"))
    if fit.left(float(distances[-1])) > DRIFT * scale:
        reasons.append(Assumption("plateau.far", "violated", {"share": DRIFT}))
    return reasons


def _student(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(0.5 + level / 2, freedom))
