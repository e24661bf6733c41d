"""The rotations of RoPE, their frequencies, and what the methods that stretch its context make of them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.positions.networks.encoder import Encoder


class RopeEncoder(Encoder):
    def __init__(self, turns: Tensor, factor: float = 1.0) -> None:
        super().__init__()
        # Not a buffer, so that a float32 model still computes its angles in float64: they grow with position.
        self.turns, self.factor = turns, factor

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:
        turned = _turned(x, at, self.turns)
        return turned if self.factor == 1.0 else turned * self.factor


class DynamicRopeEncoder(RopeEncoder):
    """Plain RoPE for the queries within the original length; a base of its own for each of the others."""

    def __init__(self, width: int, base: float, original: int) -> None:
        super().__init__(frequencies(width, base))
        self.base, self.original = base, original

    def scores(self, q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor | None:
        """q·k, one late query at a time: O(Q K D) work as always, but O(K D) extra memory and no large product."""
        early = index < self.original
        if bool(early.all()):
            return None
        logits = q.new_empty(*q.shape[:3], k.shape[2])  # [B, H, Q, K]
        if bool(early.any()):
            turned = self.rotate(q[:, :, early], queries_at[:, early])
            logits[:, :, early] = turned @ self.rotate(k, keys_at).transpose(2, 3)
        for n in (~early).nonzero()[:, 0].tolist():
            turns = frequencies(q.shape[-1], self.base, "ntk", (int(index[n]) + 1) / self.original)
            query = _turned(q[:, :, n : n + 1], queries_at[:, n : n + 1], turns)
            logits[:, :, n : n + 1] = query @ _turned(k, keys_at, turns).transpose(2, 3)
        return logits


def _turned(x: Tensor, at: Tensor, turns: Tensor) -> Tensor:
    """x [B, H, T, D] with each pair (k, k + D/2) turned by position x turns[k]."""
    angles = (at.double()[..., None] * turns.to(at.device))[:, None]  # [B or 1, 1, T, D / 2]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def frequencies(
    width: int,
    base: float = 10000.0,
    scaling: str = "none",
    factor: float = 1.0,
    original: int = 0,
    low: float = 1.0,
    high: float = 32.0,
) -> Tensor:
    """Radians a position for each of the D/2 pairs of a head of width D, [D / 2] in float64.

    Plain: θ_k = b^(-2k/D) for k = 0, ..., D/2 - 1 (Su et al. 2021). With s the factor and L the original
    length, which only by_parts and yarn use:

    interpolation    θ / s, which is θ at position / s (Chen et al. 2023);
    ntk              θ of the base b s^(D/(D-2)), so that the last θ is divided by s exactly and the first by 1
                     (Peng et al. 2024, definition 1);
    by_parts, yarn   (1 - γ) θ / s + γ θ, where γ is 0 up to r = low, 1 from r = high on and linear between, and
                     r = L / λ = L θ / 2π is how often the pair goes round in the original length (definition 2).
                     Released code of YaRN has the ramp linear in k instead; outside the ramp the two agree.
    """
    if scaling == "ntk":
        base = base * factor ** (width / (width - 2))
    plain = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    if scaling in ("none", "ntk"):
        return plain
    if scaling == "interpolation":
        return plain / factor
    if scaling not in ("by_parts", "yarn"):
        raise UsageError(f"no fixed frequencies belong to the RoPE scaling {scaling!r}")
    rounds = original * plain / (2 * math.pi)
    gamma = ((rounds - low) / (high - low)).clamp(0.0, 1.0)
    return (1 - gamma) * plain / factor + gamma * plain


def yarn_factor(factor: float) -> float:
    """sqrt(1/t) = 0.1 ln s + 1, by which YaRN multiplies queries and keys each (Peng et al. 2024)."""
    return 0.1 * math.log(factor) + 1.0
