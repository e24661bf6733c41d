"""Hard attention: equal weight on the best keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.attention import Attention

if TYPE_CHECKING:
    from torch import Tensor


@attentions.register("hardmax")
@dataclass(frozen=True)
class Hardmax(Attention):
    """The mean over the keys whose logit is within `tie` of the best; gradients flow as through softmax."""

    tie: float = 1e-6
    fused = False

    def __post_init__(self) -> None:
        if not self.tie >= 0:
            raise UsageError(f"the tie of hardmax is 0 or more, not {self.tie}")

    def weights(self, logits: Tensor) -> Tensor:
        best = (logits >= logits.amax(dim=-1, keepdim=True) - self.tie).to(logits.dtype)
        hard = best / best.sum(dim=-1, keepdim=True)
        if not logits.requires_grad:
            return hard
        soft = logits.softmax(dim=-1)
        return hard + (soft - soft.detach())  # straight-through: the value of `hard`, the gradient of `soft`
