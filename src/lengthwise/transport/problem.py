"""What is asked and what is answered: two weighted samples with a cost between them, and a plan with its potentials.

The distance is `W1 = min sum_ij P_ij c_ij` over plans P >= 0 whose rows sum to `a` and whose columns sum to `b`. Its
dual is `max sum_i a_i f_i + sum_j b_j g_j` over potentials with `f_i + g_j <= c_ij` (villani2009, theorem 5.10). A cost
is asked for in blocks, so that nobody needs to hold all n x m of it.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from lengthwise.errors import UsageError
from lengthwise.rounding import DistanceError, distance_error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Norm = Literal["euclidean", "cityblock"]

_PAIRS_AT_ONCE = 1 << 16
_PLAIN = 300  # the exponent of the largest coordinate up to which squares are computed as they are
_LARGEST = 8e307  # what coordinates may add up to, so that each distance is a float
_SUM = 1e-9  # weights whose sum is this near to one were meant to sum to one


class Cost(abc.ABC):
    """What moving one unit from item i of the first sample to item j of the second costs; finite and never negative."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """The sizes of the two samples."""

    @abc.abstractmethod
    def block(self, rows: Any, columns: Any) -> Floats:
        """The costs of all pairs, [len(rows), len(columns)]; both are slices or arrays of indices."""

    @abc.abstractmethod
    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """The costs of the pairs (rows[k], columns[k]), [k]."""

    @property
    def error(self) -> DistanceError:
        """How far a cost can be from what it stands for; costs that are given as numbers are those numbers."""
        return DistanceError(0.0, 0.0)

    def largest(self) -> float:
        """The largest cost; this looks at all of them in blocks."""
        n, m = self.shape
        high = max(1, _PAIRS_AT_ONCE // m)
        return max(float(self.block(slice(top, top + high), slice(None)).max()) for top in range(0, n, high))

    def ceiling(self) -> float:
        """A number that no cost exceeds, found quickly where there is a quick way."""
        return self.largest()

    def part(self, rows: Ints, columns: Ints) -> Cost:
        """The cost between some items of both samples."""
        return _Piece(self, rows, columns)

    def flipped(self) -> Cost:
        """The cost with the samples exchanged."""
        return _Flipped(self)


class MatrixCost(Cost):
    """A cost that is given as a dense matrix; what fits any metric."""

    def __init__(self, matrix: ArrayLike) -> None:
        values = np.ascontiguousarray(matrix, dtype=np.float64)
        if values.ndim != 2 or 0 in values.shape:
            raise UsageError(f"a cost matrix must have two dimensions and no empty side, not the shape {values.shape}")
        if not np.isfinite(values).all():
            raise UsageError("a cost matrix holds finite numbers; this one holds NaN or infinity")
        if values.min() < 0:
            raise UsageError(f"a cost matrix must not contain negative numbers; this one contains {values.min():.4g}")
        self.matrix = values

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def block(self, rows: Any, columns: Any) -> Floats:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return self.matrix[rows][:, columns]
        return self.matrix[np.ix_(rows, columns)]

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        return self.matrix[rows, columns]

    def largest(self) -> float:
        return float(self.matrix.max())


class VectorCost(Cost):
    """The distance between vectors x [n, d] and y [m, d] in a norm; the n x m distances are never stored.

    One-dimensional arrays are taken as vectors with one coordinate. Where coordinates are so small or so large that
    squares of theirs are no floats, distances are computed after scaling by a power of two, 2^-`exponent`.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, norm: Norm = "euclidean") -> None:
        if norm not in ("euclidean", "cityblock"):
            raise UsageError(f"the norm must be 'euclidean' or 'cityblock', not {norm!r}")
        self.x, self.y = _vectors(x, "first"), _vectors(y, "second")
        self.norm: Norm = norm
        if self.x.shape[1] != self.y.shape[1]:
            raise UsageError(
                f"both samples need vectors of the same dimension; the first has {self.x.shape[1]} "
                f"coordinates, the second {self.y.shape[1]}"
            )
        self.top = float(max(np.abs(self.x).max(), np.abs(self.y).max()))
        if self.top > _LARGEST / self.dimension:
            raise UsageError(f"vectors with coordinates of {self.top:.3g} have distances beyond the range of floats")
        exponent = math.frexp(self.top)[1]
        self.exponent = exponent if abs(exponent) > _PLAIN and self.top else 0

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.x), len(self.y)

    @property
    def dimension(self) -> int:
        return self.x.shape[1]

    @property
    def line(self) -> bool:
        """Whether the vectors have one coordinate, so that sorting solves the problem."""
        return self.dimension == 1

    @property
    def error(self) -> DistanceError:
        one_point = bool((self.x == self.x[0]).all() and (self.y == self.x[0]).all())
        top = self.top if self.exponent else max(self.top, 1.0)
        return distance_error(self.dimension, 0.0 if one_point else top)

    def scaled(self) -> VectorCost:
        """The vectors times 2^-exponent, which is exact, and their distances with them."""
        if self.exponent == 0:
            return self
        return VectorCost(np.ldexp(self.x, -self.exponent), np.ldexp(self.y, -self.exponent), self.norm)

    def block(self, rows: Any, columns: Any) -> Floats:
        x, y = self.x[rows], self.y[columns]
        if self.exponent:
            x, y = np.ldexp(x, -self.exponent), np.ldexp(y, -self.exponent)
        return np.ldexp(np.asarray(cdist(x, y, metric=self.norm), dtype=np.float64), self.exponent)

    def ceiling(self) -> float:
        """The diagonal of the box that holds all vectors."""
        low, high = np.minimum(self.x.min(0), self.y.min(0)), np.maximum(self.x.max(0), self.y.max(0))
        diagonal = np.ldexp(high - low, -self.exponent)
        return float(np.ldexp(np.linalg.norm(diagonal, ord=2 if self.norm == "euclidean" else 1), self.exponent))

    def part(self, rows: Ints, columns: Ints) -> VectorCost:
        return VectorCost(self.x[rows], self.y[columns], self.norm)

    def flipped(self) -> VectorCost:
        return VectorCost(self.y, self.x, self.norm)

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        order = 2 if self.norm == "euclidean" else 1
        costs = np.empty(len(rows))
        for start in range(0, len(rows), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            apart = np.ldexp(self.x[rows[some]] - self.y[columns[some]], -self.exponent)
            costs[some] = np.linalg.norm(apart, ord=order, axis=1)
        return np.ldexp(costs, self.exponent)


@dataclass(frozen=True, eq=False)
class _Piece(Cost):
    whole: Cost
    rows: Ints
    columns: Ints

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def block(self, rows: Any, columns: Any) -> Floats:
        return self.whole.block(self.rows[rows], self.columns[columns])

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        return self.whole.pairs(self.rows[rows], self.columns[columns])


@dataclass(frozen=True, eq=False)
class _Flipped(Cost):
    other: Cost

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.other.shape
        return m, n

    def block(self, rows: Any, columns: Any) -> Floats:
        return self.other.block(columns, rows).T

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        return self.other.pairs(columns, rows)


@dataclass(frozen=True, eq=False)
class TransportProblem:
    """Two weighted samples and the cost between them. Without weights, all items of a sample weigh the same.

    The weights are positive and sum to one; a sum that misses one by rounding (1e-9) is mended by dividing by it.
    """

    cost: Cost
    a: Floats
    b: Floats

    def __init__(self, cost: Cost, a: ArrayLike | None = None, b: ArrayLike | None = None) -> None:
        n, m = cost.shape
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "a", _weights(a, n, "first"))
        object.__setattr__(self, "b", _weights(b, m, "second"))


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver hands back: a sparse plan, potentials, and whether it believes itself; `verify` does not.

    `mass[k]` moves from item rows[k] of the first sample to item columns[k] of the second. `exact` says that the method
    ends in an optimum when it is allowed to finish, `finished` that it was; `notes` are facts to show.
    """

    rows: Ints
    columns: Ints
    mass: Floats
    f: Floats
    g: Floats
    method: str
    exact: bool
    finished: bool
    notes: tuple[str, ...] = ()


def _vectors(values: ArrayLike, which: str) -> Floats:
    vectors = np.ascontiguousarray(values, dtype=np.float64)
    if vectors.ndim == 1:
        vectors = vectors[:, None]
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise UsageError(f"the {which} sample needs at least one vector and one coordinate, not shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise UsageError(f"the vectors of the {which} sample must be finite; vector {bad} holds NaN or infinity")
    return vectors


def _weights(values: ArrayLike | None, count: int, which: str) -> Floats:
    if values is None:
        return np.full(count, 1.0 / count)
    weights = np.array(values, dtype=np.float64)
    if weights.shape != (count,):
        raise UsageError(f"the {which} sample has {count} items and needs as many weights, not shape {weights.shape}")
    if not (np.isfinite(weights).all() and weights.min() > 0):
        raise UsageError(f"the weights of the {which} sample must be positive and finite; leave out items that weigh 0")
    total = math.fsum(weights)
    if abs(total - 1.0) > _SUM:
        raise UsageError(f"the weights of the {which} sample must sum to 1, not {total:.10g}; divide them by their sum")
    return weights / total
