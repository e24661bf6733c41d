"""The gradient of a Sinkhorn plan, from its optimality and not from its iterations.

Statement. Let P = softmax_j(L_ij + G_j) be the plan at the optimum, c = Pᵀ1, and W̄ the gradient of a loss with respect
to P. Then the gradient with respect to L is what softmax gives for W̄_ij - u_j in place of W̄_ij, where u solves

    (diag(c) / κ - PᵀP) u = r,    r_j = Σ_i Z̄_ij,    Z̄_ij = P_ij (W̄_ij - Σ_k P_ik W̄_ik).

Proof. G minimises Ψ(G) = Σ_i log Σ_j exp(L_ij + G_j) + ρ⁻¹ Σ_j b_j exp(-ρ G_j), ρ = ε/τ, whose derivative is
c - b exp(-ρ G). At the optimum its second derivative is diag(c) - PᵀP + ρ diag(c) = diag(c)/κ - PᵀP =: A, as
1 + ρ = 1/κ. Moving L moves c by dc_j = Σ_i P_ij (dL_ij - Σ_k P_ik dL_ik), so dG = -A⁻¹ dc. A loss reads
<Z̄, dL> + <r, dG> = <Z̄, dL> - <A⁻¹ r, dc> = <Z̄, dL> - Σ_ij P_ij (u_j - Σ_k P_ik u_k) dL_ij. ∎

With x = diag(c)^½ u the system is (I/κ - QᵀQ) x = diag(c)^-½ r, Q = P diag(c)^-½, ‖Q‖ = 1, so its condition is at most
1 / (1 - κ) = 1 + τ/ε and conjugate gradients need products with the plan alone: memory does not grow with iterations,
neither Sinkhorn's nor these. For κ = 1 the direction of c^½ (a constant added to G) is left out: it moves nothing.

The solution is differentiated as if it were exact, so the gradient is off by as much as the plan is. There is no second
derivative: asking for one raises torch's error.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.geometry.sinkhorn import SinkhornSolution

FINEST, MOST = 1e-13, 1000  # of the conjugate gradients: the least relative residual to ask for, iterations
EMPTY = 1e-200  # a column that receives less than this has no part in any gradient


def attached(logits: Tensor, found: SinkhornSolution, kappa: float) -> Tensor:
    """The weights [N, n, m] of a solution as a function of the logits: row i belongs to the one problem, or to problem
    i where there is one a row."""
    return _plan_function().apply(logits, found, kappa)


@functools.cache
def _plan_function() -> Any:
    """The autograd function, made when first used so that importing this module does not import torch."""
    import torch
    from torch.autograd.function import once_differentiable

    class AttentionPlan(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, logits: Tensor, found: SinkhornSolution, kappa: float) -> Tensor:  # noqa: ARG004
            weights = (found.kernel.scores + found.columns).softmax(dim=-1)
            ctx.found, ctx.kappa = found, kappa
            ctx.save_for_backward(weights)
            return weights

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore
            (weights,) = ctx.saved_tensors
            return plan_gradient(ctx.found, weights, gradient, ctx.kappa), None, None

    return AttentionPlan


def plan_gradient(found: SinkhornSolution, weights: Tensor, gradient: Tensor, kappa: float) -> Tensor:
    """The gradient with respect to the logits [N, n, m] from that with respect to the weights."""
    direct = weights * (gradient - (weights * gradient).sum(dim=-1, keepdim=True))
    pull = direct.sum(dim=1, keepdim=True) if len(found.kernel.active) == 1 else direct  # r [N, P, m]
    prices = _adjoint(found, pull, kappa)
    means = found.kernel.average(found.rows, found.columns, prices)
    return direct - found.kernel.deviation(found.rows, found.columns, prices, means)


def _adjoint(found: SinkhornSolution, pull: Tensor, kappa: float) -> Tensor:
    """u [N, P, m] by conjugate gradients, in which every problem stops by itself."""
    kernel, rows, columns = found.kernel, found.rows, found.columns
    received = kernel.collect(rows, columns, rows.new_ones(rows.shape))
    root = received.sqrt()
    inverse = (1.0 / root).where(received > EMPTY, 0.0)
    constant = root / root.norm(dim=-1, keepdim=True)

    def applied(x: Tensor) -> Tensor:
        inner = kernel.collect(rows, columns, kernel.average(rows, columns, inverse * x))
        return projected(x / kappa - inverse * inner)

    def projected(x: Tensor) -> Tensor:
        return x if kappa < 1.0 else x - constant * (constant * x).sum(dim=-1, keepdim=True)

    residual = projected(inverse * pull)
    x, direction = residual.new_zeros(residual.shape), residual
    size = residual.square().sum(dim=-1, keepdim=True)
    small = size * max(found.tolerance, FINEST) ** 2  # as exact as the plan itself
    for _ in range(MOST):
        going = size > small
        if not going.any():
            break
        image = applied(direction)
        curvature = (direction * image).sum(dim=-1, keepdim=True)
        going = going & (curvature > 1e-14 * direction.square().sum(dim=-1, keepdim=True))  # else it moves nothing
        step = (size / curvature).where(going, 0.0)
        x, residual = x + step * direction, residual - step * image
        new = residual.square().sum(dim=-1, keepdim=True).where(going, 0.0)
        direction = residual + (new / size).where(going, 0.0) * direction
        size = new
    return inverse * x
