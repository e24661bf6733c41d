"""Exponents fitted by least squares on logarithms, with their standard errors and the points behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError


@dataclass(frozen=True)
class PowerLaw:
    """value = factor · product of cause^exponent. `spread` is the standard deviation of the logarithms left over."""

    exponents: Mapping[str, float]
    errors: Mapping[str, float]
    factor: float
    spread: float
    points: int

    def __str__(self) -> str:
        causes = " · ".join(f"{name}^{power:.3f} (± {self.errors[name]:.3f})" for name, power in self.exponents.items())
        return f"{self.factor:.3g} · {causes}, {self.points} points, spread {self.spread:.3f} of the logarithm"

    def plain(self) -> dict[str, Any]:
        fields = ("factor", "spread", "points")
        return {"exponents": dict(self.exponents), "errors": dict(self.errors)} | {f: getattr(self, f) for f in fields}


def fit_power_law(causes: Mapping[str, Sequence[float]], values: Sequence[float]) -> PowerLaw:
    """Least squares of log value on the logs of the causes. Needs more points than unknowns and positive numbers."""
    columns = [np.asarray(list(column), dtype=np.float64) for column in causes.values()]
    target = np.asarray(list(values), dtype=np.float64)
    if len(target) <= len(columns) + 1:
        raise UsageError(
            f"a fit of {len(columns)} exponents needs at least {len(columns) + 2} points, not {len(target)}"
        )
    if not all(np.all(column > 0) and np.all(np.isfinite(column)) for column in (*columns, target)):
        raise UsageError("a power law is fitted to positive finite numbers")
    design = np.stack([np.ones(len(target)), *map(np.log, columns)], axis=1)
    solution, _, rank, _ = np.linalg.lstsq(design, np.log(target), rcond=None)
    if rank < design.shape[1]:
        raise UsageError("the causes do not vary independently, so their exponents cannot be told apart")
    left = np.log(target) - design @ solution
    variance = float(left @ left) / (len(target) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    names = list(causes)
    return PowerLaw(
        dict(zip(names, map(float, solution[1:]), strict=True)),
        dict(zip(names, map(float, errors[1:]), strict=True)),
        float(np.exp(solution[0])),
        variance**0.5,
        len(target),
    )
