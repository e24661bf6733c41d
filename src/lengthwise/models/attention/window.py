"""Softmax over a sliding window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.attention import Attention

if TYPE_CHECKING:
    from torch import Tensor


@attentions.register("window")
@dataclass(frozen=True)
class WindowAttention(Attention):
    """Softmax over the keys under `size` places away: behind the query in a decoder, to both sides in an encoder."""

    size: int = 8

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"an attention window holds at least 1 place, not {self.size}")

    def window(self) -> int:
        return self.size

    def weights(self, logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1)
