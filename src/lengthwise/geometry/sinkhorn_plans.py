"""Sinkhorn plans: the iteration, and the gradient of a plan from its optimality (proved in docs/attention.md).

Let P = softmax_j(L_ij + G_j) be the plan at the optimum, c = Pᵀ1, and W̄ the gradient of a loss with respect
to P. Then the gradient with respect to L is what softmax gives for W̄_ij - u_j in place of W̄_ij, where u solves

    (diag(c) / κ - PᵀP) u = r,    r_j = Σ_i Z̄_ij,    Z̄_ij = P_ij (W̄_ij - Σ_k P_ik W̄_ik).

With x = diag(c)^½ u the system is (I/κ - QᵀQ) x = diag(c)^-½ r, Q = P diag(c)^-½, ‖Q‖ = 1, so its condition is at most
1 / (1 - κ) = 1 + τ/ε and conjugate gradients need products with the plan alone: memory does not grow with iterations,
neither Sinkhorn's nor these. For κ = 1 the direction of c^½ (a constant added to G) is left out: it moves nothing.

The solution is differentiated as if it were exact, so the gradient is off by as much as the plan is. There is no second
derivative: asking for one raises torch's error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lengthwise.geometry.sinkhorn import Coupling
from lengthwise.geometry.sinkhorn_kernels import Kernel, Logarithms, Products

EVERY = 4  # steps between two evaluations of the error, which cost more than a step
FINEST, MOST = 1e-13, 1000  # of the conjugate gradients: the least relative residual to ask for, iterations
EMPTY = 1e-200  # a column that receives less than this has no part in any gradient


@dataclass(frozen=True, eq=False)
class SinkhornSolution:
    """Logarithmic potentials of a family: F [N, P, n], G [N, P, m] with largest entry 0, -inf for keys nobody sees."""

    kernel: Kernel
    rows: Tensor
    columns: Tensor
    iterations: int
    error: float
    tolerance: float


def coupling(scores: Tensor, epsilon: float, tau: float, tolerance: float, most: int, active: Tensor) -> Coupling:
    """The plans of a family over checked scores [..., n, m], with their gradient."""
    kappa = 1.0 / (1.0 + epsilon / tau) if tau > 0 else 0.0
    if kappa == 0.0 or not scores.numel():
        return Coupling((scores / epsilon).softmax(dim=-1), 0, 0.0, True)
    flat = scores.flatten(0, -3) if scores.dim() > 2 else scores[None]
    logits = flat.double() / epsilon
    with torch.no_grad():
        found = solve(logits.detach(), active, kappa, tolerance, most)
    weights: Tensor = _AttentionPlan.apply(logits, found, kappa).to(scores.dtype).view(scores.shape)
    return Coupling(weights, found.iterations, found.error, found.error <= tolerance)


def solve(logits: Tensor, active: Tensor, kappa: float, tolerance: float, most: int) -> SinkhornSolution:
    """The potentials of a family of problems over logits [N, n, m] (scores over ε), by products where they are safe."""
    logits = logits - logits.amax(dim=-1, keepdim=True)
    seen = active @ logits.isfinite().double() > 0  # [N, P, m]: an active row sees the key
    products = Products(logits, active)
    found = _iterate(products, seen, kappa, tolerance, most)
    if products.safe(found.rows, found.columns, seen):
        return found
    return _iterate(Logarithms(logits, active), seen, kappa, tolerance, most)


def _iterate(kernel: Kernel, seen: Tensor, kappa: float, tolerance: float, most: int) -> SinkhornSolution:
    """Sinkhorn's iteration, in which every problem stops by itself, at a number of steps that is its own.

    G = -κ A + constant, A the logarithmic column sums of the step before. So exp(-ε G / τ) is ∝ exp(G + A): the columns
    that G stands for are known without another power.
    """
    count = kernel.active.sum(dim=-1)[:, None]  # [P, 1] queries
    columns = kernel.scores.new_zeros(seen.shape).masked_fill(~seen, -math.inf)
    before, steps = kernel.scores.new_zeros(seen.shape), 0
    error = kernel.scores.new_full((*seen.shape[:2], 1), math.inf)
    going = error > tolerance
    while True:
        after = kernel.again(columns)
        if steps % EVERY == 0 or steps >= most:
            wrong = (columns + after).exp() - count * (columns + before).softmax(dim=-1)
            error = 0.5 * wrong.abs().sum(dim=-1, keepdim=True) / count
            going = error > tolerance
            if steps >= most or not going.any():
                break
        new = (-kappa * after).masked_fill(~seen, -math.inf)
        columns = columns.where(~going, new - new.amax(dim=-1, keepdim=True))
        before = before.where(~going, after)
        steps += 1
    return SinkhornSolution(kernel, kernel.rows(columns), columns, steps, float(error.max()), tolerance)


class _AttentionPlan(torch.autograd.Function):
    """The weights [N, n, m] of a solution as a function of the logits: row i belongs to the one problem, or to problem
    i where there is one problem per row."""

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
