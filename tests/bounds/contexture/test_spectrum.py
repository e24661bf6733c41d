"""Three ways to a spectrum that must agree, and what is known of it beforehand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.bounds.contexture.spectrum import (
    spectrum_by_features,
    spectrum_by_kernel,
    spectrum_by_svd,
)
from lengthwise.bounds.contexture.table import codes_of, joint_table
from lengthwise.errors import UsageError


@st.composite
def tables(draw):
    x, a = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    sharp = draw(st.sampled_from([0.05, 0.3, 2.0]))
    return joint_table(generator.dirichlet(np.full(x * a, sharp)).reshape(x, a) + 1e-6)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_three_ways_agree(table):
    by_svd, by_kernel = spectrum_by_svd(table), spectrum_by_kernel(table)
    everything = spectrum_by_features(table, np.eye(len(table.of_x)))
    of_contexts = spectrum_by_features(table, np.eye(len(table.of_a)), of="a")
    for other in (by_kernel, everything, of_contexts):
        count = len(by_svd.values)
        assert other.squares[:count] == pytest.approx(by_svd.squares, abs=1e-9)
        assert other.squares[count:] == pytest.approx(0, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_functions_are_orthonormal_and_paired(table):
    for found, error in ((spectrum_by_svd(table), 1e-7), (spectrum_by_kernel(table), 1e-5)):  # a kernel squares errors
        assert found.of_x.T @ (table.of_x[:, None] * found.of_x) == pytest.approx(np.eye(len(found.values)), abs=error)
        assert table.of_x @ found.of_x == pytest.approx(0, abs=error)  # orthogonal to constants
        strong = found.values > 1e-3
        assert table.transposed().means_over_x(found.of_a)[:, strong] == pytest.approx(
            (found.values * found.of_x)[:, strong], abs=1e-6
        )


@settings(max_examples=100, deadline=None)
@given(tables(), st.integers(1, 6), st.integers(0, 10**6), st.sampled_from(["x", "a"]))
def test_features_never_show_more_than_there_is(table, dimensions, seed, side):
    rows = len(table.of_x if side == "x" else table.of_a)
    features = np.random.default_rng(seed).standard_normal((rows, dimensions))
    shown = spectrum_by_features(table, features, of=side).squares
    true = np.append(spectrum_by_svd(table).squares, np.zeros(dimensions))[: len(shown)]
    assert (shown <= true + 1e-12).all()


def test_a_channel_that_is_known():
    flipped = 0.2
    found = spectrum_by_svd(joint_table([[1 - flipped, flipped], [flipped, 1 - flipped]]))
    assert found.values == pytest.approx([1 - 2 * flipped])


def test_what_is_decided_has_ones_and_what_is_independent_zeros():
    assert spectrum_by_svd(joint_table(np.eye(5))).values == pytest.approx(np.ones(4))
    independent = joint_table(np.outer([1, 2, 3], [4, 1, 1, 2]))
    assert spectrum_by_svd(independent).values == pytest.approx(np.zeros(2), abs=1e-12)
    assert spectrum_by_kernel(independent).values == pytest.approx(np.zeros(2), abs=1e-7)


def test_empty_rows_are_left_out_and_told():
    table = joint_table([[1, 1, 0], [0, 0, 0], [0, 2, 0]], counts=True)
    assert table.rows.tolist() == [0, 2] and table.columns.tolist() == [0, 1] and table.pairs == 4


def test_values_are_numbered_as_they_appear():
    codes, names = codes_of(["u", "v", "u", "u"])
    assert names == ["u", "v"] and codes.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "numbers, sentence",
    [
        ([[1, -1], [0, 1]], "0 or more"),
        ([[1, np.nan], [0, 1]], "finite"),
        ([[1, 1], [0, 0]], "2 rows and 2 columns"),
        ([1, 2], "rows (x) and columns (a)"),
    ],
)
def test_bad_tables(numbers, sentence):
    with pytest.raises(UsageError) as error:
        joint_table(numbers)
    assert sentence in str(error.value)
