"""The networks of rules that follow the order of tokens: forgetting gates, Householder paths, and selection."""

from __future__ import annotations

import contextlib

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.models.attention.networks.network import AttentionInputs, AttentionNetwork, wide
from lengthwise.models.attention.sequential import Forgetting, PathAttention, SelectiveAttention
from lengthwise.positions import Shape

CHUNK = 32  # tokens of a path that are passed at once


def _drawn(*shape: int) -> nn.Parameter:
    """Weights that start as small as those of the model's linear layers."""
    return nn.Parameter(0.02 * torch.randn(shape))


class ForgettingNetwork(AttentionNetwork):
    def __init__(self, rule: Forgetting, shape: Shape) -> None:
        super().__init__()
        self.weight, self.bias = _drawn(shape.heads, shape.width), nn.Parameter(torch.full((shape.heads,), rule.start))

    def features(self, x: Tensor) -> Tensor:
        """log σ(f), [B, H, T, 1]."""
        return F.logsigmoid(wide(F.linear(x, self.weight, self.bias))).transpose(1, 2)[..., None]

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        assert inputs.features is not None
        kept = inputs.features[..., 0].cumsum(dim=-1)  # [B, H, keys]
        return logits + (kept[:, :, inputs.index, None] - kept[:, :, None])


class PathNetwork(AttentionNetwork):
    def __init__(self, rule: PathAttention, shape: Shape) -> None:  # noqa: ARG002
        super().__init__()
        self.weight = _drawn(shape.heads, shape.head_width, shape.width)
        self.step, self.bias = _drawn(shape.heads, shape.width), nn.Parameter(torch.zeros(shape.heads))

    def features(self, x: Tensor) -> Tensor:
        """w and β, [B, H, T, D + 1]."""
        w = F.linear(x, self.weight.flatten(0, 1)).unflatten(-1, self.weight.shape[:2])  # [B, T, H, D]
        beta = 2 * F.linear(x, self.step, self.bias).sigmoid()
        return torch.cat([F.normalize(wide(w), dim=-1), wide(beta)[..., None]], dim=-1).transpose(1, 2)

    def scores(self, inputs: AttentionInputs) -> Tensor:
        assert inputs.features is not None
        device, queries, keys = inputs.queries.device.type, wide(inputs.queries), wide(inputs.keys)
        known = torch.amp.is_autocast_available(device)  # triangular systems are not solved in bfloat16
        with torch.autocast(device, enabled=False) if known else contextlib.nullcontext():
            return path_scores(queries, keys, inputs.features[..., :-1], inputs.features[..., -1], inputs.index)


def path_scores(queries: Tensor, keys: Tensor, w: Tensor, beta: Tensor, index: Tensor) -> Tensor:
    """k_j·H_{j+1} … H_i q_i for queries at the places i = `index` and all keys j <= i, [B, H, queries, keys].

    H_{j+1} … H_i q_i = q_i - Σ_{j<s<=i} c_s w_s, where c_s = β_s w_s·(q_i - Σ_{s<t<=i} c_t w_t) does not depend on j:
    one triangular system for each chunk of the path, from its end to its beginning.
    """
    carried, found = queries, []
    for end in range(keys.shape[2], 0, -CHUNK):
        part = slice(max(0, end - CHUNK), end)
        places = torch.arange(part.start, end, device=index.device)
        own, step, key = w[:, :, part], beta[:, :, part, None], keys[:, :, part]
        passed = step * (own @ carried.transpose(2, 3)) * (places[:, None] <= index)  # [B, H, chunk, queries]
        system = step * (own @ own.transpose(2, 3)).triu(1)
        passed = torch.linalg.solve_triangular(system, passed, upper=True, unitriangular=True).transpose(2, 3)
        behind = (own @ key.transpose(2, 3)).tril(-1)  # w_s·k_j where s comes after j
        found.append(carried @ key.transpose(2, 3) - passed @ behind)
        carried = carried - passed @ own
    return torch.cat(found[::-1], dim=-1)


class SelectiveNetwork(AttentionNetwork):
    def __init__(self, rule: SelectiveAttention, shape: Shape) -> None:  # noqa: ARG002
        super().__init__()

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:
        places = torch.arange(logits.shape[-1], device=logits.device)
        spared = inputs.hidden | (places == inputs.index[:, None]) | (places == 0)
        selected = wide(logits[:, 0]).relu().masked_fill(spared, 0.0)
        masked = F.pad(selected.cumsum(dim=1), (0, 0, 1, -1))  # by the queries before each
        return logits - masked[:, None]
