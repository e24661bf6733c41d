"""Outward rounding: arithmetic in float64 whose results are certainly not too small, and norms that are none below the
true ones.

Every certificate is a number computed in floats about a function over the reals. What that computation can lose is part
of the certificate, in one of two ways:

- `Upper` rounds each operation up to the next float. It needs no analysis, and it cannot underflow to 0: a product of
  two positive numbers is at least the smallest positive float.
- Sums of many products (norms, products of matrices) are computed as usual and enlarged by what they can have lost.
  With u = 2^-53 a sum of n products, in any order, is wrong by at most γ_n = n u / (1 - n u) times the sum of their
  absolute values (higham2002, section 3.1). Numbers are first scaled by a power of two, which is exact, so that squares
  neither overflow nor underflow; what still underflows is below 2^-1000 of the largest and is covered by one more u.

`Rounded` is a matrix or vector that was computed, with a bound on how far it is from the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats

UNIT = 2.0**-53  # the largest relative error of one float64 operation
SMALLEST = 2.0**-1074  # the smallest positive float
_UNDERFLOW = 2.0**-530  # of the largest coordinate: no more is lost by squares that underflow, times √n


def gamma(operations: float) -> float:
    """γ_n = n u / (1 - n u), rounded up."""
    return _next(operations * UNIT * (1.0 + 4 * UNIT) / (1.0 - operations * UNIT * (1.0 + 4 * UNIT)))


def _next(value: Any) -> Any:
    return np.nextafter(value, np.inf)


class Upper:
    """Numbers of 0 or more (one, or an array) that bound others from above; each operation rounds up.

    Operands are `Upper`s or plain numbers of 0 or more. Division is by a plain number that bounds the divisor from
    below. 0 times infinity is infinity: what is unknown counts as infinite.
    """

    __array_ufunc__ = None  # so that an array on the left leaves the operation to this class
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value.value if isinstance(value, Upper) else value

    def __float__(self) -> float:
        return float(self.value)

    def __add__(self, other: Any) -> Upper:
        first, second = self.value, Upper(other).value
        return Upper(np.where(second == 0, first, np.where(first == 0, second, _next(first + second)))[()])

    def __mul__(self, other: Any) -> Upper:
        first, second = self.value, Upper(other).value
        with np.errstate(all="ignore"):
            product = np.multiply(first, second)
        none = (first == 0) | (second == 0)
        unknown = np.isinf(first) | np.isinf(second)
        return Upper(np.where(unknown, np.inf, np.where(none, 0.0, _next(product)))[()])

    def __truediv__(self, least: Any) -> Upper:
        with np.errstate(all="ignore"):
            quotient = np.divide(self.value, least)
        return Upper(np.where(np.equal(least, 0) | np.isinf(self.value), np.inf, self._unless_zero(quotient))[()])

    __radd__, __rmul__ = __add__, __mul__

    def root(self) -> Upper:
        return Upper(self._unless_zero(np.sqrt(self.value)))

    def hypot(self, other: Any) -> Upper:
        """√(a² + b²); the library function is wrong by two units at most."""
        length = np.hypot(self.value, Upper(other).value)
        return Upper(np.where(length == 0, 0.0, _next(_next(_next(length))))[()])

    def exp(self) -> Upper:
        """The library function is wrong by two units at most."""
        with np.errstate(over="ignore"):
            return Upper(_next(_next(_next(np.exp(self.value)))))

    def smaller(self, other: Any) -> Upper:
        """The smaller of two bounds of the same number."""
        return Upper(np.minimum(self.value, Upper(other).value))

    def largest(self, axis: int | None = None) -> Upper:
        return Upper(np.max(self.value, axis=axis))

    def _unless_zero(self, result: Any) -> Any:
        return np.where(np.equal(self.value, 0), 0.0, _next(result))[()]


def total(values: Any) -> Upper:
    """The sum of some bounds."""
    result = Upper(0.0)
    for value in values:
        result = result + value
    return result


def below(value: float, operations: int = 1) -> float:
    """A number of 0 or more that came from this many correctly rounded operations on numbers of 0 or more, rounded
    down."""
    return max(0.0, float(np.nextafter(value * (1.0 - 2 * operations * UNIT), -np.inf)))


# --- what was computed, with its error ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rounded:
    """A vector or matrix as computed. The true one differs by at most `error`, in the Euclidean norm of all entries,
    and so in the spectral norm."""

    values: Floats
    error: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    @property
    def T(self) -> Rounded:  # as numpy has it
        return Rounded(self.values.T, self.error)


Numbers = Any  # numbers that are exact as they are given, or `Rounded`


def rounded(values: Numbers) -> Rounded:
    """Numbers that are exact as given have no error."""
    return values if isinstance(values, Rounded) else Rounded(np.asarray(values, dtype=np.float64))


def matrix_of(values: Numbers, what: str = "a matrix") -> Floats:
    """The values as a finite float64 matrix."""
    matrix = rounded(values).values
    if matrix.ndim != 2 or not matrix.size:
        raise UsageError(f"{what} must have two axes and at least one entry, not the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise UsageError(f"{what} holds NaN or infinity; a norm needs finite entries")
    return matrix


def scaled_columns(matrix: Numbers, weight: Any) -> Rounded:
    """The matrix with each column times its weight."""
    whole, weights = rounded(matrix), np.asarray(weight, dtype=np.float64)
    values = whole.values * weights
    lost = largest_entry(weights) * Upper(whole.error)
    return Rounded(values, float(lost + entries_norm(values) * (2 * UNIT) + _underflowed(values.size, whole.values)))


def centred_rows(matrix: Numbers) -> Rounded:
    """Each row less its mean: a mean of n numbers is wrong by γ_n times their mean absolute value, at most."""
    whole = rounded(matrix)
    values = whole.values - whole.values.mean(axis=1, keepdims=True)
    lost = entries_norm(whole.values) * gamma(whole.shape[1] + 4)
    return Rounded(values, float(Upper(whole.error) + lost + _underflowed(values.size, whole.values)))


def applied(matrix: Numbers, vector: Numbers, bias: Numbers | None = None) -> Rounded:
    """matrix @ vector + bias; an infinite error where that is no float."""
    first, second, third = rounded(matrix), rounded(vector), None if bias is None else rounded(bias)
    for given in (first, second, third):
        if given is not None and not np.isfinite(given.values).all():
            raise UsageError("a vector holds NaN or infinity; a norm needs finite entries")
    with np.errstate(all="ignore"):
        values = first.values @ second.values
    long, size = entries_norm(second.values), entries_norm(first.values)
    lost = (size * long) * gamma(len(second) + 2) + first.error * (long + second.error) + size * second.error
    lost = lost + (_underflowed(first.values.size, second.values) if float(size) else 0.0)
    if third is not None:
        values = values + third.values
        lost = lost + third.error + (size * long + entries_norm(third.values)) * (2 * UNIT)
    finite = bool(np.isfinite(values).all())
    return Rounded(values if finite else np.zeros_like(values), float(lost) if finite else math.inf)


def _underflowed(count: int, values: Floats) -> float:
    """What `count` products can have lost by underflow."""
    return count * SMALLEST if values.any() else 0.0


# --- norms ----------------------------------------------------------------------------------------------------------


def lengths(vectors: Numbers) -> Upper:
    """The Euclidean norms along the last axis. Coordinates may have been rounded once, as those of a difference are."""
    whole = rounded(vectors)
    values = whole.values
    if not np.isfinite(values).all():
        raise UsageError("a vector holds NaN or infinity; a norm needs finite entries")
    top = np.abs(values).max(axis=-1, initial=0.0)
    exponent = np.frexp(top)[1]
    scaled = np.ldexp(values, -exponent[..., None])
    squares = np.einsum("...i,...i->...", scaled, scaled)
    enlarged = np.sqrt(squares) * (1.0 + gamma(values.shape[-1] + 10))
    with np.errstate(over="ignore"):
        return Upper(np.where(top == 0, 0.0, _next(np.ldexp(_next(enlarged), exponent)))[()]) + whole.error


def entries_norm(values: Any) -> Upper:
    """The Euclidean norm of all entries; infinite where one is not finite."""
    flat = np.ravel(values)
    return lengths(flat) if np.isfinite(flat).all() else Upper(math.inf)


def vector_norm(values: Numbers | None) -> float:
    """The Euclidean norm of a vector; 0 for None."""
    return 0.0 if values is None else float(lengths(values))


def largest_row(values: Numbers) -> float:
    """The largest Euclidean norm of a row: the norm from vectors to their largest coordinate."""
    matrix_of(values)
    return float(lengths(values).largest())


def largest_entry(values: Numbers) -> float:
    """The largest absolute value."""
    whole = rounded(values)
    if not np.isfinite(whole.values).all():
        raise UsageError("a vector holds NaN or infinity; a norm needs finite entries")
    return float(Upper(float(np.abs(whole.values).max(initial=0.0))) + whole.error)


def spectral_norm(values: Numbers) -> float:
    """A certified upper bound of the largest singular value of a matrix, 1e-9 above it or less for widths up to 4,000.

    Proof. Let B be the matrix divided by a power of two so that its largest entry is between 1/2 and 1, k its shorter
    and m its longer side, and G = BᵀB (or BBᵀ), of size k, as computed. Its error is at most γ |B|ᵀ|B| entrywise with
    γ = m u / (1 - m u), so in spectral norm at most γ ‖B‖_F². If the Cholesky factorisation of C = s - G runs through,
    its factor R has RᵀR = C + E with |E| <= g |R|ᵀ|R|, g = (k + 1) u / (1 - (k + 1) u) (higham2002, theorem 10.3),
    hence ‖E‖ <= g ‖R‖_F² = g tr(RᵀR) <= g / (1 - g) tr C, and C >= -‖E‖ as RᵀR >= 0 (rump2006). So ‖B‖² = λ_max(BᵀB)
    <= s + δ tr C + γ ‖B‖_F², where δ = (k + 3) u / (1 - (k + 3) u) exceeds g / (1 - g), and what it exceeds it by
    covers the rounding of s - G_ii and products that underflow. The s tried first is the computed largest eigenvalue, a
    little enlarged. No iteration has to converge: where no s is proved, the Frobenius norm is taken.
    """
    matrix = matrix_of(values)
    largest, error = float(np.abs(matrix).max()), rounded(values).error
    if largest == 0.0:
        return error
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(matrix, -exponent)
    return float(_scaled_back(_squared_norm(scaled).root(), exponent) + error)


def _squared_norm(scaled: Floats) -> Upper:
    short, long = min(scaled.shape), max(scaled.shape)
    gram = scaled @ scaled.T if scaled.shape[0] == short else scaled.T @ scaled
    entries = entries_norm(scaled) * entries_norm(scaled)
    try:
        top = max(float(np.linalg.eigvalsh(gram)[-1]), float(np.diag(gram).max()))
    except np.linalg.LinAlgError:
        return entries
    for slack in (1e-13 * short, 1e-11 * short, 1e-8, 1e-4, 1.0):
        bar = top * (1.0 + slack)
        try:
            np.linalg.cholesky(bar * np.eye(short) - gram)
        except np.linalg.LinAlgError:
            continue
        trace = Upper(float(short)) * bar + entries
        return (Upper(bar) + trace * gamma(short + 3) + entries * gamma(long + 2)).smaller(entries)
    return entries  # not met in practice


def _scaled_back(value: Upper, exponent: int) -> Upper:
    with np.errstate(over="ignore"):
        result = float(np.ldexp(float(value), exponent))
    return Upper(0.0 if float(value) == 0 else float(_next(result)))


def product_norm(left: Numbers, right: Numbers) -> float:
    """An upper bound of ‖left right‖: of the product as computed, plus what rounding can have lost.

    The computed product is wrong by at most γ |left| |right| with γ = k u / (1 - k u), k the inner side. Where k is the
    short side (a head's), both factors are first made square by QR, which changes neither norm: that is computed for
    matrices wrong by at most a small multiple of m k u, m the long side (higham2002, theorem 19.4; 16 is taken).
    Factors are scaled by powers of two, so that no product of theirs is lost.
    """
    one, two = matrix_of(left), matrix_of(right)
    exponents = [math.frexp(float(np.abs(side).max()))[1] for side in (one, two)]
    one, two = (np.ldexp(side, -exponent) for side, exponent in zip((one, two), exponents, strict=True))
    inner, longest = one.shape[1], max(one.shape[0], two.shape[1])
    operations = 2.0 * inner + 2
    frobenius = entries_norm(one) * entries_norm(two)
    if 2 * inner <= min(one.shape[0], two.shape[1]):
        operations += 2 * 16.0 * longest * inner
        one, two = (np.asarray(np.linalg.qr(side, mode="r")) for side in (one, two.T))
        two = two.T
    product = Upper(spectral_norm(one @ two)) + frobenius * gamma(operations)
    exact = _scaled_back(_scaled_back(product, exponents[0]), exponents[1])
    errors = [rounded(side).error for side in (left, right)]
    if errors != [0.0, 0.0]:
        norms = [Upper(spectral_norm(rounded(side).values)) for side in (left, right)]
        exact = exact + norms[0] * errors[1] + norms[1] * errors[0] + Upper(errors[0]) * errors[1]
    return float(exact)


# --- distances ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistanceError:
    """A computed distance c and the true one differ by at most relative x c + absolute, and both are 0 for equals."""

    relative: float
    absolute: float


def scaled_distances(x: Floats, y: Floats, norm: str = "euclidean") -> tuple[Floats, DistanceError]:
    """The distances of all pairs of rows, [n, m], with what they can be wrong by.

    Rows are scaled by a power of two, so that squares of what is above 2^-530 of the largest coordinate are not lost.
    """
    top = max(float(np.abs(side).max(initial=0.0)) for side in (x, y))
    exponent = math.frexp(top)[1]
    first, second = (np.ldexp(side, -exponent) for side in (x, y))
    with np.errstate(over="ignore"):
        found = np.ldexp(np.asarray(cdist(first, second, metric=norm), dtype=np.float64), exponent)  # pyright: ignore
    return found, distance_error(x.shape[1], top)


def distance_error(dimension: int, top: float) -> DistanceError:
    """Of distances in this dimension computed after scaling, `top` being the largest coordinate."""
    lost = Upper(top) * (_UNDERFLOW * math.sqrt(dimension)) if top else Upper(0.0)
    return DistanceError(gamma(dimension + 6), float(lost))


def distances_above(x: Floats, y: Floats) -> Floats:
    """Euclidean distances of all pairs of rows, none below the true one, and 0 exactly for equal rows."""
    found, error = scaled_distances(x, y)
    return np.where(_equal(x, y, found, error), 0.0, (Upper(found) * (1.0 + error.relative) + error.absolute).value)


def distances_below(x: Floats, y: Floats) -> Floats:
    """The same, none above the true one; floats that differ do so by the smallest float at least, and where the
    distance is no float it is above the largest."""
    found, error = scaled_distances(x, y)
    least = np.maximum(SMALLEST, found * (1.0 - error.relative - 4 * UNIT) - error.absolute)
    least = np.minimum(least, np.finfo(np.float64).max)
    return np.where(_equal(x, y, found, error), 0.0, least)


def _equal(x: Floats, y: Floats, found: Floats, error: DistanceError) -> NDArray[np.bool_]:
    """Which rows are equal; only those that are hardly apart are compared."""
    same = np.zeros(found.shape, bool)
    rows, columns = np.nonzero(found <= error.absolute)
    same[rows, columns] = (x[rows] == y[columns]).all(axis=1)
    return same
