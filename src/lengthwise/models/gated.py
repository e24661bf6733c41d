"""Layers of torch's gated cells between an embedding and an output matrix."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from lengthwise.models.architecture import Interface
from lengthwise.models.others import LongShortTermMemory


class GatedNetwork(nn.Module):
    """An LSTM or a GRU."""

    def __init__(self, settings: LongShortTermMemory, interface: Interface) -> None:
        super().__init__()
        width = settings.width
        self.embedding = nn.Embedding(interface.vocabulary, width)
        self.cells = getattr(nn, settings.cell)(width, width, settings.depth, batch_first=True)
        self.output = nn.Linear(width, interface.outputs)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.step(tokens, None)[0]

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        states, last = self.cells(self.embedding(tokens), state)
        return self.output(states), last
