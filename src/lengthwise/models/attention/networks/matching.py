"""The network of the rule whose heads see a window or match content."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lengthwise.models.attention.matching import WindowMatch
from lengthwise.models.attention.networks.network import AttentionInputs, AttentionNetwork, log_seen
from lengthwise.models.attention.networks.sparse import entmax
from lengthwise.models.attention.softmax import Hardmax
from lengthwise.positions import Shape


class MatchNetwork(AttentionNetwork):
    """Has no parameters of its own: the heads of the window lose the keys outside it, the others their positions."""

    def __init__(self, rule: WindowMatch, shape: Shape) -> None:
        super().__init__()
        self.rule, self.trained = rule, max(shape.trained, 2)

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        match = self.rule.match
        keys = torch.arange(logits.shape[-1], device=logits.device)
        far = (inputs.places[:, None] - keys).abs() >= self.rule.size
        near = logits[:, :-match].masked_fill(far, -math.inf)
        q, k = inputs.queries[:, -match:], inputs.keys[:, -match:]
        free = (q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])).to(logits.dtype)
        if self.rule.sharp == "log_length":
            free = free * (log_seen(inputs.index, free) / math.log(self.trained))[:, None].to(free.dtype)
        return torch.cat([near, free], dim=1)


def match_weights(logits: Tensor, match: int, sharp: str) -> Tensor:
    """Weights of logits [B, H, queries, keys]: softmax for the heads of the window, `sharp` for the last `match`."""
    near, free = logits[:, :-match].softmax(dim=-1), logits[:, -match:]
    if sharp == "entmax":
        weights = entmax(free).to(logits.dtype)
    elif sharp == "hardmax":
        weights = Hardmax().weights(free)
    else:
        weights = free.softmax(dim=-1)
    return torch.cat([near, weights], dim=1)
