"""Small Transformers and texts for them, which several tests share."""

from __future__ import annotations

import torch
from torch import Tensor

from lengthwise.models.attention import attentions
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import Position, make_position

VOCABULARY, TRAINED, TOKENS, ROWS = 7, 6, 11, 40


def make(
    rule: str = "softmax",
    position: Position | str = "none",
    causal: bool = True,
    depth: int = 2,
    width: int = 16,
    outputs: int = VOCABULARY,
) -> Transformer:
    """A small model in float64 whose weights are far larger than they start, so that attention is far from even."""
    position = make_position(position) if isinstance(position, str) else position
    architecture = Architecture(depth, width, 2, 2, causal, attentions.make(rule), position)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = Transformer(architecture, Interface(VOCABULARY, outputs, ROWS, TRAINED)).double()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    return model.eval()


def text(items: int = 2, tokens: int = TOKENS) -> Tensor:
    return torch.randint(VOCABULARY, (items, tokens), generator=torch.Generator().manual_seed(5))


def gap(one: Tensor, two: Tensor) -> float:
    assert one.shape == two.shape
    return float((one - two).detach().abs().max())
