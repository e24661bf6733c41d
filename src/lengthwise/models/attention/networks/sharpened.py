"""The networks of rules that sharpen the logits of softmax."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lengthwise.models.attention import Attention
from lengthwise.models.attention.networks.network import AttentionInputs, AttentionNetwork, log_seen
from lengthwise.positions import Shape

POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)  # highest power first (Veličković et al. 2024)
LEAST_ENTROPY = 0.5


class ScalableNetwork(AttentionNetwork):
    def __init__(self, rule: Attention, shape: Shape) -> None:  # noqa: ARG002
        super().__init__()
        mean = math.lgamma(max(shape.trained, 2) + 1) / max(shape.trained, 2)  # of ln 1, ..., ln n
        self.scale = nn.Parameter(torch.full((shape.heads,), 1 / mean))

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        return logits * (self.scale[:, None, None] * log_seen(inputs.index, logits)[:, None])


class EntropyNetwork(AttentionNetwork):
    def __init__(self, rule: Attention, shape: Shape) -> None:  # noqa: ARG002
        super().__init__()

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        if self.training:
            return logits
        seen = logits.masked_fill(inputs.hidden, -math.inf)
        entropy = seen.logsumexp(dim=-1, keepdim=True) - (seen.softmax(dim=-1) * logits).sum(dim=-1, keepdim=True)
        factor = torch.zeros_like(entropy)
        for coefficient in POLYNOMIAL:
            factor = factor * entropy + coefficient
        return logits * torch.where(entropy > LEAST_ENTROPY, factor.clamp(min=1.0), 1.0)
