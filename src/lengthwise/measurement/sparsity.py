"""How sparse trained attention is: one record a size and layer. Records only, no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

STRETCHES = 3  # looked at where training ends, at twice and at three times that


@dataclass(frozen=True)
class Sparsity:
    """The attention of one layer on test items of one size: means over items, heads and the places that are asked for
    an answer.

    `entropy` is that of the weights of a query, in nats; `uniform` what it would be if all keys a query sees had the
    same weight; `best` is the weight of the key that has most. One key with all the weight is entropy 0 and best 1.
    """

    size: int
    layer: int  # counted from 1
    items: int
    entropy: float
    uniform: float
    best: float

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Sparsity:
        return cls(**{f.name: data[f.name] for f in fields(cls)})


def looked_at(sizes: Sequence[int], train_size: int) -> list[int]:
    """The largest of the sizes in each stretch as wide as the training range; a stretch without sizes is left out."""
    stretches = [[size for size in sizes if k * train_size < size <= (k + 1) * train_size] for k in range(STRETCHES)]
    return [max(stretch) for stretch in stretches if stretch]
