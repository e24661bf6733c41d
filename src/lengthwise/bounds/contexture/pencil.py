"""The generalised eigenproblem B v = λ C v, also where features are linearly dependent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from lengthwise.bounds.contexture.table import JointTable
from lengthwise.seeds import Floats

RANK = 1e-10  # directions whose share of the largest variance is below this are taken to have none


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
