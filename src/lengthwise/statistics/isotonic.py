"""The monotone curve nearest to the points: accuracy that may only fall with size, without assuming a shape.

Isotonic regression minimises sum_i w_i (y_i - f_i)^2 over f_1 >= f_2 >= … (or <=, if increasing); barlow1972,
chapter 1. The fit is a step function whose steps are means of neighbouring points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Seeds
from lengthwise.statistics.bootstrap import (
    FEW,
    check_level,
    finite,
    percentile_ends,
    resampling,
    seed_evidence,
    whole_seeds,
)

REFERENCE = Reference("barlow1972", "chapter 1")
SHUFFLES = 999
_RESAMPLES = 1000
_ROUNDING = 1e-9


explain(
    {
        "isotonic.few_sizes": "three sizes are needed",
        "isotonic.constant": "the values never change",
        "isotonic.rises": "the true curve never falls with size",
        "isotonic.falls": "the true curve never rises with size",
    }
)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A monotone fit: sizes in order, the mean of what was measured there, its weight, and the fitted value.

    `curves` holds one row per seed where several were given; the intervals resample those rows.
    """

    x: Floats
    y: Floats
    weights: Floats
    fitted: Floats
    increasing: bool
    curves: Floats
    seeds: tuple[int, ...] = ()
    discarded: tuple[int, ...] = ()
    rule: str = ""

    @property
    def levels(self) -> int:
        """How many steps the fit has; a constant has one."""
        return 1 + int(np.sum(np.diff(self.fitted) != 0))

    def explained(self) -> float | None:
        """The share of the weighted variance over sizes that the fit explains; None where nothing varies."""
        return _explained(self.y, self.weights, self.fitted)

    def claim(self, key: str, level: float = 0.95) -> Claim:
        """How monotone the points are: the share of their variance over sizes that the fit explains.

        The fit is free, so it explains part of pure noise as well: the evidence has the share it explains on average
        when the points are shuffled over the sizes, and the share of shuffles that come as far (the p).
        """
        check_level(level)
        share = self.explained()
        evidence = {**self._evidence(level), "levels": self.levels}
        if share is None or len(self.x) < 3:
            reason = "isotonic.few_sizes" if len(self.x) < 3 else "isotonic.constant"
            violated = (Assumption(reason, "violated"),)
            return Claim(key, None, "", "heuristic", "unknown", None, violated, REFERENCE, evidence)
        shuffled = self._shuffled()
        evidence["share_if_shuffled"] = float(np.mean(shuffled))
        evidence["p_value"] = (1 + int(np.sum(shuffled >= share - _ROUNDING))) / (1 + len(shuffled))
        evidence["p_method"] = f"{len(shuffled)} shuffles of the points over the sizes, one-sided"
        shares = [_explained(y, self.weights, self._fit(y)) for y in self._resampled()]
        # a resampled curve that never changes is monotone
        interval = self._interval([1.0 if one is None else one for one in shares], share, level)
        return Claim(key, share, "", "heuristic", "holds", interval, self._assumptions(level), REFERENCE, evidence)

    def _fit(self, y: Floats) -> Floats:
        return _monotone(y, self.weights, self.increasing)

    def _shuffled(self) -> Floats:
        """The share explained after shuffling the points, weights going with them."""
        generator = np.random.default_rng(Seeds(0).key("isotonic", len(self.x)))
        shares = []
        for _ in range(SHUFFLES):
            order = generator.permutation(len(self.x))
            y, weights = self.y[order], self.weights[order]
            shares.append(_explained(y, weights, _monotone(y, weights, self.increasing)))
        return np.array(shares, dtype=np.float64)

    def _resampled(self) -> Iterable[Floats]:
        """Mean curves over resampled seeds, whatever the order of the seeds; none with fewer than two."""
        n = len(self.curves)
        ordered = np.array(sorted(self.curves.tolist()))
        return resampling(n).counts[:_RESAMPLES] @ ordered / n if n > 1 else []

    def _probabilities(self) -> Floats:
        probabilities = resampling(len(self.curves)).probabilities[:_RESAMPLES]
        return probabilities / probabilities.sum()

    def _interval(self, resampled: Sequence[float], value: float, level: float) -> Interval | None:
        if not resampled:
            return None
        low, high = percentile_ends(np.array(resampled), self._probabilities(), level)
        drawn = resampling(len(self.curves))
        how = str(drawn) if drawn.exact else f"{len(resampled)} resamples"
        return Interval(min(low, value), max(high, value), level, f"percentile bootstrap over seeds, {how}")

    def _assumptions(self, level: float) -> tuple[Assumption, ...]:
        n = len(self.curves)
        assumptions = [Assumption("isotonic.rises" if self.increasing else "isotonic.falls")]
        if n == 1:
            assumptions.append(Assumption("statistics.one", "violated", {"noun": "curve"}))
        elif (self.curves == self.curves[0]).all():
            assumptions.append(Assumption("statistics.equal", "violated", {"n": n, "noun": "curve"}))
        elif n < FEW:
            values = {"n": n, "noun": "seed", "percent": 100 * level}
            assumptions.append(Assumption("statistics.covers_less", "violated", values))
        return tuple(assumptions)

    def _evidence(self, level: float) -> dict[str, Any]:
        return {
            **seed_evidence(self.seeds, self.discarded, self.rule),
            "n": len(self.curves),
            "sizes": len(self.x),
            "level": level,
            "method": f"isotonic regression, {'increasing' if self.increasing else 'decreasing'}",
        }


def isotonic_fit(
    x: Sequence[float],
    y: Sequence[float] | Mapping[int, Sequence[float]],
    weights: Sequence[float] | None = None,
    increasing: bool = False,
    *,
    discarded: Sequence[int] = (),
    rule: str = "",
) -> Isotonic:
    """The monotone fit to one curve, or to the mean of several given as {seed: values}.

    `weights` are per point of x, such as the number of items measured there. Points at the same x are pooled.
    """
    sizes = finite(x, "sizes")
    seeds = whole_seeds(y) if isinstance(y, Mapping) else []
    rows = [finite(y[seed], f"the values of seed {seed}") for seed in seeds] if isinstance(y, Mapping) else []
    rows = rows if isinstance(y, Mapping) else [finite(y, "values")]
    masses = np.ones(len(sizes)) if weights is None else finite(weights, "weights")
    if not len(sizes) or not rows:
        raise UsageError("a fit needs at least one point and one curve")
    for row in (*rows, masses):
        if len(row) != len(sizes):
            raise UsageError(f"{len(sizes)} sizes need as many values and weights, not {len(row)}")
    if (masses <= 0).any():
        raise UsageError(f"weights are above 0, not {masses.min():g}; leave out points without weight")
    seed_evidence(seeds, discarded, rule)
    values, where = np.unique(sizes, return_inverse=True)
    pooled: Floats = np.bincount(where, masses).astype(np.float64)
    curves = np.stack([np.bincount(where, masses * row) / pooled for row in rows])
    mean = curves.mean(axis=0)
    fitted = _monotone(mean, pooled, increasing)
    return Isotonic(values, mean, pooled, fitted, increasing, curves, tuple(seeds), tuple(discarded), rule)


def _monotone(y: Floats, weights: Floats, increasing: bool) -> Floats:
    from scipy.optimize import isotonic_regression

    return isotonic_regression(y, weights=weights, increasing=increasing).x


def _explained(y: Floats, weights: Floats, fitted: Floats) -> float | None:
    around = float(weights @ (y - np.average(y, weights=weights)) ** 2)
    scale = float(weights @ y**2)
    if around <= 1e-24 * scale:  # nothing varies but the last digit
        return None
    return min(1.0, max(0.0, 1 - float(weights @ (y - fitted) ** 2) / around))
