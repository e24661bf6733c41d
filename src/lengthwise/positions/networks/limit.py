"""The encoders of periodic and local positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lengthwise.positions.networks.encoders import Encoder, distances


class PeriodicEncoder(Encoder):
    def __init__(self, period: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(period, width) * 0.02)

    def embed(self, at: Tensor) -> Tensor:
        return self.table[at % len(self.table)]


class LocalEncoder(Encoder):
    """`values` [heads, distances]: distances 0 to the window; in an encoder from -window (a key ahead) to window."""

    def __init__(self, heads: int, window: int, log: bool, causal: bool, start: float) -> None:
        super().__init__()
        self.window, self.log, self.causal = window, log, causal
        values = torch.zeros(heads, window + 1 if causal else 2 * window + 1)
        for head in range(min(heads, window)):
            values[head, head + 1 if causal else window + head + 1] = start
        self.values = nn.Parameter(values)

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        apart = distances(queries_at, keys_at)[:, 0]  # [B or 1, queries, keys]
        near = (apart >= (0 if self.causal else -self.window)) & (apart <= self.window)
        column = (apart if self.causal else apart + self.window).clamp(0, self.values.shape[1] - 1)
        phi = self.values[:, column].transpose(0, 1) * near[:, None]  # [B or 1, H, queries, keys]
        if not self.log:
            return phi
        last = queries_at if self.causal else keys_at.amax(dim=1, keepdim=True).expand(queries_at.shape)
        return phi * (last + 1).to(phi.dtype).log()[:, None, :, None]


class PeriodicLocalEncoder(PeriodicEncoder):
    """Periodic vectors and local biases together."""

    def __init__(self, period: int, width: int, local: LocalEncoder) -> None:
        super().__init__(period, width)
        self.local = local

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return self.local.bias(queries_at, keys_at)
