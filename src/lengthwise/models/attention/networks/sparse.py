"""Entmax with α = 1.5 and its derivative, and the factor that asentmax learns."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.models.attention import Attention
from lengthwise.models.attention.networks.network import AttentionInputs, AttentionNetwork, log_seen, wide
from lengthwise.positions import Shape


class EntmaxFunction(torch.autograd.Function):
    """p = max(x - τ, 0)² with x = logits / 2 and τ such that the sum is 1; with s = √p the derivative is
    ∂p_i/∂logit_j = s_i (1[i = j] - s_j / Σ s)."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor) -> Tensor:
        x = logits / 2
        # τ lies between the greatest x less 1 and the greatest x, so what is further down has weight 0 and may be moved
        # up to there: sums then stay small, and -inf needs no case of its own.
        x = (x - x.amax(dim=-1, keepdim=True)).clamp(min=-1.0)
        ordered = x.sort(dim=-1, descending=True).values
        count = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype, device=x.device)
        mean = ordered.cumsum(dim=-1) / count
        spread = ordered.square().cumsum(dim=-1) - count * mean.square()
        tau = mean - ((1 - spread) / count).clamp(min=0).sqrt()  # if the k greatest were the support
        support = (tau <= ordered).sum(dim=-1, keepdim=True)
        tau = tau.gather(-1, support - 1)
        above = (x - tau).clamp(min=0)
        tau = tau + (above.square().sum(dim=-1, keepdim=True) - 1) / (2 * above.sum(dim=-1, keepdim=True))
        weights = (x - tau).clamp(min=0).square()  # a step of Newton's took off the rounding of the long sums
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        roots = ctx.saved_tensors[0].sqrt()
        own = roots * grads[0]
        return own - roots * (own.sum(dim=-1, keepdim=True) / roots.sum(dim=-1, keepdim=True))


def entmax(logits: Tensor) -> Tensor:
    """Weights [..., keys] of logits [..., keys], -inf where a key is not seen."""
    return EntmaxFunction.apply(wide(logits))  # pyright: ignore[reportReturnType]


class AdaptiveNetwork(AttentionNetwork):
    def __init__(self, rule: Attention, shape: Shape) -> None:  # noqa: ARG002
        super().__init__()
        self.delta, self.gamma = (nn.Parameter(torch.ones(shape.heads)) for _ in range(2))
        self.direction = nn.Parameter(torch.zeros(shape.heads, shape.head_width))

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        beta = F.softplus((inputs.queries * self.direction[:, None]).sum(dim=-1))  # [B, H, queries]
        # A query that sees one key gives it weight 1 in any case, and powers of ln 1 have no derivative.
        grown = log_seen(inputs.index.clamp(min=1), logits) ** self.gamma[:, None]
        return logits * (self.delta[:, None] + beta * grown)[..., None]
