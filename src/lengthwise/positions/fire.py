"""A learned function of how far back a key lies, as a share of how far one could look."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.distances import distances
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("fire")
@dataclass(frozen=True)
class Fire(Position):
    """A small network of the distance as a share of the position, on a logarithmic scale (Li et al. 2024).

    The bias of query i and key j, counted from 1, is f(ψ(i - j) / ψ(max(L, i))), where ψ(x) = ln(c x + 1), f is a
    network with one layer of `hidden` ReLUs and an output a head, and c, L > 0 are learned. Up to position L the bias
    is a function of the distance; beyond, the range seen is squeezed into the range known.

    `threshold` is where L starts; 0 means a quarter of the trained length (the authors' 512 for 2048). `rate` is where
    c starts. Both are learned on a logarithmic scale, so that a step changes them by a share of themselves. In an
    encoder a key ahead of its query has the sign of its distance, and j takes the place of i where it is larger.
    """

    hidden: int = 32
    threshold: float = 0.0
    rate: float = 0.1
    shift_invariant = False
    beyond_training = True

    def __post_init__(self) -> None:
        if self.hidden < 1 or self.threshold < 0 or not self.rate > 0:
            raise UsageError(
                "fire needs hidden of 1 or more, a threshold of 0 or more and a rate above 0, "
                f"not hidden {self.hidden}, threshold {self.threshold} and rate {self.rate}"
            )

    def build(self, shape: Shape) -> Encoder:
        return FireEncoder(shape.heads, self.hidden, self.threshold or max(shape.trained / 4, 1.0), self.rate)


class FireEncoder(Encoder):
    def __init__(self, heads: int, hidden: int, threshold: float, rate: float) -> None:
        super().__init__()
        # Parameters and not linear layers, as a model gives all its linear layers weights of 0.02, and the product of
        # two such layers would start at next to nothing. The ranges are torch's own for 1 and for `hidden` inputs.
        self.inner = nn.Parameter(torch.empty(hidden).uniform_(-1.0, 1.0))
        self.inner_bias = nn.Parameter(torch.empty(hidden).uniform_(-1.0, 1.0))
        # No bias here: what is the same for all keys cancels in attention.
        self.outer = nn.Parameter(torch.empty(heads, hidden).uniform_(-1.0, 1.0) / math.sqrt(hidden))
        self.log_threshold = nn.Parameter(torch.tensor(math.log(threshold)))
        self.log_rate = nn.Parameter(torch.tensor(math.log(rate)))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        rate = self.log_rate.exp()
        apart = distances(queries_at, keys_at)[:, 0]  # [B or 1, queries, keys]
        furthest = torch.maximum(queries_at[:, :, None], keys_at[:, None, :]) + 1  # counted from 1, so never 0
        reach = torch.maximum(furthest.to(rate.dtype), self.log_threshold.exp())
        share = apart.sign() * torch.log1p(rate * apart.abs()) / torch.log1p(rate * reach)
        features = (share[..., None] * self.inner + self.inner_bias).relu()  # [B or 1, queries, keys, hidden]
        return (features @ self.outer.T).permute(0, 3, 1, 2)
