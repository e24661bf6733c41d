"""Attention of finite precision: small weights are rounded to 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.models.attention import Attention, attentions

if TYPE_CHECKING:
    from torch import Tensor


@attentions.register("p_bit")
@dataclass(frozen=True)
class BitAttention(Attention):
    """Softmax in which keys of at most 2^-bits of the largest weight have weight 0 (Izzo et al. 2025).

    The logits are normalised so that the largest is 0; weights exp(logit) that are at most 2^-`bits` are rounded to 0,
    and the others are divided by their sum. With `log` the logits are first multiplied by ln n, n the number of keys
    that a query sees, as in the theory of one layer: a lead of γ then makes attention exactly hard from n = 2^(bits/γ)
    on. The `gradient` is that of the weights that are left ("masked"), or that of softmax ("straight").
    """

    bits: float = 8.0
    log: bool = True
    gradient: Literal["masked", "straight"] = "masked"
    fused = False

    def __post_init__(self) -> None:
        if not self.bits > 0:
            raise UsageError(f"p_bit keeps a number of bits above 0, not {self.bits:g}")
        if self.gradient not in ("masked", "straight"):
            raise UsageError(f"the gradient of p_bit must be masked or straight, not {self.gradient!r}")

    def sharpness(self, index: Tensor) -> float | Tensor:
        return (index + 1).double().log() if self.log else 1.0

    def weights(self, logits: Tensor) -> Tensor:
        relative = (logits - logits.amax(dim=-1, keepdim=True).detach()).exp()
        kept = relative.masked_fill(relative <= 2.0**-self.bits, 0.0)
        rounded = kept / kept.sum(dim=-1, keepdim=True)
        if self.gradient == "masked" or not logits.requires_grad:
            return rounded
        soft = logits.softmax(dim=-1)
        return rounded.detach() + (soft - soft.detach())
