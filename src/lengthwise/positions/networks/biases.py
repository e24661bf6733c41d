"""Encoders that add to the logits what depends on the distance between query and key."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.positions.networks.encoder import Encoder, distances


class AlibiEncoder(Encoder):
    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes(heads)), persistent=False)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return -self.slopes[:, None, None] * distances(queries_at, keys_at).abs()


def slopes(heads: int) -> list[float]:
    """2^(-8h/H) for h = 1, ..., H."""
    return [2.0 ** (-8 * head / heads) for head in range(1, heads + 1)]


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


class T5Encoder(Encoder):
    bucket: Tensor

    def __init__(self, heads: int, buckets: int, furthest: int, causal: bool) -> None:
        super().__init__()
        self.causal, self.behind = causal, buckets // 2  # in an encoder, the buckets of the keys behind the query
        table = bucket_of_distance(buckets if causal else self.behind, furthest)
        self.register_buffer("bucket", torch.tensor(table), persistent=False)
        self.values = nn.Parameter(torch.randn(heads, buckets) * 0.02)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        apart = distances(queries_at, keys_at)[:, 0]  # [B or 1, queries, keys]
        last = len(self.bucket) - 1
        if self.causal:
            bucket = self.bucket[apart.clamp(0, last)]
        else:
            bucket = self.bucket[apart.abs().clamp(max=last)] + self.behind * (apart < 0)
        return self.values[:, bucket].transpose(0, 1)  # [B or 1, H, queries, keys]


def bucket_of_distance(buckets: int, furthest: int) -> list[int]:
    """The buckets of the distances 0, 1, ..., furthest.

    With e = buckets / 2, rounded down, and m = buckets - e: distance n < e has bucket n; from there on bucket
    e + k holds the n with e (furthest / e)^(k/m) <= n < e (furthest / e)^((k+1)/m), and the last one all that follow.
    The comparison is made in whole numbers, e^(m-k) furthest^k <= n^m, as logarithms miss the ends that are exact.
    """
    exact = buckets // 2
    growing = buckets - exact
    table = list(range(exact))
    k = 0
    for n in range(exact, furthest + 1):
        while k + 1 < growing and exact ** (growing - k - 1) * furthest ** (k + 1) <= n**growing:
            k += 1
        table.append(exact + k)
    return table


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
