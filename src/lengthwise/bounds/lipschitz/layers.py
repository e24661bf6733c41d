"""LayerNorm, RMSNorm and MLPs: plain ones everywhere, gated ones and norms on a region."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from lengthwise.bounds.lipschitz.attention import product_norm
from lengthwise.bounds.lipschitz.bound import Norm, PartBound, Region
from lengthwise.bounds.lipschitz.rounding import largest_row, spectral_norm, up, vector_norm
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats

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
        raise UsageError(f"no slopes are known of the activation {activation!r}; they are of {', '.join(SLOPES)}")
    return SLOPES[activation]


def plain_mlp_bound(
    w_in: Any,
    w_out: Any,
    activation: str,
    region: Region,
    b_in: Floats | None = None,
    b_out: Floats | None = None,
    norm: Norm = "token",
    part: str = "MLP",
) -> PartBound:
    """x ↦ w_out f(w_in x + b_in) + b_out, w_in [I, W] and w_out [W, I]: m ‖w_out w_in‖ + r ‖w_out‖ ‖w_in‖.

    m and r are the middle and half the length of the range of slopes (statement 9); for ReLU that is the mean of the
    norm of the product and the product of the norms. A map of tokens one by one has one constant in both norms.
    """
    low, high = slopes(activation)
    middle, half = (low + high) / 2, (high - low) / 2
    inner, outer = spectral_norm(w_in), spectral_norm(w_out)
    product = product_norm(w_out, w_in)
    constant = up(min(abs(middle) * product + half * inner * outer, max(abs(low), abs(high)) * inner * outer))
    center = np.zeros(np.shape(w_in)[1]) if region.center is None else region.center
    start = np.asarray(w_in) @ center + (0.0 if b_in is None else b_in)
    # |f(x)| <= |x| bounds what comes out at the centre; the constant bounds how far the rest is from it.
    reach = outer * vector_norm(start) + vector_norm(b_out) + constant * region.radius
    evidence = {"activation": activation, "norms": [inner, outer], "product_norm": product, "slopes": [low, high]}
    return PartBound(part, constant, norm, None, up(reach), "statement 9", evidence)


def gated_mlp_bound(
    w_in: Any,
    w_gate: Any,
    w_out: Any,
    activation: str,
    region: Region,
    biases: tuple[Floats | None, Floats | None, Floats | None] = (None, None, None),
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
    constant = up(outer * (steep * most_in * gate + most_gate * inner))
    length = region.reach
    reach = outer * min(
        most_gate * (inner * length + vector_norm(b_in)), most_in * (gate * length + vector_norm(b_gate))
    ) + vector_norm(b_out)
    evidence = {"activation": activation, "norms": [inner, gate, outer], "largest": [most_in, most_gate]}
    return PartBound(part, constant, norm, region, up(reach), "statement 10", evidence)


def _largest_coordinate(matrix: Any, bias: Floats | None, region: Region) -> float:
    """max |coordinate of matrix x + bias| over the region, rounded up."""
    start = np.zeros(len(matrix)) if region.center is None else np.asarray(matrix) @ region.center
    start = start if bias is None else start + bias
    return up(float(np.abs(start).max()) + largest_row(matrix) * region.radius)
