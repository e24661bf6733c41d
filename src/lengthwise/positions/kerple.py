"""Learned penalties that grow with the logarithm or with a power of distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.positions import positions
from lengthwise.positions.alibi import slopes
from lengthwise.positions.distances import distances
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("kerple")
@dataclass(frozen=True)
class Kerple(Position):
    """A learned penalty a head: r1 ln(1 + r2 distance), or r1 distance^r2 (Chi et al. 2022).

    r1 > 0 and r2 > 0, and r2 < 2 for the power, by their parametrisation: the kernels that give these penalties are
    conditionally positive definite. Both start with r2 = 1; the logarithm with r1 spread evenly over the heads between
    0 and 1, the power with the slopes of ALiBi, which it then equals. In an encoder the distance has no sign.
    """

    variant: Literal["log", "power"] = "log"
    shift_invariant = True
    beyond_training = True

    def build(self, shape: Shape) -> Encoder:
        return LogEncoder(shape.heads) if self.variant == "log" else PowerEncoder(shape.heads)


class LogEncoder(Encoder):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(_inverse_softplus([(head + 0.5) / heads for head in range(heads)]))
        self.raw_rate = nn.Parameter(_inverse_softplus([1.0] * heads))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        weight, rate = F.softplus(self.raw_weight)[:, None, None], F.softplus(self.raw_rate)[:, None, None]
        return -weight * torch.log1p(rate * distances(queries_at, keys_at).abs())


class PowerEncoder(Encoder):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.raw_weight = nn.Parameter(_inverse_softplus(slopes(heads)))
        self.raw_power = nn.Parameter(torch.zeros(heads))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        weight, power = F.softplus(self.raw_weight)[:, None, None], 2 * self.raw_power.sigmoid()[:, None, None]
        return -weight * distances(queries_at, keys_at).abs().to(power.dtype) ** power


def _inverse_softplus(values: list[float]) -> Tensor:
    return torch.tensor([math.log(math.expm1(value)) for value in values])
