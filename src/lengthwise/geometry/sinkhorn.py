"""Attention as transport: from softmax, with only the query marginals constrained, to plans with both constrained.

Statement. Let S [n, m] be scores, ε > 0 a temperature and τ in [0, ∞]. The semi-relaxed plan is the unique

    P = argmin  -<S, P> + ε Σ P_ij (log P_ij - 1) + τ KL(Pᵀ1 | b),    P >= 0, P 1 = 1, P_ij = 0 where S_ij = -inf,

with b_j = n/m: every query spends 1, and keys are asked, with strength τ, to receive the same. It is

    P_ij = softmax_j((S_ij + g_j) / ε),    g_j = -τ log(c_j / b_j) + constant,    c = Pᵀ1.

τ = 0 gives g = 0: softmax exactly. τ = ∞ gives c = b: doubly stochastic where n = m. (Stationarity in P_ij reads
-S_ij + ε log P_ij + τ log(c_j / b_j) = f_i; the problem is strictly convex.) As rows are exact, multiplying b by a
number changes the divergence by a constant: only the proportions of b count, and a key nobody sees changes nothing.

Iteration (chizat2018, Algorithm 1, with the row constraint hard): make rows exact, then g <- κ (g - ε log(c / b)) with
κ = τ / (τ + ε). Rows answer to g without expanding the largest difference, so the map contracts by κ in that norm.
It stops on the error of optimality, ½ ‖c - ĉ‖₁ / n with ĉ the columns that g stands for (∝ b exp(-g / τ); b itself for
τ = ∞): the share of all attention that is in the wrong column. Every problem of a batch stops by itself and is then
left alone, so its result does not depend on its neighbours.

A causal mask and τ = ∞ do not go together: the only lower triangular doubly stochastic matrix is the identity
(docs/explanation/attention.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

CAUSAL_AND_BALANCED = (
    "tau = inf under a causal mask leaves no choice: a lower triangular doubly stochastic matrix is the identity; "
    "a finite tau, or an encoder, would be right"
)


@dataclass(frozen=True, eq=False)
class Coupling:
    """Attention weights [..., n, m], rows exact, and how well the columns were met.

    `iterations` and `error` are those of the slowest and of the worst problem of the batch; `error` is the share of
    attention in the wrong column. `converged` is False where the limit on iterations came first: the weights are then
    a plan with exact rows and columns that are off by `error`.
    """

    weights: Tensor
    iterations: int
    error: float
    converged: bool


def sinkhorn_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    tau: float = 1.0,
    temperature: float = 1.0,
    causal: bool = False,
    tolerance: float = 1e-7,
) -> tuple[Tensor, Coupling]:
    """Attention in which keys have a budget: the output [..., n, v], and the weights with their convergence.

    query [..., n, d], key [..., m, d] and value [..., m, v] are as in `scaled_dot_product_attention`, and so are the
    scores, query keyᵀ / √d. `mask` is True where a query sees a key, or a floating-point tensor that is added to the
    scores. `tau` = 0 is softmax at this temperature; a larger one makes keys receive more alike, up to `tau` = inf,
    where every key receives n/m. Use `causal` for a decoder (n = m), and no triangular mask: the potentials of one
    masked problem depend on all queries, so early rows would depend on later tokens. It takes O(n³) per iteration.
    """
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        shapes = ", ".join(str(tuple(each.shape)) for each in (query, key, value))
        raise UsageError(f"queries [..., n, d], keys [..., m, d] and values [..., m, v] do not fit together: {shapes}")
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -math.inf)
    found = (sinkhorn_prefixes if causal else sinkhorn)(scores, temperature, tau, tolerance)
    return found.weights @ value, found


def sinkhorn(
    scores: Tensor, epsilon: float = 1.0, tau: float = 1.0, tolerance: float = 1e-9, most: int = 10_000
) -> Coupling:
    """The semi-relaxed plan of scores [..., n, m], -inf where a query does not see a key; [m] is one query.

    O(n m) time per problem and iteration, at most `most` iterations; O(n m) memory per problem, with gradients
    (implicit, see sinkhorn_plans.py) or without. Potentials are float64 whatever the scores are. NaN in gives NaN
    out, as with softmax.
    """
    if scores.dim() == 1:
        one = sinkhorn(scores[None], epsilon, tau, tolerance, most)
        return Coupling(one.weights[0], one.iterations, one.error, one.converged)
    return _solved(scores, epsilon, tau, tolerance, most, scores.new_ones(1, scores.shape[-2]))


def sinkhorn_prefixes(
    scores: Tensor, epsilon: float = 1.0, tau: float = 1.0, tolerance: float = 1e-9, most: int = 10_000
) -> Coupling:
    """Row i of the plan of the first i + 1 queries and keys, for every i: scores [..., n, n] → weights [..., n, n].

    The column potentials of one causally masked problem depend on all of its queries, so its row i knows of later ones.
    Row i here is that of the causally masked problem of the prefix: nothing after i enters it. n problems of up to n x
    n are solved, O(n³) time per head and iteration, in O(n²) memory. Scores above the diagonal are not read. `error` is
    that of the worst prefix.
    """
    if scores.dim() < 2 or scores.shape[-1] != scores.shape[-2]:
        raise UsageError(f"prefixes need scores [..., n, n], one row per query, not {tuple(scores.shape)}")
    if tau == math.inf and scores.shape[-1] > 1:
        raise UsageError(CAUSAL_AND_BALANCED)
    seen = scores.new_ones(scores.shape[-2:]).tril()
    return _solved(scores.masked_fill(seen == 0, -math.inf), epsilon, tau, tolerance, most, seen)


def _solved(scores: Tensor, epsilon: float, tau: float, tolerance: float, most: int, active: Tensor) -> Coupling:
    from lengthwise.geometry.sinkhorn_plans import coupling  # which imports torch

    if not 0 < epsilon < math.inf:
        raise UsageError(f"the temperature epsilon must be above 0 and finite, not {epsilon}")
    if not 0 <= tau <= math.inf:
        raise UsageError(f"tau must be 0 (softmax) or more, up to inf (doubly stochastic), not {tau}")
    if not tolerance > 0 or most < 1:
        raise UsageError(f"the tolerance must be above 0 and the iterations at least 1, not {tolerance} and {most}")
    if not scores.is_floating_point():
        raise UsageError(f"scores must be real numbers in floating point, not {scores.dtype}")
    if scores.numel() and bool((scores == -math.inf).all(dim=-1).any()):
        raise UsageError("a query that sees no key has nothing to attend to; every row needs a score above -inf")
    if tau == math.inf:
        _check_balanced(scores)
    return coupling(scores, epsilon, tau, tolerance, most, active.double())


def _check_balanced(scores: Tensor) -> None:
    hidden = scores == -math.inf
    rows, columns = scores.shape[-2:]
    if rows == columns > 1:
        upper = hidden.new_ones(rows, columns).triu(1)
        if bool((hidden | ~upper).flatten(-2).all(dim=-1).any()):
            raise UsageError(CAUSAL_AND_BALANCED)
    if bool(hidden.all(dim=-2).any()):
        raise UsageError("tau = inf gives every key its share, and a key that no query sees can have none")
