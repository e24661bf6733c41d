"""Softmax and its variants: over a window, sharper for longer inputs, and its limit at temperature 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import Attention, attentions

if TYPE_CHECKING:
    from torch import Tensor


@attentions.register("softmax")
@dataclass(frozen=True)
class Softmax(Attention):
    """The usual rule: weights proportional to exp(logit / temperature)."""

    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(
                f"a softmax temperature must be above 0, not {self.temperature} (hardmax is the limit at 0)"
            )

    def sharpness(self, index: Tensor) -> float:  # noqa: ARG002
        return 1.0 / self.temperature

    def weights(self, logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1)


@attentions.register("window")
@dataclass(frozen=True)
class WindowAttention(Attention):
    """Softmax over the keys under `size` places away: behind the query in a decoder, to both sides in an encoder."""

    size: int = 8

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"an attention window must hold at least 1 place, not {self.size}")

    def window(self) -> int:
        return self.size

    def weights(self, logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1)


@attentions.register("log_length")
@dataclass(frozen=True)
class LogLength(Attention):
    """Softmax of logits times ln(n) / ln(reference), n the number of keys a query sees (Chiang and Cholak 2022).

    A gap of g between the best logit and the others then keeps the weight on the best from melting away: the rest has
    weight at most n^(1 - g / ln reference).
    """

    reference: float = math.e

    def __post_init__(self) -> None:
        if not self.reference > 1:
            raise UsageError(f"log_length needs a reference above 1, not {self.reference}")

    def sharpness(self, index: Tensor) -> Tensor:
        return (index + 1).double().log() / math.log(self.reference)

    def weights(self, logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1)


@attentions.register("hardmax")
@dataclass(frozen=True)
class Hardmax(Attention):
    """The mean over the keys whose logit is within `tie` of the best; gradients flow as through softmax."""

    tie: float = 1e-6
    fused = False

    def __post_init__(self) -> None:
        if not self.tie >= 0:
            raise UsageError(f"the tie of hardmax must be 0 or more, not {self.tie}")

    def weights(self, logits: Tensor) -> Tensor:
        best = (logits >= logits.amax(dim=-1, keepdim=True) - self.tie).to(logits.dtype)
        hard = best / best.sum(dim=-1, keepdim=True)
        if not logits.requires_grad:
            return hard
        soft = logits.softmax(dim=-1)
        return hard + (soft - soft.detach())  # straight-through: the value of `hard`, the gradient of `soft`
