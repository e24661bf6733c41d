"""Softmax with a temperature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.attention import Attention

if TYPE_CHECKING:
    from torch import Tensor


@attentions.register("softmax")
@dataclass(frozen=True)
class Softmax(Attention):
    """The usual rule: weights proportional to exp(logit / temperature)."""

    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(f"a softmax temperature is above 0, not {self.temperature} (hardmax is the limit at 0)")

    def sharpness(self, index: Tensor) -> float:  # noqa: ARG002
        return 1.0 / self.temperature

    def weights(self, logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1)
