"""What Sinkhorn's iteration asks of its scores: sums over rows, over columns, and products with the plans.

A *family* is P problems over the same scores L [N, n, m] (in units of the temperature, the largest of a row being 0)
that differ in which rows take part: `active` [P, n] holds 1 and 0. Problem p has the plan

    P^(p)_rj = active_pr exp(L_rj + F_pr + G_pj)

with logarithmic potentials F [N, P, n] and G [N, P, m]; every active row sums to 1. One problem is a family of one;
the prefixes of a sequence are a family of n, with `active` lower triangular.

`Products` keeps K = exp(L) and works by matrix products, so P problems cost O(P n m) time and only O(n m + P (n + m))
memory. `Logarithms` forms one plan at a time, with the largest term taken out of every sum, and is right for scores of
any size. Both do the same iteration, so which of them was used changes the result by rounding alone.
"""

from __future__ import annotations

import abc
import math

import torch
from torch import Tensor

# Factors are at most 1, so what underflow takes from a sum of n terms is below n 1e-307. A sum above this bound
# therefore has all the digits of a double.
LEAST = 1e-280


class Kernel(abc.ABC):
    """Scores and who takes part; all tensors are float64."""

    def __init__(self, scores: Tensor, active: Tensor) -> None:
        self.scores, self.active = scores, active

    @abc.abstractmethod
    def rows(self, columns: Tensor) -> Tensor:
        """F [N, P, n] that makes active rows sum to 1 given G [N, P, m]; 0 for rows that take no part."""

    @abc.abstractmethod
    def columns(self, rows: Tensor) -> Tensor:
        """log Σ_r active_pr exp(L_rj + F_pr), [N, P, m]; -inf for a key that no active row sees."""

    def again(self, columns: Tensor) -> Tensor:
        """The column sums after the rows were made exact: one step of the iteration."""
        return self.columns(self.rows(columns))

    @abc.abstractmethod
    def average(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:
        """P^(p) u for u [N, P, m]: what each active row reads on average, [N, P, n]."""

    @abc.abstractmethod
    def collect(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:
        """P^(p)ᵀ y for y [N, P, n]: what each column receives, [N, P, m]."""

    @abc.abstractmethod
    def deviation(self, rows: Tensor, columns: Tensor, values: Tensor, means: Tensor) -> Tensor:
        """Σ_p P^(p)_rj (u_pj - y_pr) for u [N, P, m] and y = P^(p) u, [N, n, m]."""


class Products(Kernel):
    """By matrix products of exponentials; `safe` says afterwards whether underflow left all digits."""

    def __init__(self, scores: Tensor, active: Tensor) -> None:
        super().__init__(scores, active)
        self.kernel = scores.exp()
        self.resting = 1.0 - active

    def rows(self, columns: Tensor) -> Tensor:
        sums = columns.exp() @ self.kernel.mT * self.active + self.resting
        return -sums.log()

    def columns(self, rows: Tensor) -> Tensor:
        return ((rows.exp() * self.active) @ self.kernel).log()

    def again(self, columns: Tensor) -> Tensor:
        """Without the logarithm of the rows, which the exponential would only undo."""
        scaling = self.active / (columns.exp() @ self.kernel.mT + self.resting)
        return (scaling @ self.kernel).log()

    def average(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:
        return rows.exp() * self.active * ((columns.exp() * values) @ self.kernel.mT)

    def collect(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:
        return columns.exp() * ((rows.exp() * self.active * values) @ self.kernel)

    def deviation(self, rows: Tensor, columns: Tensor, values: Tensor, means: Tensor) -> Tensor:
        left, right = rows.exp() * self.active, columns.exp()
        return self.kernel * (left.mT @ (right * values) - (left * means).mT @ right)

    def safe(self, rows: Tensor, columns: Tensor, seen: Tensor) -> bool:
        """Whether the sums behind these potentials were all above LEAST times their largest factor; not so for NaN.

        The largest G of a problem is 0. `seen` [N, P, m] marks the keys that an active row sees."""
        bound = math.log(LEAST)
        of_columns = self.columns(rows) - rows.amax(dim=-1, keepdim=True)
        enough = (-rows >= bound).all() & (of_columns.masked_fill(~seen, 0.0) >= bound).all()
        return bool(enough & ~columns.isnan().any())


class Logarithms(Kernel):
    """Problem by problem, with the largest term taken out of every sum."""

    def rows(self, columns: Tensor) -> Tensor:
        found = [-(self.scores + columns[:, p, None, :]).logsumexp(dim=2) for p in range(len(self.active))]
        return torch.stack(found, dim=1).masked_fill(self.active == 0, 0.0)

    def columns(self, rows: Tensor) -> Tensor:
        found = [
            (self.scores + (rows[:, p] + self.active[p].log())[:, :, None]).logsumexp(dim=1)
            for p in range(len(self.active))
        ]
        return torch.stack(found, dim=1)

    def average(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:  # noqa: ARG002
        plans = (self._plan(columns, p) @ values[:, p, :, None] for p in range(len(self.active)))
        return torch.stack([each[..., 0] for each in plans], dim=1)

    def collect(self, rows: Tensor, columns: Tensor, values: Tensor) -> Tensor:  # noqa: ARG002
        plans = (values[:, p, None, :] @ self._plan(columns, p) for p in range(len(self.active)))
        return torch.stack([each[:, 0] for each in plans], dim=1)

    def deviation(self, rows: Tensor, columns: Tensor, values: Tensor, means: Tensor) -> Tensor:  # noqa: ARG002
        total = self.scores.new_zeros(self.scores.shape)
        for p in range(len(self.active)):
            total += self._plan(columns, p) * (values[:, p, None, :] - means[:, p, :, None])
        return total

    def _plan(self, columns: Tensor, p: int) -> Tensor:
        # Rows are normalised here and not by F: at scores of 1e7 its digits would not make them sum to 1.
        plan = (self.scores + columns[:, p, None, :]).softmax(dim=2)
        return plan.masked_fill(self.active[p][:, None] == 0, 0.0)  # a row that takes no part may see nothing: NaN
