"""The inverse temperature of attention as the particle model has it, fitted to weights that were measured.

The model: query i spreads `p_ij(beta) = softmax_j(beta <x_i, x_j>)` over the keys it sees, x being unit vectors. For
measured weights a_ij the fit minimises the deviance `D(beta) = sum_i KL(a_i || p_i(beta))`, which is maximum likelihood
if each query draws keys from its weights. `D` is convex in beta: its derivative is the sum of
`(p_ij(beta) - a_ij) <x_i, x_j>`, and its second derivative a sum of variances. So the least is where the derivative is
0, and there is one, unless every query looks at nothing but the keys most like it (or most unlike it): then beta has no
bound.

How good the fit is: the share of deviance explained, `1 - D(beta) / D(0)`. Beta = 0 spreads evenly, so the share lies
between 0 and 1; 1 is an exact fit. It is not defined where attention is even to begin with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import xlogy

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats

STEEPEST = 1e4  # beta is looked for between this and its negative
EVEN = 1e-9  # nats per query: below it attention is even, and nothing is left to explain


@dataclass(frozen=True)
class BetaFit:
    """The fitted beta; deviances are nats per query. `bounded` says that the least lies inside the range looked at."""

    beta: float
    deviance: float
    null: float
    bounded: bool

    @property
    def explained(self) -> float | None:
        """The share of deviance explained; None for even attention."""
        return None if self.null < EVEN else 1 - self.deviance / self.null


def fit_beta(products: Floats, weights: Floats, visible: NDArray[np.bool_]) -> BetaFit:
    """The beta that fits weights [..., n, m] best, given inner products of the same shape and which keys [n, m] each
    query sees. All leading dimensions are fitted together."""
    if products.shape != weights.shape or products.shape[-2:] != visible.shape:
        shapes = f"{products.shape}, {weights.shape} and {visible.shape}"
        raise UsageError(f"inner products and weights must be [..., n, m] and the visible pairs [n, m], not {shapes}")
    rows = visible.sum(axis=-1) > 1  # a query that sees one key says nothing
    if not rows.any():
        return BetaFit(0.0, 0.0, 0.0, True)
    scores, spent = products[..., rows, :], weights[..., rows, :]
    seen, queries = visible[rows], int(np.prod(products.shape[:-2])) * int(rows.sum())
    wanted = float((spent * np.where(seen, scores, 0.0)).sum())
    entropy = float(xlogy(spent, spent).sum())

    def spread(beta: float) -> tuple[Floats, Floats]:
        """The model's weights, and the log of the sum for each query."""
        logits = np.where(seen, beta * scores, -np.inf)
        top = logits.max(axis=-1, keepdims=True)
        raised = np.exp(logits - top)
        total = raised.sum(axis=-1, keepdims=True)
        return raised / total, (top + np.log(total))[..., 0]

    def slope(beta: float) -> float:
        return float((spread(beta)[0] * scores).sum()) - wanted

    def deviance(beta: float) -> float:
        return max(0.0, entropy - beta * wanted + float((spent.sum(-1) * spread(beta)[1]).sum())) / queries

    ends = {
        sign: float((spent.sum(-1) * np.where(seen, sign * scores, -np.inf).max(axis=-1)).sum()) for sign in (1, -1)
    }
    hard = [sign for sign, most in ends.items() if sign * wanted >= most - 1e-9 * queries]
    beta, bounded = (hard[0] * STEEPEST, False) if len(hard) == 1 else _zero_of(slope)
    return BetaFit(beta, min(deviance(beta), deviance(0.0)), deviance(0.0), bounded)


def _zero_of(slope: Callable[[float], float]) -> tuple[float, bool]:
    """Where a slope that rises is 0, and whether that lies inside the range."""
    if slope(0.0) == 0:
        return 0.0, True
    sign = -1.0 if slope(0.0) > 0 else 1.0
    end = 1.0
    while end < STEEPEST and sign * slope(sign * end) < 0:
        end = min(STEEPEST, 4 * end)
    if sign * slope(sign * end) < 0:
        return sign * end, False
    low, high = sorted((0.0, sign * end))
    return float(brentq(slope, low, high, xtol=1e-10)), True  # pyright: ignore[reportArgumentType]
