"""Norms that are certified are never below the true ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lengthwise.errors import UsageError
from lengthwise.rounding import (
    SMALLEST,
    centred_rows,
    distances_above,
    distances_below,
    largest_row,
    product_norm,
    spectral_norm,
    vector_norm,
)


def stretched(matrix: np.ndarray, vector: np.ndarray) -> Fraction:
    """(|M v| / |v|)² in exact arithmetic."""
    exact = [[Fraction(float(entry)) for entry in row] for row in matrix]
    direction = [Fraction(float(entry)) for entry in vector]
    image = [sum((a * b for a, b in zip(row, direction, strict=True)), Fraction(0)) for row in exact]
    return sum((a * a for a in image), Fraction(0)) / sum((b * b for b in direction), Fraction(0))


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.floats(-1e3, 1e3, allow_subnormal=False),
    )
)
@settings(max_examples=100, deadline=None)
def test_no_vector_is_stretched_more_in_exact_arithmetic(matrix):
    bound = Fraction(spectral_norm(matrix)) ** 2
    _, _, directions = np.linalg.svd(matrix)
    for vector in [*directions, *np.random.default_rng(0).normal(size=(3, matrix.shape[1]))]:
        assert stretched(matrix, vector) <= bound


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (64, 16), (16, 300), (120, 130)])
@pytest.mark.parametrize("kind", ["normal", "orthogonal", "rank one", "tiny", "huge"])
def test_norm_is_close_to_the_computed_one(shape, kind):
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=shape)
    if kind == "orthogonal":
        left, _, right = np.linalg.svd(matrix, full_matrices=False)
        matrix = left @ right
    elif kind == "rank one":
        matrix = np.outer(matrix[:, 0], matrix[0])
    elif kind in ("tiny", "huge"):
        matrix *= 1e-180 if kind == "tiny" else 1e180
    computed = np.linalg.norm(matrix, 2)
    assert computed * (1 - 1e-14) < spectral_norm(matrix) < computed * (1 + 1e-8)


def test_products_rows_and_vectors():
    rng = np.random.default_rng(2)
    for inner in (9, 4, 1):  # the last two are made square first
        left, right = rng.normal(size=(20, inner)), rng.normal(size=(inner, 8))
        assert 1 < product_norm(left, right) / np.linalg.norm(left @ right, 2) < 1 + 1e-8
    assert np.linalg.norm(left, axis=1).max() < largest_row(left) < np.linalg.norm(left, axis=1).max() * (1 + 1e-8)
    assert vector_norm(None) == 0 and 5.0 < vector_norm([3.0, 4.0]) < 5.0 + 1e-13
    assert spectral_norm(np.zeros((3, 2))) == 0


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 2)), [[np.nan]], [[np.inf, 1.0]]])
def test_bad_matrices_are_refused(bad):
    with pytest.raises(UsageError, match=r"two axes|NaN or infinity"):
        spectral_norm(bad)


@pytest.mark.parametrize("shape", [(1, 400), (3, 50)])
def test_centred_rows_lie_within_their_error_of_the_true_ones(shape):
    """A mean of subnormal numbers is wrong by half of the smallest in every entry of its row."""
    matrix = SMALLEST * np.random.default_rng(0).integers(0, 2, shape)
    computed = centred_rows(matrix)
    lost = Fraction(0)
    for row, found in zip(matrix, computed.values, strict=True):
        mean = sum(map(Fraction, row.tolist()), Fraction(0)) / len(row)
        lost += sum((Fraction(a) - mean - Fraction(b)) ** 2 for a, b in zip(row.tolist(), found.tolist(), strict=True))
    assert lost <= Fraction(computed.error) ** 2


def test_no_distance_from_below_exceeds_one_that_is_no_float():
    """It is finite: 2e308 lies above the largest float and below infinity."""
    far = distances_below(np.array([[1e308]]), np.array([[-1e308]]))
    assert 1e308 < far[0, 0] <= np.finfo(np.float64).max
    assert np.isinf(distances_above(np.array([[1e308]]), np.array([[-1e308]])))[0, 0]
