"""Fixed sines and cosines of the position."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.positions import positions
from lengthwise.positions.position import Encoder, Position, Shape


@positions.register("sinusoidal")
@dataclass(frozen=True)
class Sinusoidal(Position):
    """Fixed sines and cosines of the position, added to the embedding (Vaswani et al. 2017).

    Interleaved: columns 2k and 2k + 1 are the sine and the cosine of position x base^(-2k / width), times scale x √2.
    `scale` is thus the root mean square of a coordinate. Its default is the standard deviation with which token
    embeddings (and the rows of `learned`) start: the sum is normalised before it is read, so it is the ratio that
    counts, and at amplitude 1, as in the paper, a fresh token would be one part in 35 of what the first layer sees.
    """

    base: float = 10000.0
    scale: float = 0.02
    shift_invariant = False
    beyond_training = True

    def __post_init__(self) -> None:
        if not self.base > 1 or not self.scale > 0:
            raise UsageError(
                f"sinusoidal needs a base above 1 and a scale above 0, not base {self.base} and scale {self.scale}"
            )

    def build(self, shape: Shape) -> Encoder:
        return SinusoidalEncoder(shape.width, self.base, self.scale)


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
