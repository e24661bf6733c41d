"""Regions of tokens: of all inputs that a model can read, and of given hidden states."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.bound import Region
from lengthwise.bounds.lipschitz.layers import norm_bound
from lengthwise.bounds.lipschitz.rounding import up
from lengthwise.models.forward import apply_norm
from lengthwise.models.parts import Anatomy
from lengthwise.seeds import Floats

FEW = 20_000_000  # numbers in the table of all tokens at all positions, up to which it is made


def input_region(anatomy: Anatomy, length: int) -> Region:
    """The radius, the least spread and the least size of token v at position p, over all v and the positions that a
    sequence of `length` tokens has. Exact where there are few; else from the extremes of both, which is never less
    careful."""
    with torch.no_grad():
        tokens = anatomy.embed.detach().double()
        table = None if anatomy.table is None else anatomy.table.vectors(anatomy.places(length))[0].double()
        few = tokens.numel() * (1 if table is None else len(table)) <= FEW
        if few:
            both = tokens if table is None else (tokens[:, None] + table[None]).flatten(0, 1)
            both = both if anatomy.norm_embed is None else apply_norm(anatomy.norm_embed, both)
            return _region(both.numpy())
    region = _region(tokens.numpy())
    if table is not None:
        region = region.plus(up(float(table.norm(dim=1).max())), anatomy.width)
    if anatomy.norm_embed is None:
        return region
    norm = anatomy.norm_embed
    return Region(norm_bound(norm.kind, anatomy.width, norm.eps, region, norm.weight, norm.bias).reach)


def region_of(x: Tensor, widening: float) -> Region:
    """The region of given tokens [B, T, W], each moved by at most `widening`."""
    values = x.detach().double().numpy()
    lost = widening / math.sqrt(values.shape[-1])
    radius = float(np.linalg.norm(values, axis=-1).max()) + widening
    spread = max(0.0, float(values.std(axis=-1).min()) - lost)
    size = max(0.0, float(np.sqrt(np.mean(values**2, axis=-1)).min()) - lost)
    return Region(up(radius), spread * (1 - 1e-9), size * (1 - 1e-9))


def _region(vectors: Floats) -> Region:
    squares = np.einsum("ij,ij->i", vectors, vectors)
    width = vectors.shape[1]
    around = np.sqrt(np.maximum(squares / width - vectors.mean(axis=1) ** 2, 0.0))
    least = 1 - 1e-7  # the difference of squares loses more than a sum does
    spread = float(around.min())
    if spread < 1e-3 * math.sqrt(float(squares.max()) / width):  # too small for a difference of squares
        spread = float(vectors.std(axis=1).min())
    size = math.sqrt(float(squares.min()) / width)
    return Region(up(math.sqrt(float(squares.max()))), spread * least, size * least)
