"""Kuramoto's model as tokens on the circle: each has a frequency of its own, and all attract each other.

`dtheta_i/dt = omega_i + (K/n) sum_j sin(theta_j - theta_i)`. With x_i = (cos theta_i, sin theta_i) and m the mean of
the x_j, the velocity is `K Proj_{x_i} m + omega_i J x_i`, where J turns by a right angle: the coupling is K times SA
(and USA) at beta = 0, and the length of m is the order parameter r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.errors import UsageError


@dataclass(frozen=True, eq=False)
class Kuramoto:
    """Oscillators with these natural frequencies [n], in radians per unit of time, and one coupling for all pairs."""

    coupling: float
    frequencies: Tensor

    def __post_init__(self) -> None:
        if not math.isfinite(self.coupling):
            raise UsageError(f"the coupling must be a finite number, not {self.coupling}")
        if self.frequencies.ndim != 1 or not bool(torch.isfinite(self.frequencies).all()):
            raise UsageError("frequencies are finite numbers [n], one for each token")

    def check(self, x: Tensor) -> None:
        if x.ndim < 2 or x.shape[-1] != 2 or not x.is_floating_point():
            raise UsageError(
                f"Kuramoto's oscillators must be points of a circle [..., n, 2], not of shape {list(x.shape)}"
            )
        if x.shape[-2] != len(self.frequencies):
            raise UsageError(f"there are {len(self.frequencies)} frequencies, and {x.shape[-2]} tokens")

    def velocity(self, x: Tensor) -> Tensor:
        return self.angular_velocity(x)[..., None] * torch.stack([-x[..., 1], x[..., 0]], dim=-1)

    def angular_velocity(self, x: Tensor) -> Tensor:
        """dtheta_i/dt of each token, [..., n]."""
        mean = x.mean(-2, keepdim=True)
        across = x[..., 0] * mean[..., 1] - x[..., 1] * mean[..., 0]  # r sin(psi - theta_i)
        return self.coupling * across + self.frequencies.to(x)

    def only(self, rows: Tensor | Sequence[int]) -> Kuramoto:  # noqa: ARG002
        return self

    def flat(self) -> Kuramoto:
        return self
