"""The exact reference: tokens whose pairwise inner products are all equal keep them equal, and one ODE says how.

Let <x_i, x_j> = gamma for all i != j, Q = K = V = I, and let w be the weight of another token: e^{beta gamma} / Z with
Z = e^beta + (n - 1) e^{beta gamma} for SA, e^{beta gamma} / n for USA. A token's pull on itself is normal to the
sphere, so `dx_i/dt = w sum_{k != i} (x_k - gamma x_i)`, and for j != i, splitting off k = j,

    <dx_i/dt, x_j> = w ((1 - gamma^2) + (n - 2)(gamma - gamma^2)) = w (1 - gamma)(1 + (n - 1) gamma).

It is the same for every pair, so all inner products stay equal (the ODE has one solution), and

    dgamma/dt = 2 w (1 - gamma)(1 + (n - 1) gamma)

(geshkovski2023, theorem on orthogonal starts, gamma(0) = 0; the derivation holds from any gamma(0)). Equal inner
products exist for -1/(n - 1) <= gamma <= 1, and both ends are at rest. For n = 2, beta = 0 it is 1 - gamma^2, so that
gamma = tanh t.

Solved in y = -log(1 - gamma), where `dy/dt = 2 w (1 + (n - 1) gamma)` is smooth and not stiff, and where the distance
to one cluster, 1 - gamma = e^{-y}, keeps its relative accuracy however small it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp

from lengthwise.errors import UsageError

Kind = Literal["SA", "USA"]  # attention normalised over the keys, or divided by their number


def gamma(kind: Kind, n: int, beta: float, times: Sequence[float] | np.ndarray, start: float = 0.0) -> np.ndarray:
    """The common inner product of n tokens at `times` (ascending, not negative), from `start` at time 0, to 1e-10."""
    return -np.expm1(-_nearness(kind, n, beta, times, start))


def distance(kind: Kind, n: int, beta: float, times: Sequence[float] | np.ndarray, start: float = 0.0) -> np.ndarray:
    """1 - gamma at `times`, with nine digits however close to 0 it is."""
    return np.exp(-_nearness(kind, n, beta, times, start))


def _nearness(kind: Kind, n: int, beta: float, times: Sequence[float] | np.ndarray, start: float) -> np.ndarray:
    """y = -log(1 - gamma) at `times`."""
    moments = np.array(times, dtype=np.float64)
    _check(kind, n, beta, moments, start)

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        inner = -np.expm1(-y)
        return 2 * weight(kind, n, beta, inner) * (1 + (n - 1) * inner)

    last = float(moments[-1]) if len(moments) else 0.0
    begin = -math.log1p(-start)
    if last == 0:
        return np.full(len(moments), begin)
    # a tolerance on y is one on the relative error of 1 - gamma
    found = solve_ivp(slope, (0.0, last), [begin], method="DOP853", t_eval=moments, rtol=1e-13, atol=1e-13)
    if not found.success:
        raise UsageError(f"gamma could not be followed to time {last:g}: {found.message}")
    return found.y[0]


def weight(kind: Kind, n: int, beta: float, inner: np.ndarray | float) -> np.ndarray | float:
    """The weight of one other token at the inner product `inner`: e^{beta inner} over Z (SA) or over n (USA)."""
    if kind == "USA":
        return np.exp(beta * inner) / n
    relative = np.exp(beta * (inner - 1))
    return relative / (1 + (n - 1) * relative)


def _check(kind: Kind, n: int, beta: float, moments: np.ndarray, start: float) -> None:
    if kind not in ("SA", "USA"):
        raise UsageError(f"the kind of a system must be SA or USA, not {kind!r}")
    if n < 2 or not math.isfinite(beta) or beta < 0:
        raise UsageError(f"gamma needs at least two tokens and a finite beta >= 0, not n = {n} and beta = {beta}")
    if kind == "USA" and beta > 700:
        raise UsageError(f"USA overflows at beta = {beta:g}; take a beta of at most 700, or SA")
    if not -1 / (n - 1) <= start < 1:
        raise UsageError(f"{n} tokens have equal inner products from {-1 / (n - 1):.4g} to below 1, not {start}")
    ascending = moments.ndim == 1 and np.isfinite(moments).all() and (np.diff(moments) >= 0).all()
    if not ascending or (moments < 0).any():
        raise UsageError("times is an ascending list of finite numbers that are not negative")
