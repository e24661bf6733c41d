"""Attacks on Lipschitz constants: pairs of inputs from the certified set that are stretched as much as can be found.

Every evaluated quotient is an attempt. A search tries random pairs, pairs that differ in one coordinate, steps of
gradient ascent on the logarithm of the quotient, and derivatives in the directions that a power iteration finds. What
evaluating f in float64 can add is taken off: 1e-12 of the size of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp, vjp

from attack.attempt import Attempts, Found
from lengthwise.bounds.lipschitz import (
    SLOPES,
    AttentionHead,
    Region,
    attention_bound,
    gated_mlp_bound,
    l2_attention_bound,
    norm_bound,
    plain_mlp_bound,
)
from lengthwise.models.forward import apply_attention, apply_mlp, apply_norm
from lengthwise.models.parts import ACTIVATIONS, AttentionPart, MlpPart, NormPart
from lengthwise.probes.lipschitz.parts import heads_of, sight_of
from lengthwise.rounding import product_norm, spectral_norm

Map = Callable[[Tensor], Tensor]
EVALUATION = 1e-12
LEAST = 2.0**-1000
BOTH = ("token", "frobenius")


def lengths(x: Tensor) -> Tensor:
    """Euclidean norms along the last axis, whatever the scale."""
    top = x.detach().abs().amax(-1, keepdim=True).clamp(min=LEAST)
    return (x / top).square().sum(-1).clamp(min=1e-300).sqrt() * top[..., 0]


def size(x: Tensor, norm: str) -> Tensor:
    return lengths(x).amax(1) if norm == "token" else lengths(lengths(x))


def in_ball(radius: float, center: Tensor | float = 0.0) -> Map:
    def inside(x: Tensor) -> Tensor:
        away = x - center
        return center + away * (radius * (1 - 1e-14) / lengths(away)[..., None]).clamp(max=1.0)

    return inside


def quotient(f: Map, x: Tensor, y: Tensor, norm: str) -> Tensor:
    one, two, apart = f(x), f(y), size(x - y, norm)
    seen = size(one - two, norm) - EVALUATION * (size(one, norm) + size(two, norm)).detach()
    return torch.where(apart > LEAST, seen.clamp(min=0.0) / apart.clamp(min=LEAST), torch.zeros_like(apart))


def search(f: Map, inside: Map, start: Tensor, norm: str, rng: np.random.Generator, steps: int = 6) -> Iterator[Tensor]:
    """Quotients of pairs [B], attempt after attempt."""
    x = inside(start)
    reach = float(lengths(x).max()) or 1.0
    generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
    noise = torch.randn(x.shape, generator=generator, dtype=x.dtype)
    y = inside(x + reach * 10 ** float(rng.uniform(-3, 0.3)) * noise / size(noise, norm)[:, None, None])
    best = quotient(f, x, y, norm)
    yield best
    rows = torch.arange(len(x))
    places = [torch.randint(s, (len(x),), generator=generator) for s in x.shape[1:]]
    moved = x.clone()
    moved[rows, places[0], places[1]] += reach * 10 ** float(rng.uniform(-3, 0.3))
    moved = inside(moved)
    seen = quotient(f, x, moved, norm)
    yield seen
    y = torch.where((seen > best)[:, None, None], moved, y)
    rate = reach * 10 ** float(rng.uniform(-2.5, -0.5))
    for _ in range(steps):
        pair = [x.detach().requires_grad_(True), y.detach().requires_grad_(True)]
        climbed = quotient(f, *pair, norm)
        gradients = torch.autograd.grad(climbed.clamp(min=LEAST).log().sum(), pair)
        with torch.no_grad():
            x, y = (inside(p + rate * torch.nan_to_num(_unit(g))) for p, g in zip(pair, gradients, strict=True))
            yield quotient(f, x, y, norm)
        rate *= 0.8


def _unit(x: Tensor) -> Tensor:
    return x / lengths(x.flatten(1)).clamp(min=LEAST)[:, None, None]


def derivatives(f: Map, x: Tensor, norm: str, rng: np.random.Generator, steps: int = 3) -> Iterator[Tensor]:
    """How much the derivative at x stretches a direction, which a power iteration improves."""
    direction = torch.randn(x.shape, generator=torch.Generator().manual_seed(int(rng.integers(2**62))), dtype=x.dtype)
    value, pull = vjp(f, x)
    for _ in range(steps):
        direction = direction / size(direction, norm)[:, None, None]
        pushed = jvp(f, (x,), (direction,))[1]
        yield (size(pushed, norm) - EVALUATION * size(value, norm) / size(x, norm).clamp(min=LEAST)).clamp(min=0.0)
        if norm == "token":
            most, rows, only = lengths(pushed).argmax(1), torch.arange(len(x)), torch.zeros_like(pushed)
            only[rows, most] = pushed[rows, most]
            (direction,) = pull(only)
            direction = direction / lengths(direction).clamp(min=LEAST)[..., None]
        else:
            (direction,) = pull(pushed)


def part_attempts(
    name: str, f: Map, inside: Map, start: Tensor, norm: str, certified: float, reach: float, rng: np.random.Generator
) -> Found:
    """All searches against one constant, and the longest token that comes out against the reach."""
    for seen in search(f, inside, start, norm, rng):
        yield Attempts(f"{name}, {norm}", seen.detach().numpy(), certified)
    if float(lengths(start).max()) < 1e100:
        for seen in derivatives(f, inside(start), norm, rng):
            yield Attempts(f"{name}, {norm}", seen.detach().numpy(), certified)
    if np.isfinite(reach):
        with torch.no_grad():
            long = lengths(f(inside(start * 1e3))).amax(1) * (1 - EVALUATION)
        yield Attempts(f"{name}, reach", long.numpy(), reach)


# --- norms of matrices ----------------------------------------------------------------------------------------------


def matrix_norms(rng: np.random.Generator, batch: int) -> Found:
    """Random, degenerate, denormal and huge matrices against many directions, judged in scaled arithmetic."""
    m, k, n = (int(side) for side in rng.integers(1, 13, size=3))
    left, right = _matrix(rng, (m, k)), _matrix(rng, (k, n))
    with np.errstate(over="ignore"):
        exponents = [int(e) for e in rng.choice([0, 0, -1060, -600, 900], size=2)]
        one, two = (np.ldexp(side, e) for side, e in zip((left, right), exponents, strict=True))
    exact, after = (np.ldexp(side, -e) for side, e in zip((one, two), exponents, strict=True))  # denormals lose digits
    directions = rng.normal(size=(n, batch))
    directions[:, :n] = np.linalg.svd(exact @ after)[2].T[:, :batch]
    directions[:, -1] = np.linalg.svd(after)[2][0]
    for _ in range(2):
        directions /= np.linalg.norm(directions, axis=0)
        yield Attempts(
            "spectral norm", *_seen(np.linalg.norm(after @ directions, axis=0), spectral_norm(two), exponents[1])
        )
        images = np.linalg.norm(exact @ (after @ directions), axis=0)
        yield Attempts("norm of a product", *_seen(images, product_norm(one, two), sum(exponents)))
        directions = after.T @ (exact.T @ (exact @ (after @ directions))) + 1e-9 * directions


def _seen(images: np.ndarray, certified: float, exponent: int) -> tuple[np.ndarray, float]:
    """Both scaled so that neither is lost; a certificate of the smallest float is one of a true norm below it."""
    images = images * (1 - 1e-13)
    if not np.isfinite(certified) or exponent > 1000 or exponent < -1074:
        return np.where(images > 0, 1.0 if certified == 0 else 0.0, 0.0), 0.5  # only 0 is certainly wrong
    return images, float(np.ldexp(certified, -exponent))


def _matrix(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    kind = rng.integers(5)
    matrix = rng.normal(size=shape)
    if kind == 1:
        matrix = np.outer(matrix[:, 0], matrix[0])
    elif kind == 2:
        matrix = np.linalg.svd(matrix, full_matrices=False)[0] @ np.linalg.svd(matrix, full_matrices=False)[2]
    elif kind == 3:
        matrix = rng.integers(-2, 3, size=shape).astype(float)
    elif kind == 4:
        matrix = matrix * 10.0 ** rng.uniform(-12, 0, size=shape)
    return matrix


# --- parts ----------------------------------------------------------------------------------------------------------


def stored(rng: np.random.Generator, *shape: int) -> Tensor:
    """Weights as a float32 or a float64 model stores them, of any strength."""
    weights = torch.from_numpy(rng.normal(size=shape) * 10 ** rng.uniform(-1.5, 1.0))
    return weights.float().double() if rng.random() < 0.5 else weights


def attention(rng: np.random.Generator, batch: int) -> Found:
    """Heads of every rule that has a bound, with and without rotations, position biases, biases and a mask."""
    rule = str(rng.choice(["softmax", "softmax:temperature=0.3", "window:size=2", "log_length"]))
    heads, width, length = int(rng.integers(1, 3)), 4, int(rng.integers(1, 7))
    shift = 2.0 ** int(rng.choice([0, 0, 0, -400, 300, -530]))  # long tokens with small weights, or the reverse
    turns = torch.tensor([1.0, 0.1]).double() if rng.random() < 0.4 else None
    bias = torch.from_numpy(rng.normal(size=(1, heads, length, length)) * 3) if rng.random() < 0.3 else None
    matrices = [stored(rng, heads, 4, width) * shift for _ in range(3)]
    biases = [stored(rng, heads, 4) if rng.random() < 0.4 else None for _ in range(3)]
    part = AttentionPart(
        *matrices, stored(rng, heads, width, 4), *biases, stored(rng, width), 0.5, bool(rng.integers(2)),
        rotary=turns, bias=None if bias is None else lambda *_: bias, rule=rule,
    )  # fmt: skip
    at, radius = torch.arange(length)[None], float(10 ** rng.uniform(-1, 0.5)) / shift
    center = stored(rng, width) / shift if rng.random() < 0.3 else None
    region = Region(radius, center=None if center is None else center.numpy())
    start = torch.from_numpy(rng.normal(size=(batch, length, width))) * radius
    if rng.random() < 0.3 and length > 2:  # two clusters, where statement 3 is attained
        start = start[:, :, :1].sign() * start[:1, :1] / lengths(start[:1, :1])[..., None] * radius
    start = start if center is None else start + center
    kind = rule.split(":")[0] + (", RoPE" if turns is not None else "") + (", bias" if bias is not None else "")
    for norm in BOTH:
        bound = attention_bound(heads_of(part, length), region, norm, sight_of(part, length), part.bo.numpy())
        yield from part_attempts(
            f"attention, {kind}", lambda x: apply_attention(part, x, at)[0],
            in_ball(radius, 0.0 if center is None else center), start, norm, bound.constant, bound.reach, rng,
        )  # fmt: skip


def attained(rng: np.random.Generator, batch: int) -> Found:
    """The head of statement 4, which attains its bound: two clusters of keys."""
    strength = float(10 ** rng.uniform(-1, 2))
    same, copies = torch.eye(3).double(), int(rng.integers(5, 12))
    query = strength * torch.diag(torch.tensor([1.0, -1.0, 1.0])).double()
    part = AttentionPart(query[None], *([same[None]] * 3), None, None, None, None, scale=1.0, causal=False)
    x = torch.stack([same[1], *([same[0]] * copies), *([-same[0]] * copies)])[None]
    start = x + 1e-4 * torch.from_numpy(rng.normal(size=(batch, *x.shape[1:])))
    at, heads = torch.arange(x.shape[1])[None], heads_of(part, x.shape[1])
    for norm in BOTH:
        bound = attention_bound(heads, Region(1.0), norm, sight_of(part, x.shape[1]))
        yield from part_attempts(
            "attention, two clusters", lambda x: apply_attention(part, x, at)[0], in_ball(1.0), start, norm,
            bound.constant, bound.reach, rng,
        )  # fmt: skip


def l2_attention(rng: np.random.Generator, batch: int) -> Found:
    width, length, scale = 4, int(rng.integers(1, 8)), float(10 ** rng.uniform(-2, 2))
    query, value = stored(rng, 3, width), stored(rng, width, 3)
    causal = torch.ones(length, length).tril().bool() if rng.random() < 0.5 else torch.ones(length, length).bool()

    def f(x: Tensor) -> Tensor:
        y = x @ query.T
        logits = -scale * (y[:, :, None] - y[:, None]).square().sum(-1)
        return logits.masked_fill(~causal, -torch.inf).softmax(-1) @ y @ value.T

    start = torch.from_numpy(rng.normal(size=(batch, length, width))) * 10 ** rng.uniform(-1.5, 1)
    for norm in BOTH:
        certified = l2_attention_bound(query.numpy(), value.numpy(), length, norm).constant
        yield from part_attempts("L2 attention", f, lambda x: x, start, norm, certified, np.inf, rng)


def mlp(rng: np.random.Generator, batch: int) -> Found:
    width, inner = 4, int(rng.integers(1, 9))
    shift = 2.0 ** int(rng.choice([0, 0, 0, -400, 300]))
    activation = str(rng.choice([*ACTIVATIONS]))
    assert activation in SLOPES
    w_in, w_gate = (stored(rng, inner, width) * shift for _ in range(2))
    w_out, b_in, b_gate, b_out = (stored(rng, *s) for s in ((width, inner), (inner,), (inner,), (width,)))
    radius = float(10 ** rng.uniform(-1, 1)) / shift
    center = stored(rng, width) / shift if rng.random() < 0.5 else None
    region = Region(radius, center=None if center is None else center.numpy())
    start = torch.from_numpy(rng.normal(size=(batch, 1, width))) * radius
    start, around = (start, 0.0) if center is None else (start + center, center)
    if rng.random() < 0.5:
        part = MlpPart("plain", w_in, b_in, None, w_out, b_out, activation)
        bound = plain_mlp_bound(w_in.numpy(), w_out.numpy(), activation, region, b_in.numpy(), b_out.numpy())
    else:
        part = MlpPart("gated", w_in, b_in, w_gate, w_out, b_out, activation, b_gate)
        biases = (b_in.numpy(), b_gate.numpy(), b_out.numpy())
        bound = gated_mlp_bound(w_in.numpy(), w_gate.numpy(), w_out.numpy(), activation, region, biases)
    yield from part_attempts(
        f"{part.kind} MLP, {activation}", lambda x: apply_mlp(part, x), in_ball(radius, around), start, "token",
        bound.constant, bound.reach, rng,
    )  # fmt: skip


def norms(rng: np.random.Generator, batch: int) -> Found:
    """LayerNorm and RMSNorm between tokens of a least spread, down to far below eps; and everywhere."""
    kind, width = str(rng.choice(["layer", "rms"])), int(rng.integers(2, 7))
    eps = float(rng.choice([1e-5, 1e-12, 1e-40, 0.0, 1.0]))
    least = float(10 ** rng.uniform(-9, 1)) if eps == 0 or rng.random() < 0.7 else 0.0
    weight, bias = stored(rng, width), stored(rng, width)
    level = float(10 ** rng.uniform(-3, 3)) if kind == "layer" and rng.random() < 0.5 else 0.0
    bound = norm_bound(kind, width, eps, Region(1e6, least, least), weight.numpy(), bias.numpy())
    part = NormPart(kind, weight, bias, eps)

    def inside(x: Tensor) -> Tensor:
        """Each token with its spread (or size) enlarged to the least, and a mean that does not count."""
        own = x - x.mean(-1, keepdim=True) if kind == "layer" else x
        spread = lengths(own)[..., None] / width**0.5
        return own * (least * (1 + 1e-9) / spread).clamp(min=1.0)

    start = torch.from_numpy(rng.normal(size=(batch, 1, width))) * max(least, eps**0.5) * 10 ** rng.uniform(-1.5, 1)
    f = lambda x: apply_norm(part, x + level * least if least else x)  # noqa: E731
    yield from part_attempts(f"{kind} norm", f, inside, start, "token", bound.constant, bound.reach, rng)


def folded_head(rng: np.random.Generator, batch: int) -> Found:
    """Matrices behind a norm, whose weights may cancel: ‖O V diag(γ) P‖ against directions that sum to zero."""
    width = int(rng.integers(2, 7))
    weight = rng.uniform(1, 2, size=width)
    row = (1.0 / weight)[None] * rng.normal() + 10 ** rng.uniform(-18, -10) * rng.normal(size=(1, width))
    head = AttentionHead(row, row, row, np.ones((1, 1))).behind_norm(weight, centred=True)
    z = rng.normal(size=(batch, width))
    z -= z.mean(axis=1, keepdims=True)
    z[0] = row[0] * weight - (row[0] * weight).mean()
    wide = z.astype(np.longdouble)
    wide -= wide.mean(axis=1, keepdims=True)
    seen = np.abs((wide * weight.astype(np.longdouble)) @ row[0].astype(np.longdouble))
    size_of = np.sqrt((wide**2).sum(axis=1))
    ratios = np.where(size_of > 0, seen / np.maximum(size_of, np.longdouble(1e-300)), 0)
    allowance = 1e-17 * np.abs(row * weight).max() * width  # of the evaluation, where long doubles are long
    yield Attempts("matrix behind a norm", np.maximum(0.0, (ratios - allowance).astype(float)), head.norms.mix)
