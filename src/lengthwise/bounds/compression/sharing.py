"""One codebook for many tensors: each is divided by a scale of its own, and all of them use the same levels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lengthwise.bounds.compression.quantisers import Codebook, Quantised, Quantiser, Singles, to_bfloat16
from lengthwise.bounds.compression.tensor_codes import scaled

MOST_FITTED = 1 << 24  # numbers of which the shared levels are fitted to all; of more, every second, third, …


def fit_shared(tensors: Iterable[Singles], quantiser: Quantiser) -> Codebook | None:
    """Levels for all tensors that vary, each in units of its scale; None where none does."""
    units = [(tensor.ravel(), scale) for tensor in tensors if (scale := scale_of(tensor))]
    if not units:
        return None
    stride = -(-sum(len(numbers) for numbers, _ in units) // MOST_FITTED)
    pieces = []
    for numbers, scale in units:
        ends = np.array([numbers.min(), numbers.max()]) if stride > 1 else numbers[:0]
        pieces.append((np.concatenate([numbers[::stride], ends]) / scale).astype(np.float32))
    return quantiser.codebook(np.concatenate(pieces))


def on_shared(tensor: Singles, shared: Codebook) -> tuple[Quantised, float] | None:
    """The tensor on the shared levels and its scale; None where it has no scale or its levels would fall together."""
    scale = scale_of(tensor)
    levels = scaled(shared.levels, scale)
    if not scale or not np.isfinite(levels).all() or np.any(np.diff(levels) <= 0):
        return None
    return Quantised(levels, Codebook(levels).nearest(tensor)), scale


def scale_of(tensor: Singles) -> float:
    """The root mean square, rounded to 16 bits; 0 for a tensor of one value, which needs no levels."""
    if tensor.size < 2 or tensor.min() == tensor.max():
        return 0.0
    scale = to_bfloat16(float(np.sqrt(np.mean(np.square(tensor, dtype=np.float64)))))
    return scale if np.isfinite(scale) and scale > np.finfo(np.float32).tiny else 0.0
