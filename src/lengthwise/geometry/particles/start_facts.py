"""What can be seen of a start before it moves, and on which the theorems rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.hemispheres import Hemisphere, hemisphere
from lengthwise.geometry.clusters.measures import Floats, on_sphere
from lengthwise.geometry.particles.system import System

CLOSE = 1e-9  # two unit vectors, or two inner products, that differ by less are taken as equal


@dataclass(frozen=True, eq=False)
class StartFacts:
    """One start [n, d] and one system, looked at."""

    points: Floats
    kind: str
    beta: float
    score_norm: float  # the spectral norm of Q^T K; 1 where both are the identity
    plain_scores: bool  # Q^T K is the identity
    plain_values: bool  # V is the identity
    hemisphere: Hemisphere
    rank: int  # the dimension of the span of the points, which V = I with plain scores never leaves
    one_point: bool
    stationary: bool  # no token moves
    symmetric: bool  # -x is a token as often as x is, for every token x
    antipodal_pairs: int  # pairs less than 1.5e-6 radians from opposite
    equal_angle: float | None  # the inner product of all pairs, where it is one

    @property
    def n(self) -> int:
        return self.points.shape[0]

    @property
    def d(self) -> int:
        return self.points.shape[1]


def facts_of(points: ArrayLike, system: System) -> StartFacts:
    """Looks at a start of unit vectors [n, d]; time O(n^2 d)."""
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"theorems are checked for one start [n, d], not for an array of shape {list(x.shape)}")
    if not isinstance(system.beta, int | float) and system.beta.ndim:
        raise UsageError("theorems are checked for one beta, a number, not for a batch of them")
    query, key, value = (_matrix(part, x.shape[1]) for part in (system.query, system.key, system.value))
    scores = query.T @ key
    products = x @ x.T
    pairs = products[np.triu_indices(len(x), 1)]
    one_point = bool(np.linalg.norm(x - x[0], axis=1).max() < CLOSE)
    return StartFacts(
        points=x,
        kind=system.kind,
        beta=float(system.beta),
        score_norm=float(np.linalg.norm(scores, 2)),
        plain_scores=bool(np.allclose(scores, np.eye(len(scores)), atol=1e-12)),
        plain_values=bool(np.allclose(value, np.eye(len(value)), atol=1e-12)),
        hemisphere=hemisphere(x),
        rank=int(np.linalg.matrix_rank(x, tol=CLOSE)),
        one_point=one_point,
        stationary=_stands_still(x, system),
        symmetric=_symmetric(x),
        antipodal_pairs=int((pairs < -1 + 1e-12).sum()),
        equal_angle=float(pairs.mean()) if len(pairs) and np.ptp(pairs) < CLOSE and not one_point else None,
    )


def wendel(n: int, d: int) -> float:
    """The probability that n independent uniform points of S^(d-1) lie in an open hemisphere (wendel1962).

    2^-(n-1) times the sum over k < d of binomial(n - 1, k), which is the probability of fewer than d heads in n - 1
    throws of a coin; 1 where n <= d.
    """
    if n < 1 or d < 1:
        raise UsageError(f"Wendel's theorem needs n >= 1 and d >= 1, not {n} and {d}")
    return sum(math.comb(n - 1, k) for k in range(min(d, n))) / 2 ** (n - 1)


def _matrix(part: Any, d: int) -> Floats:
    return np.eye(d) if part is None else part.detach().cpu().double().numpy()


def _symmetric(x: Floats) -> bool:
    """Whether the tokens, counted as often as they occur, are the same after x -> -x."""
    for point in x:
        same = int((np.linalg.norm(x - point, axis=1) < CLOSE).sum())
        if same != int((np.linalg.norm(x + point, axis=1) < CLOSE).sum()):
            return False
    return True


def _stands_still(x: Floats, system: System) -> bool:
    return bool(system.velocity(torch.from_numpy(x)).norm(dim=-1).max() < CLOSE)
