"""Tokens as particles: how fast each one moves on the sphere, given where all of them are.

With `Proj_x y = y - <x, y> x`, scores `s_ij = beta <Q x_i, K x_j>` and values `V x_j`:

- SA: `dx_i/dt = Proj_{x_i} sum_j e^{s_ij} V x_j / sum_j e^{s_ij}`, self-attention, normalised over the keys;
- USA: `dx_i/dt = Proj_{x_i} (1/n) sum_j e^{s_ij} V x_j`, its unnormalised sibling.

(geshkovski2023, equations SA and USA.) Depth is time: a residual block with layer norm is one Euler step.

For Q = K = V = I both increase the energy `E = 1/(2 beta n^2) sum_ij e^{beta <x_i, x_j>}`. Write m_i for the sum
`sum_j e^{beta <x_i, x_j>} x_j`; the gradient of E in x_i on the sphere is `Proj m_i / n^2`. Under USA `dx_i/dt` is n
times that gradient; under SA it is n^2 / Z_i times it with Z_i = sum_j e^{beta <x_i, x_j>} > 0. Either way
`dE/dt = sum_i c_i |gradient_i|^2 >= 0`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention as attend

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.equal_angles import Kind

_BLOCK = 1 << 20  # scores in memory at once: they stay in the cache between the two matrix products


@dataclass(frozen=True, eq=False)
class System:
    """Tokens on the sphere S^(d-1) that attract each other.

    `kind` is "SA" (normalised over the keys) or "USA" (divided by their number). `beta` is the inverse temperature, a
    number or a tensor with one for each system of a batch. `query`, `key` and `value` are [d, d]; None is the identity.
    """

    kind: Kind
    beta: float | Tensor
    query: Tensor | None = None
    key: Tensor | None = None
    value: Tensor | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UsageError(f"the kind of a system must be SA or USA, not {self.kind!r}")
        if isinstance(self.beta, int | float):
            numbers = [float(self.beta)]
        else:
            _check_tensor("beta", self.beta)
            numbers = self.beta.flatten().tolist()
        if not all(math.isfinite(beta) and beta >= 0 for beta in numbers):
            raise UsageError("beta is a finite number that is not negative; repulsion is value = -identity")
        for name in ("query", "key", "value"):
            matrix = getattr(self, name)
            if matrix is None:
                continue
            _check_tensor(name, matrix)
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
                raise UsageError(f"{name} must be a square matrix [d, d], not of shape {list(matrix.shape)}")

    def velocity(self, x: Tensor) -> Tensor:
        """The tangent vectors along which unit vectors x [..., n, d] move, in the type of x.

        SA holds for any beta: softmax is taken relative to the greatest score. USA is refused where e^score overflows.
        Time O(n^2 d) per system, memory O(n d) for SA, and at most 2^20 scores (or one row of a batch) for USA.
        """
        self.check(x)
        pull = self._normalised(x) if self.kind == "SA" else self._unnormalised(x)
        return pull - (pull * x).sum(-1, keepdim=True) * x

    def only(self, rows: Tensor | Sequence[int]) -> System:
        """The same system for some rows of a batch with one leading dimension."""
        if isinstance(self.beta, int | float) or self.beta.ndim == 0:
            return self
        return replace(self, beta=self.beta[rows])

    @property
    def plain(self) -> bool:
        """Whether Q, K and V were left to be the identity; then the energy cannot fall."""
        return self.query is self.key is self.value is None

    @property
    def scores(self) -> Tensor | None:
        """Q^T K in float64; None is the identity, which in many dimensions would be the largest array of all."""
        query, key = (None if one is None else one.double() for one in (self.query, self.key))
        return key if query is None else query.mT if key is None else query.mT @ key

    def flat(self) -> System:
        """The same system for a batch whose leading dimensions were made one."""
        if isinstance(self.beta, int | float) or self.beta.ndim == 0:
            return self
        return replace(self, beta=self.beta.reshape(-1))

    def check(self, x: Tensor) -> None:
        """Refuse points that do not fit the matrices or the batch of betas."""
        if x.ndim < 2 or not x.is_floating_point():
            raise UsageError(f"points must be real vectors [..., n, d], not {x.dtype} of shape {list(x.shape)}")
        for name in ("query", "key", "value"):
            matrix = getattr(self, name)
            if matrix is not None and matrix.shape[0] != x.shape[-1]:
                raise UsageError(f"{name} is for {matrix.shape[0]} dimensions, and the points have {x.shape[-1]}")
        if not isinstance(self.beta, int | float) and self.beta.ndim and self.beta.shape != x.shape[:-2]:
            systems, given = list(x.shape[:-2]), list(self.beta.shape)
            raise UsageError(f"beta must have one number for each system of the batch, {systems}, not {given}")

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries times beta, keys and values, all like x."""
        parts = [x if matrix is None else x @ matrix.to(x).mT for matrix in (self.query, self.key, self.value)]
        beta = self.beta if isinstance(self.beta, int | float) else self.beta.to(x)[..., None, None]
        return parts[0] * beta, parts[1], parts[2]

    def _normalised(self, x: Tensor) -> Tensor:
        # With exactly four dimensions torch takes its blocked kernel, which never holds all the scores.
        four = (-1, 1, *x.shape[-2:])
        query, key, value = (part.reshape(four) for part in self._parts(x))
        return attend(query, key, value, scale=1.0).reshape(x.shape)

    def _unnormalised(self, x: Tensor) -> Tensor:
        query, key, value = self._parts(x)
        pull, n = torch.empty_like(x), x.shape[-2]
        rows = max(1, _BLOCK // max(1, math.prod(x.shape[:-1])))
        for first in range(0, n, rows):
            weights = (query[..., first : first + rows, :] @ key.mT).exp_()
            pull[..., first : first + rows, :] = weights @ value
        if not bool(torch.isfinite(pull).all()):
            most, kind = math.log(torch.finfo(x.dtype).max), str(x.dtype).removeprefix("torch.")
            raise UsageError(
                f"USA overflows here: beta <Qx, Ky> must stay below {most:.0f} in {kind}; "
                "take a smaller beta, or SA, which is normalised"
            )
        return pull.div_(n)


def _check_tensor(name: str, thing: object) -> None:
    if not isinstance(thing, torch.Tensor):
        raise UsageError(
            f"{name} must be a torch tensor, not of type {type(thing).__name__}; torch.as_tensor makes one"
        )


def kuramoto(angles: Tensor) -> Tensor:
    """The velocities of Kuramoto's model with coupling K = 1 and equal natural frequencies, for angles [..., n].

    `dtheta_i/dt = (1/n) sum_j sin(theta_j - theta_i)`. It is both SA and USA in d = 2 as beta goes to 0: with
    x = (cos theta, sin theta), USA reads `(1/n) sum_j e^{beta cos(theta_j - theta_i)} sin(theta_j - theta_i)`, and
    |e^{beta cos} - 1| <= e^beta - 1, so the two velocities differ by at most e^beta - 1. Beta is therefore the range of
    the attraction and not Kuramoto's coupling, and with equal frequencies there is no threshold of synchronisation.
    """
    order = torch.polar(torch.ones_like(angles), angles)
    return (order.mean(-1, keepdim=True) * order.conj()).imag


def is_identity(matrix: Tensor | None) -> bool:
    """Whether a matrix of a system is the identity, as None is."""
    if matrix is None:
        return True
    one = torch.eye(len(matrix), dtype=torch.float64)
    return torch.allclose(matrix.detach().cpu().double(), one, rtol=0, atol=1e-12)


def norm_of(matrix: Tensor | None) -> float:
    """The spectral norm of a matrix of a system; None is the identity."""
    return 1.0 if matrix is None else float(torch.linalg.matrix_norm(matrix.detach().cpu().double(), 2))
