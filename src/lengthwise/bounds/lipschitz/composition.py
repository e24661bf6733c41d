"""Parts put together: one after the other, and beside a residual connection."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.bounds.lipschitz.rounding import up
from lengthwise.errors import UsageError


def chained(bounds: Sequence[PartBound], part: str, region: Region | None = None) -> PartBound:
    """f_k ∘ ... ∘ f_1: the constants multiply (statement 1).

    Each bound must be valid on a region that holds what the one before puts out; whoever made them saw to that.
    """
    if not bounds:
        raise UsageError("a chain has at least one part")
    norm = _one_norm(bounds)
    constant = math.prod(bound.constant for bound in bounds)
    constant = constant if math.isfinite(constant) else math.inf  # 0 x inf is no number: unknown counts as infinite
    names = {bound.part: bound.constant for bound in bounds}
    first = bounds[0]
    return PartBound(
        part,
        up(constant),
        norm,
        first.region if region is None else region,
        bounds[-1].reach,
        "statement 1",
        {"parts": names},
        first.region_text if region is None else "",
    )


def residual(bound: PartBound, region: Region, part: str) -> PartBound:
    """x ↦ x + f(x): 1 + the constant, and the reaches add up (statement 1)."""
    return PartBound(
        part,
        up(1.0 + bound.constant),
        bound.norm,
        region,
        up(region.reach + bound.reach),
        "statement 1",
        {"inner": bound.constant},
        bound.region_text,
    )


def _one_norm(bounds: Sequence[PartBound]) -> Norm:
    norms = {bound.norm for bound in bounds}
    if len(norms) > 1:
        raise UsageError("only bounds in one norm can be chained; these are in the token and in the Frobenius norm")
    return bounds[0].norm
