"""A learned bias for every bucket of distances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.distances import distances
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("t5")
@dataclass(frozen=True)
class T5(Position):
    """A learned bias a head for every bucket of distances, wider when further away (Raffel et al. 2020).

    In a decoder half of the buckets hold one distance each and the other half grow geometrically up to `furthest`;
    the last takes everything beyond. In an encoder keys before and keys after the query have half of the buckets each.
    """

    buckets: int = 32
    furthest: int = 128
    shift_invariant = True
    beyond_training = True

    def __post_init__(self) -> None:
        if self.buckets < 4 or self.buckets % 2:
            raise UsageError(f"t5 needs an even number of buckets, 4 or more, not {self.buckets}")
        if self.furthest <= self.buckets // 2:
            raise UsageError(
                f"t5 with {self.buckets} buckets needs a furthest distance above {self.buckets // 2}, "
                f"not {self.furthest}"
            )

    def build(self, shape: Shape) -> Encoder:
        return T5Encoder(shape.heads, self.buckets, self.furthest, shape.causal)


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
