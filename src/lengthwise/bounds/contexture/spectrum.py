"""The spectrum of the expectation operator of a joint table, found in three ways.

(T g)(x) = E[g(A) | x] takes functions of the context to functions of the input. Its singular values 1 = s_0 >= s_1 >=
… >= 0 say how strongly the two are associated; s_0 belongs to constants and is left out everywhere here. The left
singular functions μ_1, …, μ_d are what a representation of d dimensions does best to know (zhai2025).

    spectrum_by_svd        singular values of D_X^(-1/2) P D_A^(-1/2)
    spectrum_by_kernel     eigenvalues of the dual kernel k(x, x') = Σ_a P(a|x) P(a|x') / P(a), which are s²
    spectrum_by_features   B v = λ C v for given features: the best inside their span, never above the true s²
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from lengthwise.bounds.contexture.table import JointTable, table_pencil
from lengthwise.seeds import Floats


@dataclass(frozen=True, eq=False)
class Spectrum:
    """`values` s_1 >= s_2 >= … [r], and the functions they belong to: `of_x` [X, r] are the μ, orthonormal under P(x),
    `of_a` [A, r] the ν, where T ν_i = s_i μ_i. A function whose s is 0 has no partner: it is 0 there."""

    values: Floats
    of_x: Floats
    of_a: Floats
    how: str

    @property
    def squares(self) -> Floats:
        return self.values**2

    def most(self, dimensions: int) -> float:
        """Σ s_i² over the first `dimensions`: the largest ratio trace of a representation of that many dimensions."""
        return float(self.squares[:dimensions].sum())

    def square(self, index: int) -> float:
        """s_i² counted from 1; 0 behind the last."""
        return float(self.squares[index - 1]) if index <= len(self.values) else 0.0


def spectrum_by_svd(table: JointTable) -> Spectrum:
    """All min(X, A) - 1 values. What belongs to constants is taken off first, so that an s_1 of 1 stays apart from it.
    O(X A min(X, A))."""
    root_x, root_a = np.sqrt(table.of_x), np.sqrt(table.of_a)
    scaled = table.probabilities / root_x[:, None] / root_a - np.outer(root_x, root_a)
    left, values, right = scipy.linalg.svd(scaled, full_matrices=False)
    count = len(values) - 1
    return Spectrum(
        np.clip(values[:count], 0.0, 1.0),
        left[:, :count] / root_x[:, None],
        right[:count].T / root_a[:, None],
        "singular values of the joint table",
    )


def spectrum_by_kernel(table: JointTable) -> Spectrum:
    """From the dual kernel of x alone, how much likelier two inputs share a context than by chance: an eigenproblem of
    X x X, the better way where contexts are many. O(X² A + X³).

    Values come out of their squares, so those below 1e-7 or so are lost in rounding.
    """
    root, given_x = np.sqrt(table.of_x), table.probabilities / table.of_x[:, None]
    kernel = (given_x / table.of_a) @ given_x.T
    # Less 1, the constants would have the value 0, close to weak associations; less 2, they have -1, apart from all.
    squares, vectors = scipy.linalg.eigh((kernel - 2.0) * root[:, None] * root)
    count = min(table.probabilities.shape) - 1
    squares, vectors = np.clip(squares[::-1][:count], 0.0, 1.0), vectors[:, ::-1][:, :count]
    return _completed(table, np.sqrt(squares), vectors / root[:, None], "eigenvalues of the dual kernel")


def spectrum_by_features(table: JointTable, features: Floats, of: str = "x") -> Spectrum:
    """The values that features of x [X, d], or of a [A, d], can show: Rayleigh and Ritz.

    s_i² = max over i-dimensional spaces of the least ‖T*f‖²/‖f‖² in them (Courant and Fischer). Fewer functions to
    choose from make the maximum smaller, so no value exceeds the true one of its number; with features that span all
    functions they are equal. This holds for the table that is given: from a sampled one values can be too large.
    """
    side = table if of == "x" else table.transposed()
    solved = table_pencil(side, np.asarray(features, dtype=np.float64))
    values = np.sqrt(np.clip(solved.values, 0.0, 1.0))
    own = side.centred(features) @ solved.vectors
    found = _completed(side, values, own, f"generalised eigenvalues for {own.shape[1]} features of {of}")
    return found if of == "x" else Spectrum(found.values, found.of_a, found.of_x, found.how)


def _completed(table: JointTable, values: Floats, of_x: Floats, how: str) -> Spectrum:
    """With the partners ν_i = T* μ_i / s_i; those of a value that is nearly 0 are left 0."""
    safe = values > 1e-7
    partners = np.divide(table.means_over_x(of_x), values, out=np.zeros((len(table.of_a), len(values))), where=safe)
    return Spectrum(values, of_x, partners, how)
