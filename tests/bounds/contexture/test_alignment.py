"""Ratio trace, trace gap and canonical correlations against what is known of them."""

import numpy as np
import pytest

from lengthwise.bounds.contexture.alignment import alignment, trace_gap
from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
from lengthwise.bounds.contexture.table import joint_table


def some_table(seed, x=12, a=7):
    return joint_table(np.random.default_rng(seed).dirichlet(np.full(x * a, 0.4)).reshape(x, a) + 1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dimensions", [1, 3, 6])
def test_the_best_representation_reaches_the_sum_of_squares(seed, dimensions):
    table = some_table(seed)
    spectrum = spectrum_by_svd(table)
    mixed = np.random.default_rng(seed).standard_normal((dimensions, dimensions)) + 3 * np.eye(dimensions)
    found = alignment(table, 5 + spectrum.of_x[:, :dimensions] @ mixed)
    assert found.ratio_trace == pytest.approx(float(np.sum(spectrum.values[:dimensions] ** 2)), abs=1e-6)
    assert found.ratio_trace == pytest.approx(found.most, abs=1e-6)
    assert found.trace_gap == pytest.approx(spectrum.square(dimensions + 1), abs=1e-6)
    assert found.correlations == pytest.approx(np.ones(dimensions), abs=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_nothing_exceeds_it(seed):
    """An attack: from random starts, climb the ratio trace by the gradient of the projection."""
    table, generator = some_table(seed), np.random.default_rng(seed)
    spectrum, features = spectrum_by_svd(table), generator.standard_normal((12, 2))
    last = 0.0
    for _ in range(60):  # powers of the operator raise it as far as it goes
        features = table.transposed().means_over_x(table.means_over_x(table.centred(features)))
        features = np.linalg.qr(features)[0]
        found = alignment(table, features, spectrum)
        assert last - 1e-9 <= found.ratio_trace <= spectrum.most(2) + 1e-9
        last = found.ratio_trace
    assert last > 0.9 * spectrum.most(2)


def test_invertible_maps_and_shifts_change_nothing_and_superfluous_features_neither():
    table, generator = some_table(3), np.random.default_rng(0)
    features = generator.standard_normal((12, 3))
    one = alignment(table, features)
    turned = 1e-3 * features @ generator.standard_normal((3, 3)) + [1, 20, 300]
    doubled = np.hstack([features, features @ generator.standard_normal((3, 4)), np.ones((12, 1))])
    for other in (alignment(table, turned), alignment(table, doubled)):
        assert other.rank == one.rank == 3
        assert other.ratio_trace == pytest.approx(one.ratio_trace, abs=1e-7)
        assert other.trace_gap == pytest.approx(one.trace_gap, abs=1e-7)
        assert other.correlations == pytest.approx(one.correlations, abs=1e-6)


def test_a_constant_knows_nothing():
    table = some_table(1)
    found = alignment(table, np.ones((12, 2)))
    assert found.rank == 0 and found.ratio_trace == 0
    assert found.trace_gap == pytest.approx(spectrum_by_svd(table).square(1))
    assert [claim.value for claim in found.claims()] == [0, 0]


def test_the_gap_keeps_what_helps():
    assert trace_gap(np.array([0.5, 0.3, 0.2]), np.array([0.5, 0.0])) == pytest.approx(0.3)  # m = 1
    assert trace_gap(np.array([0.5]), np.array([0.0])) == pytest.approx(0.5)  # m = 0 or 1


def test_claims_of_counts_say_so():
    claims = alignment(joint_table([[3, 1], [1, 3], [2, 2]], counts=True), np.arange(3.0)[:, None]).claims()
    assert all(claim.assumptions[0].check == "violated" for claim in claims)
