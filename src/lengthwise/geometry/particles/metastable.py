"""Tokens in separated caps: how long they certainly stay, and when each cap has certainly shrunk.

Every token begins in one of k caps {x : <x, w_q> >= 1 - epsilon}; alpha is the greatest inner product of two points of
different caps of twice that size, {x : <x, w_q> >= 1 - 2 epsilon}. Two statements are used.

**Caps persist** (proved here; geshkovski2024, section 2, step 1 has the time (epsilon / n) e^((1 - alpha) beta)). Let
theta_q be the greatest angle between w_q and a token of cap q, and let x_i be at that angle. Then d<x_i, w_q>/dt is
the sum over j of a_ij (<x_j, w_q> - <x_i, x_j> <x_i, w_q>). A token of the same cap has <x_j, w_q> >= <x_i, w_q> > 0,
so its term is not negative. A term of any other is at least -a_ij |Proj_(x_i) w_q| = -a_ij sin(theta_q). Hence theta_q
grows at most at the speed W, the total weight of tokens of other caps. While all tokens are in the double caps, tokens
of one cap have inner products of at least c = 2 (1 - 2 epsilon)^2 - 1, so for SA
W <= B / (e^beta + (n_q - 1) e^(c beta) + B) with B = (n - n_q) e^(alpha beta), and for USA W <= B / n. So nobody leaves
the double caps before (arccos(1 - 2 epsilon) - arccos(1 - epsilon)) / max_q W. Needs no condition but 2 epsilon < 1.

**Caps shrink** (geshkovski2024, theorem of section 2). For beta > 1, epsilon < 1/16 and
gamma = 1 - alpha - 8 epsilon - log(2 n^2 / epsilon) / beta > 0, tokens of one cap have
|x_i - x_j|^2 <= 2 e^(-lambda beta) from T1 = 2 n e^(8 epsilon beta) + e n lambda beta^2 / (beta - 1) until T2, the
published time above. Lambda is bounded twice, and the first bound has a wrong sign in print: with
c = (beta - 1) epsilon / (beta^2 n^2 e), what makes T1 < T2 is lambda < c e^((1 - alpha) beta) (1 - e^(-gamma beta)), as
(epsilon / n) e^((1 - alpha - gamma) beta) = 2 n e^(8 epsilon beta) by the definition of gamma. There USA has weights
e^(beta (<x_i, x_j> - 1)) / n; with e^(beta <x_i, x_j>) / n, as here, all times are e^beta shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from lengthwise.geometry.clusters import Floats

WIDEST = 1 / 16  # of epsilon, in the theorem
MOST_CAPS = 64
_LARGEST = 690.0  # of an exponent


@dataclass(frozen=True, eq=False)
class Caps:
    """A way to see a start as separated caps, with the times that follow."""

    labels: np.ndarray  # [n], the cap of each token
    centres: Floats  # [k, d]
    epsilon: float
    alpha: float
    gamma: float  # the theorem's condition is gamma > 0
    foreign: float  # W, the greatest speed at which a token can leave
    persists: float  # nobody leaves the double caps before this time
    published: float  # the same by the published formula
    unit_speed: float  # the same if nothing were known but that speeds are at most 1 (SA) or e^beta (USA)
    decay: float | None  # lambda, where gamma > 0
    shrinks: float | None  # T1, where gamma > 0 and T1 is no more than 10^300

    @property
    def k(self) -> int:
        return len(self.centres)


def find_caps(points: Floats, kind: str, beta: float) -> Caps | None:
    """The caps with the greatest gamma if one is above 0, else those that persist longest; None if there are none.

    Candidates: the groups of single linkage at every level of 2 to 64 groups, centred at their mean directions, and 24
    values of epsilon from the least that covers the tokens up to 1/16. Other caps may give longer times.
    """
    if len(points) < 2:
        return None
    tree = linkage(points, "single")
    found: list[Caps] = []
    for k in range(2, min(len(points), MOST_CAPS) + 1):
        labels = np.unique(fcluster(tree, k, "maxclust"), return_inverse=True)[1]
        if labels.max() + 1 == k and (centres := _centres(points, labels, k)) is not None:
            found += _at_each_size(points, labels, centres, kind, beta)
    best = max(found, key=lambda caps: caps.gamma, default=None)
    if best is None or best.gamma > 0:
        return best
    return max(found, key=lambda caps: caps.persists)


def _centres(points: Floats, labels: np.ndarray, k: int) -> Floats | None:
    sums = np.stack([points[labels == q].sum(0) for q in range(k)])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / lengths if lengths.min() > 1e-9 else None


def _at_each_size(points: Floats, labels: np.ndarray, centres: Floats, kind: str, beta: float) -> list[Caps]:
    least = float((np.linalg.norm(points - centres[labels], axis=1) ** 2 / 2).max()) * (1 + 1e-9)
    if least >= WIDEST:
        return []
    sizes = np.geomspace(max(least, 1e-6), WIDEST * (1 - 1e-9), 24)
    return [caps for epsilon in sizes if (caps := _caps(labels, centres, float(epsilon), kind, beta)) is not None]


def _caps(labels: np.ndarray, centres: Floats, epsilon: float, kind: str, beta: float) -> Caps | None:
    n, k = len(labels), len(centres)
    between = np.arccos(np.clip((centres @ centres.T)[np.triu_indices(k, 1)], -1, 1)).min()
    wide = math.acos(1 - 2 * epsilon)
    if between <= 2 * wide:
        return None  # the double caps meet
    alpha = math.cos(between - 2 * wide)
    inside = np.bincount(labels, minlength=k)
    foreign = _foreign_weight(n, inside, alpha, epsilon, kind, beta)
    path = wide - math.acos(1 - epsilon)
    clock = 1.0 if kind == "SA" else math.exp(-beta)
    gamma = 1 - alpha - 8 * epsilon - (math.log(2 * n**2 / epsilon) / beta if beta else math.inf)
    decay = shrinks = None
    if gamma > 0 and beta > 1:
        decay = 0.5 * _greatest_decay(n, alpha, epsilon, gamma, beta)
        if 8 * epsilon * beta < _LARGEST:
            shrinks = clock * (2 * n * math.exp(8 * epsilon * beta) + math.e * n * decay * beta / (1 - 1 / beta))
    return Caps(
        labels=labels,
        centres=centres,
        epsilon=epsilon,
        alpha=alpha,
        gamma=gamma,
        foreign=foreign,
        persists=path / max(foreign, math.exp(-_LARGEST)),  # about 10^300 where it is more
        published=clock * epsilon / n * _exp((1 - alpha) * beta),
        unit_speed=path * clock,
        decay=decay,
        shrinks=shrinks,
    )


def _foreign_weight(n: int, inside: np.ndarray, alpha: float, epsilon: float, kind: str, beta: float) -> float:
    """W of the module's text, the greatest over the caps; computed relative to e^beta, so that nothing overflows."""
    others = (n - inside) * np.exp(-(1 - alpha) * beta)
    if kind == "USA":
        return float(others.max() / n) * math.exp(beta)
    near = 2 * (1 - 2 * epsilon) ** 2 - 1
    own = 1 + (inside - 1) * np.exp((near - 1) * beta)
    return float((others / (own + others)).max())


def _greatest_decay(n: int, alpha: float, epsilon: float, gamma: float, beta: float) -> float:
    """The bound on lambda of the module's text: the lesser of the two conditions."""
    share = (1 - 1 / beta) * epsilon / (beta * n**2 * math.e)
    first = share * _exp((1 - alpha) * beta) * -math.expm1(-gamma * beta)
    return min(first, 1 - alpha - math.log(2 * n**2 / (1 - 8 * epsilon)) / beta - 8 * epsilon)


def _exp(exponent: float) -> float:
    """e^exponent, or about 10^300 where it is more: the times made from it are lower bounds, and stay so."""
    return math.exp(min(exponent, _LARGEST))
