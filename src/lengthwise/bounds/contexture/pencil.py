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


def covariances(table: JointTable, features: Floats) -> tuple[Floats, Floats]:
    """C = Cov(Φ) under P(x), and B = Cov(T*Φ) under P(a), for features Φ [X, d] of x."""
    centred = table.centred(features)
    means = table.means_over_x(centred)
    return centred.T @ (table.of_x[:, None] * centred), means.T @ (table.of_a[:, None] * means)
