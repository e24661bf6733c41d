"""A joint table P(x, a) of inputs and contexts, and the generalised eigenproblem B v = λ C v, also for features that
are linearly dependent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

RANK = 1e-10  # directions whose share of the largest variance is below this are taken to have none


@dataclass(frozen=True, eq=False)
class JointTable:
    """P(x, a) as `probabilities` [X, A]: they sum to 1, and every row and every column has some mass.

    `rows` and `columns` say which rows and columns of the numbers it was made from are left: those without mass are not
    part of any distribution. `pairs` is how many pairs were counted; None where the probabilities are exact.
    """

    probabilities: Floats
    rows: Ints
    columns: Ints
    pairs: int | None = None

    @property
    def of_x(self) -> Floats:
        """P(x), [X]."""
        return self.probabilities.sum(axis=1)

    @property
    def of_a(self) -> Floats:
        """P(a), [A]."""
        return self.probabilities.sum(axis=0)

    def transposed(self) -> JointTable:
        """The same pairs with the parts of x and a exchanged."""
        return JointTable(self.probabilities.T, self.columns, self.rows, self.pairs)

    def means_over_x(self, functions: Floats) -> Floats:
        """(T* f)(a) = E[f(X) | a] for functions [X, n] of x: [A, n]."""
        return self.probabilities.T @ functions / self.of_a[:, None]

    def centred(self, functions: ArrayLike) -> Floats:
        """Functions of x, [X] or [X, n], without their means under P(x): [X, n]."""
        given = np.asarray(functions, dtype=np.float64)
        given = given[:, None] if given.ndim == 1 else given
        if given.ndim != 2 or len(given) != len(self.probabilities):
            raise UsageError(
                f"a function of x has a row for each of the {len(self.probabilities)} x of the table, "
                f"not the shape {list(given.shape)}"
            )
        if not np.isfinite(given).all():
            raise UsageError("a function of x has finite values; there is one that is infinite or not a number")
        return without_mean(given, self.of_x)


def without_mean(functions: Floats, weights: Floats) -> Floats:
    """Columns less their means under weights that sum to 1; what a constant leaves in rounding is put to 0."""
    centred = functions - weights @ functions
    constant = np.abs(centred).max(axis=0) <= 1e-12 * np.abs(functions).max(axis=0)
    return np.where(constant, 0.0, centred)


def joint_table(numbers: ArrayLike, counts: bool = False) -> JointTable:
    """A table from numbers of 0 or more, one row per x and one column per a; they are divided by their sum.

    With `counts` they are how often each pair was seen, and what is made of the table is an estimate.
    """
    given = np.asarray(numbers, dtype=np.float64)
    if given.ndim != 2 or 0 in given.shape:
        raise UsageError(f"a joint table must have rows (x) and columns (a), not the shape {list(given.shape)}")
    if not np.isfinite(given).all() or given.min() < 0:
        raise UsageError("a joint table holds finite numbers of 0 or more; there is one that is not")
    rows, columns = np.flatnonzero(given.sum(axis=1)), np.flatnonzero(given.sum(axis=0))
    if min(len(rows), len(columns)) < 2:
        raise UsageError(
            f"a joint table needs 2 rows and 2 columns with some mass, not {len(rows)} and {len(columns)}; "
            "nothing can be associated with what never varies"
        )
    kept = given[np.ix_(rows, columns)]
    return JointTable(kept / kept.sum(), rows, columns, round(float(kept.sum())) if counts else None)


def codes_of(values: Sequence[Hashable]) -> tuple[Ints, list[Hashable]]:
    """Values as numbers in the order in which each first appears, and the values."""
    known: dict[Hashable, int] = {}
    codes = np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)
    return codes, list(known)


@dataclass(frozen=True, eq=False)
class Pencil:
    """The solutions of B v = λ C v on the range of C, λ descending: `values` [r], `vectors` [d, r] with vᵀ C v = 1."""

    values: Floats
    vectors: Floats

    @property
    def rank(self) -> int:
        return len(self.values)


def solve_pencil(covariance: Floats, between: Floats) -> Pencil:
    """Features are first scaled to variance 1 each, so that the rank does not depend on their units. O(d³)."""
    scale = np.sqrt(np.clip(np.diag(covariance), 0.0, None))
    scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    variances, directions = scipy.linalg.eigh(covariance * scale[:, None] * scale)
    kept = variances > RANK * max(float(variances.max(initial=0.0)), np.finfo(float).tiny)
    whitening = scale[:, None] * directions[:, kept] / np.sqrt(variances[kept])
    inside = whitening.T @ between @ whitening
    values, turns = scipy.linalg.eigh((inside + inside.T) / 2)
    return Pencil(values[::-1], whitening @ turns[:, ::-1])


def table_pencil(table: JointTable, features: Floats) -> Pencil:
    """The same for C = Cov(Φ) under P(x) and B = Cov(T*Φ) under P(a), with features Φ [X, d] of x and an exact table.

    By singular values of the functions themselves, whose span is found to rounding however nearly they depend on each
    other: through C and B, values near 0 would come out too large. O(X d² + X A d).
    """
    weighted = np.sqrt(table.of_x)[:, None] * table.centred(features)
    scale = np.linalg.norm(weighted, axis=0)
    scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    basis, sizes, turns = scipy.linalg.svd(weighted * scale, full_matrices=False)
    kept = sizes > np.sqrt(RANK) * max(float(sizes.max(initial=0.0)), np.finfo(float).tiny)
    adjoint = (table.probabilities / np.sqrt(np.outer(table.of_x, table.of_a))).T @ basis[:, kept]
    _, values, right = scipy.linalg.svd(adjoint)
    values = np.append(values, np.zeros(len(right) - len(values)))
    return Pencil(values**2, (scale[:, None] * turns[kept].T / sizes[kept]) @ right.T)
