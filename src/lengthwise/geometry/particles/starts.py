"""Where tokens may begin: unit vectors [*batch, n, d] as float64 torch tensors, reproducible from a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.limits import check_reach
from lengthwise.seeds import Seeds

_COPIES = 3  # drawn, stacked, and of length 1


def uniform(n: int, d: int, seed: int, batch: Sequence[int] = ()) -> Tensor:
    """Independent and uniform on the sphere. System i of a batch depends on the seed and on i alone."""
    _check(n, d)
    count = int(np.prod(batch, dtype=np.int64))
    check_reach(f"{count:,} starts of {n:,} tokens in {d:,} dimensions", memory=_COPIES * 8.0 * count * n * d)
    drawn = [_generator("uniform", seed, i).standard_normal((n, d)) for i in range(count)]
    return _unit(np.stack(drawn).reshape(*batch, n, d) if drawn else np.empty((*batch, n, d)))


def orthogonal(n: int, d: int) -> Tensor:
    """The first n axes, so that all inner products are 0; needs d >= n."""
    _check(n, d)
    if n > d:
        raise UsageError(f"{n} vectors cannot be orthogonal in {d} dimensions; take d >= n")
    return _unit(np.eye(n, d))


def hemisphere(n: int, d: int, seed: int) -> Tensor:
    """Independent and uniform on an open hemisphere, whose pole is drawn too."""
    _check(n, d)
    generator = _generator("hemisphere", seed)
    pole, points = generator.standard_normal(d), generator.standard_normal((n, d))
    return _unit(np.where(points @ pole < 0, -1.0, 1.0)[:, None] * points)


def caps(n: int, d: int, k: int, spread: float, seed: int) -> Tensor:
    """Tokens in k caps as far apart as k caps can be, no token more than `spread` radians from the centre of its cap.

    Consecutive tokens share a cap, and the caps differ by at most one in their number of tokens. The centres are the
    corners of a regular simplex for k <= d + 1 (inner products -1/(k-1)), else of a cross-polytope for k <= 2d (inner
    products 0 or -1), which nothing betters (rankin1955); on the circle they are a regular k-gon. The whole is turned
    at random. Inside its cap a token goes in a uniform direction by the angle `spread u^(1/(d-1))`, u uniform in
    [0, 1), which is uniform on a flat disc and nearly so on a small cap.
    """
    _check(n, d)
    if not 1 <= k <= n:
        raise UsageError(f"{n} tokens fill from 1 to {n} caps, not {k}")
    if not 0 <= spread <= np.pi:
        raise UsageError(f"the spread of a cap must be an angle from 0 to pi radians, not {spread}")
    generator = _generator("caps", seed)
    centres = (_centres(k, d) @ _turn(d, generator))[np.arange(n) * k // n]
    aside = generator.standard_normal((n, d))
    aside -= (aside * centres).sum(1, keepdims=True) * centres
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    angle = spread * generator.random((n, 1)) ** (1 / (d - 1))
    return _unit(np.cos(angle) * centres + np.sin(angle) * aside)


def _centres(k: int, d: int) -> np.ndarray:
    """k unit vectors in d dimensions whose greatest inner product is least."""
    if d == 2:
        angles = 2 * np.pi * np.arange(k) / k
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if k == 1:
        return np.eye(1, d)
    if k <= d + 1:
        return np.pad(_simplex(k), ((0, 0), (0, d - k + 1)))
    if k <= 2 * d:
        return np.concatenate([np.eye(d), -np.eye(d)])[:k]
    raise UsageError(f"at most 2d = {2 * d} caps can be placed in {d} > 2 dimensions, not {k}")


def _simplex(k: int) -> np.ndarray:
    """The k corners of a regular simplex in k - 1 dimensions: the standard basis along Helmert's axes.

    Axis j is (1, …, 1, -j, 0, …, 0) with j ones. They span the complement of (1, …, 1), as singular vectors would, but
    those belong to equal singular values, and every LAPACK kernel is free to return others.
    """
    axis, corner = np.arange(1, k)[:, None], np.arange(k)
    axes = np.where(corner < axis, 1.0, np.where(corner == axis, -axis, 0.0)) / np.sqrt(axis * (axis + 1))
    return axes.T / np.linalg.norm(axes.T, axis=1, keepdims=True)


def _turn(d: int, generator: np.random.Generator) -> np.ndarray:
    """A uniform random orthogonal matrix: the Q of a Gaussian matrix whose R has a positive diagonal, which is unique
    (mezzadri2007)."""
    q, r = np.linalg.qr(generator.standard_normal((d, d)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)


def _check(n: int, d: int) -> None:
    if n < 1 or d < 2:
        raise UsageError(f"a start needs n >= 1 tokens in d >= 2 dimensions, not n = {n} and d = {d}")


def _generator(role: str, seed: int, index: int = 0) -> np.random.Generator:
    return np.random.default_rng(Seeds(seed).key(role, index))


def _unit(points: np.ndarray) -> Tensor:
    return torch.from_numpy(points / np.linalg.norm(points, axis=-1, keepdims=True))
