"""Softmax sharpened by the logarithm of how much there is to choose from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.attention import Attention

if TYPE_CHECKING:
    from torch import Tensor


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
