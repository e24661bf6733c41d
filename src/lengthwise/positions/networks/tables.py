"""Encoders that add a vector to the embedding of a token."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lengthwise.errors import OutOfPositions
from lengthwise.positions.networks.encoder import Encoder


class LearnedEncoder(Encoder):
    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width) * 0.02)

    def embed(self, at: Tensor) -> Tensor:
        if int(at.max()) >= len(self.table):
            raise OutOfPositions(
                f"the learned table has {len(self.table)} positions, too few for {int(at.max()) + 1} tokens; "
                "train with a larger test size"
            )
        return self.table[at]


class SinusoidalEncoder(Encoder):
    amplitude: Tensor

    def __init__(self, width: int, base: float, scale: float) -> None:
        super().__init__()
        # Not a buffer, so that a float32 model still computes its angles in float64: they grow with position.
        self.frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        self.register_buffer("amplitude", torch.tensor(scale * math.sqrt(2.0)), persistent=False)
        self.width = width

    def embed(self, at: Tensor) -> Tensor:
        angles = at.double()[..., None] * self.frequencies.to(at.device)  # [B or 1, T, W / 2]
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # [B or 1, T, W], or one more if W is odd
        return waves[..., : self.width].to(self.amplitude.dtype) * self.amplitude
