"""Numbers that are certainly large enough: norms of matrices, and results of arithmetic, rounded up.

Float64 arithmetic is wrong by a little. What is certified here is not: every norm comes with a proof that the true one
is no larger, and every constant made from norms is multiplied by 1 + MARGIN, which is far more than the few dozen
operations that lead to it can lose.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats

MARGIN = 1e-9
UNIT = 2.0**-53  # the largest relative error of one float64 operation


def up(value: float) -> float:
    """The value, enlarged by the margin; for values of 0 or more."""
    return value * (1.0 + MARGIN)


def matrix_of(values: Any, what: str = "a matrix") -> Floats:
    """The values as a finite float64 matrix."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise UsageError(f"{what} has two axes and at least one entry, not the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise UsageError(f"{what} holds NaN or infinity; a norm needs finite entries")
    return matrix


def spectral_norm(values: Any) -> float:
    """A certified upper bound of the largest singular value of a matrix, 1e-9 above it or less for widths up to 4,000.

    Proof. Let B be the matrix divided by its largest entry, k its shorter and m its longer side, and G = BᵀB (or BBᵀ),
    of size k, as computed. Its error is at most γ |B|ᵀ|B| entrywise with γ = m u / (1 - m u), so in spectral norm at
    most γ ‖B‖_F². If the Cholesky factorisation of C = s - G runs through, its factor R has RᵀR = C + E with
    |E| <= g |R|ᵀ|R|, g = (k + 1) u / (1 - (k + 1) u) (higham2002, theorem 10.3), hence ‖E‖ <= g ‖R‖_F² = g tr(RᵀR)
    <= g / (1 - g) tr C, and C >= -‖E‖ as RᵀR >= 0 (rump2006). So ‖B‖² = λ_max(BᵀB) <= s + δ tr C + γ ‖B‖_F², where
    δ = (k + 2) u / (1 - (k + 2) u) exceeds g / (1 - g), and what it exceeds it by covers the rounding of s - G_ii.
    The s tried first is the computed largest eigenvalue, a little enlarged.
    """
    matrix = matrix_of(values)
    largest = float(np.abs(matrix).max())
    if largest == 0.0:
        return 0.0
    scaled = matrix / largest
    short, long = min(scaled.shape), max(scaled.shape)
    gram = scaled @ scaled.T if scaled.shape[0] == short else scaled.T @ scaled
    top = max(float(np.linalg.eigvalsh(gram)[-1]), float(np.diag(gram).max()))
    entries = float(np.vdot(scaled, scaled))
    gamma, delta = _share(long), _share(short + 2)
    for slack in (1e-13 * short, 1e-11 * short, 1e-8, 1e-4, 1.0):
        bar = top * (1.0 + slack)
        try:
            np.linalg.cholesky(bar * np.eye(short) - gram)
        except np.linalg.LinAlgError:
            continue
        squared = bar + delta * (short * bar + entries) + gamma * entries
        return up(largest * math.sqrt(squared))
    return up(largest * math.sqrt(entries))  # never less than the spectral norm; not met in practice


def vector_norm(values: Any) -> float:
    """The Euclidean norm of a vector, rounded up; 0 for None."""
    return 0.0 if values is None else up(float(np.linalg.norm(np.asarray(values, dtype=np.float64))))


def largest_row(values: Any) -> float:
    """The largest Euclidean norm of a row, rounded up: the norm from vectors to their largest coordinate."""
    return up(float(np.linalg.norm(matrix_of(values), axis=1).max()))


def _share(operations: int) -> float:
    return operations * UNIT / (1.0 - operations * UNIT)
