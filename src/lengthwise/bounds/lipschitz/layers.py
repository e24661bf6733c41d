"""LayerNorm, RMSNorm and MLPs: plain ones everywhere, gated ones and norms on a region."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.errors import UsageError
from lengthwise.rounding import (
    Numbers,
    Rounded,
    Upper,
    applied,
    below,
    largest_entry,
    largest_row,
    product_norm,
    rounded,
    spectral_norm,
    vector_norm,
)

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
        raise UsageError(f"a norm must be 'layer' or 'rms', not {kind!r}")
    if width < 1 or not eps >= 0:
        raise UsageError(f"a norm must have a width of 1 or more and an eps of 0 or more, not {width} and {eps}")
    least = region.spread if kind == "layer" else region.size
    floor = _floor(least, eps)
    steep = 1.0 if weight is None else largest_entry(weight)
    constant = float(Upper(steep) / floor)
    reach = Upper(steep) * normalised_reach(width, eps, region) + vector_norm(bias)
    evidence = {"kind": kind, "least": least, "eps": eps, "global": least == 0.0, "largest_weight": steep}
    return PartBound(part, constant, norm, region, float(reach), "statement 2", evidence)


def normalised_reach(width: int, eps: float, region: Region) -> float:
    """How long a token can be after a norm without weights: √width r / √(r² + eps), r = reach / √width."""
    most = Upper(float(width)).root()  # approached from below as r grows
    if not math.isfinite(region.reach):
        return float(most)
    return float((Upper(region.reach) / _floor(below(region.reach / float(most)), eps)).smaller(most))


def _floor(least: float, eps: float) -> float:
    """√(least² + eps), rounded down; no square is computed that could overflow or underflow."""
    return below(math.hypot(least, below(math.sqrt(eps))), 4)


# The smallest and the largest slope of each activation, rounded outwards. Each but tanh and identity has
# slope(-x) = 1 - slope(x); all map 0 to 0 and satisfy |f(x)| <= |x|. tests/bounds/test_mlp.py proves the digits.
SLOPES: dict[str, tuple[float, float]] = {
    "identity": (1.0, 1.0),
    "relu": (0.0, 1.0),
    "tanh": (0.0, 1.0),
    "gelu": (-0.12890415, 1.12890415),
    "gelu_tanh": (-0.12899308, 1.12899308),
    "silu": (-0.09983933, 1.09983933),
}


def slopes(activation: str) -> tuple[float, float]:
    """The range of the slopes of an activation."""
    if activation not in SLOPES:
        raise UsageError(
            f"the slopes of the activation {activation!r} are not known; those of these are: {', '.join(SLOPES)}"
        )
    return SLOPES[activation]


def plain_mlp_bound(
    w_in: Any,
    w_out: Any,
    activation: str,
    region: Region,
    b_in: Numbers | None = None,
    b_out: Numbers | None = None,
    norm: Norm = "token",
    part: str = "MLP",
) -> PartBound:
    """x ↦ w_out f(w_in x + b_in) + b_out, w_in [I, W] and w_out [W, I]: m ‖w_out w_in‖ + r ‖w_out‖ ‖w_in‖.

    m and r are the middle and half the length of the range of slopes (statement 9); for ReLU that is the mean of the
    norm of the product and the product of the norms. A map of tokens one by one has one constant in both norms.
    """
    low, high = slopes(activation)
    middle, half = Upper(abs(low + high) / 2), Upper((high - low) / 2)  # a range of 1e-8 more covers their rounding
    inner, outer = spectral_norm(w_in), spectral_norm(w_out)
    product = product_norm(w_out, w_in)
    apart = Upper(inner) * outer
    constant = float((middle * product + half * apart).smaller(apart * max(abs(low), abs(high))))
    # |f(x)| <= |x| bounds what comes out at the centre; the constant bounds how far the rest is from it.
    start = _at_center(w_in, b_in, region)
    reach = Upper(vector_norm(start)) * outer + vector_norm(b_out) + Upper(constant) * region.radius
    evidence = {"activation": activation, "norms": [inner, outer], "product_norm": product, "slopes": [low, high]}
    return PartBound(part, constant, norm, None, float(reach), "statement 9", evidence)


def gated_mlp_bound(
    w_in: Any,
    w_gate: Any,
    w_out: Any,
    activation: str,
    region: Region,
    biases: tuple[Numbers | None, Numbers | None, Numbers | None] = (None, None, None),
    norm: Norm = "token",
    part: str = "gated MLP",
    largest: tuple[float, float] = (math.inf, math.inf),
) -> PartBound:
    """x ↦ w_out (f(w_gate x + b_gate) * (w_in x + b_in)) + b_out on a region; `biases` are b_in, b_gate and b_out.

    ‖w_out‖ (L u ‖w_gate‖ + g ‖w_in‖): u and g bound the coordinates of w_in x + b_in and of f(w_gate x + b_gate) on the
    region (statement 10); `largest` are smaller bounds of |w_in x + b_in| and |w_gate x + b_gate| where they are known.
    """
    b_in, b_gate, b_out = biases
    low, high = slopes(activation)
    steep = max(abs(low), abs(high))
    inner, gate, outer = spectral_norm(w_in), spectral_norm(w_gate), spectral_norm(w_out)
    most_in = min(_largest_coordinate(w_in, b_in, region), largest[0])
    most_gate = min(_largest_coordinate(w_gate, b_gate, region), largest[1])
    constant = float((Upper(most_in) * steep * gate + Upper(most_gate) * inner) * outer)
    first = (Upper(inner) * region.reach + vector_norm(b_in)) * most_gate
    second = (Upper(gate) * region.reach + vector_norm(b_gate)) * most_in
    reach = first.smaller(second) * outer + vector_norm(b_out)
    evidence = {"activation": activation, "norms": [inner, gate, outer], "largest": [most_in, most_gate]}
    return PartBound(part, constant, norm, region, float(reach), "statement 10", evidence)


def _largest_coordinate(matrix: Numbers, bias: Numbers | None, region: Region) -> float:
    """max |coordinate of matrix x + bias| over the region, rounded up."""
    return float(Upper(largest_row(matrix)) * region.radius + largest_entry(_at_center(matrix, bias, region)))


def _at_center(matrix: Numbers, bias: Numbers | None, region: Region) -> Rounded:
    """matrix @ center + bias."""
    if region.center is not None:
        return applied(matrix, region.center, bias)
    return rounded(np.zeros(len(matrix)) if bias is None else bias)
