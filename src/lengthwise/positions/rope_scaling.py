"""The frequencies of RoPE, and what the methods that stretch its context make of them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lengthwise.errors import UsageError


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
    if scaling == "ntk" and width < 4:
        raise UsageError(f"NTK-aware and dynamic scaling of RoPE need a head width of 4 or more, not {width}")
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
