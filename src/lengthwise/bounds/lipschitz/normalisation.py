"""LayerNorm and RMSNorm: they divide by how large a token is, so they stretch small tokens most."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.bounds.lipschitz.rounding import up, vector_norm
from lengthwise.errors import UsageError

Kind = Literal["layer", "rms"]


def norm_bound(
    kind: Kind,
    width: int,
    eps: float,
    region: Region,
    weight: Any = None,
    bias: Any = None,
    norm: Norm = "token",
    part: str = "norm",
) -> PartBound:
    """max|weight| / √(s² + eps): s is the region's spread (LayerNorm) or size (RMSNorm); 0 gives the global bound.

    Statement 2: it holds between any two tokens with at least that s, also when those between them have less.
    """
    if kind not in ("layer", "rms"):
        raise UsageError(f"a norm is 'layer' or 'rms', not {kind!r}")
    if width < 1 or not eps >= 0:
        raise UsageError(f"a norm has a width of 1 or more and an eps of 0 or more, not {width} and {eps}")
    least = region.spread if kind == "layer" else region.size
    floor = math.sqrt(least * least + eps)
    steep = 1.0 if weight is None else float(np.abs(np.asarray(weight)).max())
    constant = up(steep / floor) if floor > 0 else math.inf
    reach = steep * normalised_reach(width, eps, region) + vector_norm(bias)
    evidence = {"kind": kind, "least": least, "eps": eps, "global": least == 0.0, "largest_weight": steep}
    return PartBound(part, constant, norm, region, up(reach), "statement 2", evidence)


def normalised_reach(width: int, eps: float, region: Region) -> float:
    """How long a token can be after a norm without weights: √width r / √(r² + eps), r = reach / √width."""
    if not math.isfinite(region.reach):
        return up(math.sqrt(width))
    if region.reach == 0:
        return 0.0
    return up(region.reach / math.sqrt(region.reach**2 / width + eps))
