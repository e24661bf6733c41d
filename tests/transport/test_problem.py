"""Bad input gets one sentence; costs mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from lengthwise.errors import UsageError
from lengthwise.transport.problem import Cost, MatrixCost, TransportProblem, VectorCost
from lengthwise.transport.solvers.exact import smallest, transform
from lengthwise.transport.solving import solve

TWO = VectorCost(np.zeros((2, 2)), np.ones((3, 2)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MatrixCost([1.0, 2.0]), "two dimensions"),
        (lambda: MatrixCost(np.ones((0, 2))), "no empty side"),
        (lambda: MatrixCost([[np.nan]]), "NaN"),
        (lambda: MatrixCost([[-1.0]]), "negative"),
        (lambda: VectorCost([[1.0, np.nan]], [[1.0, 2.0]]), "vector 0 holds NaN"),
        (lambda: VectorCost(np.zeros((0, 2)), [[1.0, 2.0]]), "at least one vector"),
        (lambda: VectorCost([[1.0]], [[1.0, 2.0]]), "same dimension"),
        (lambda: VectorCost([[1.0]], [[1.0]], "cosine"), "'cosine'"),
        (lambda: TransportProblem(TWO, [0.5, 0.4]), "sum to 1, not 0.9"),
        (lambda: TransportProblem(TWO, [1.0, 0.0]), "leave out items that weigh 0"),
        (lambda: TransportProblem(TWO, None, [0.5, 0.5]), "3 items"),
        (lambda: TransportProblem(TWO, [np.nan, 1.0]), "positive and finite"),
        (lambda: solve(TransportProblem(TWO), "simplex"), "one of auto, line"),
        (lambda: solve(TransportProblem(TWO), "line"), "one coordinate"),
        (lambda: solve(TransportProblem(TWO), tolerance=0.0), "positive number"),
        (lambda: solve(TransportProblem(TWO), limit=-1), "not negative"),
    ],
)
def test_bad_input_is_a_usage_error(make, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make()


def test_nearly_one_is_one() -> None:
    assert TransportProblem(TWO, [0.5, 0.5 + 1e-10]).a.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("norm", ["euclidean", "cityblock"])
def test_parts_and_flips_of_costs(norm) -> None:
    r = np.random.default_rng(0)
    vectors = VectorCost(r.normal(size=(7, 3)), r.normal(size=(5, 3)), norm)
    whole = vectors.block(slice(None), slice(None))
    rows, columns = np.array([1, 4]), np.array([0, 2, 3])
    cost: Cost
    for cost in (vectors, MatrixCost(whole)):
        assert cost.pairs(np.array([1, 2]), np.array([3, 4])) == pytest.approx([whole[1, 3], whole[2, 4]])
        assert cost.part(rows, columns).block(slice(None), slice(None)) == pytest.approx(whole[np.ix_(rows, columns)])
        assert cost.flipped().block(slice(1, 4), np.array([6])) == pytest.approx(whole.T[1:4, 6:])
        assert cost.flipped().part(columns, rows).pairs(np.array([0]), np.array([1])) == pytest.approx([whole[4, 0]])
        assert whole.max() <= cost.ceiling() * (1 + 1e-15)


@pytest.mark.parametrize("norm", ["euclidean", "cityblock"])
@pytest.mark.parametrize("d", [1, 3, 4, 6, 9])
def test_scans_find_the_smallest(norm, d: int) -> None:
    r = np.random.default_rng(d)
    cost = VectorCost(r.normal(size=(20, d)), r.normal(size=(700, d)), norm)
    g = r.normal(size=700)
    block = cost.block(slice(None), slice(None))
    keys = np.sort(block - g, axis=1)
    below = np.where(np.arange(20) % 2 == 0, np.inf, keys[:, 3])
    for kind in (cost, MatrixCost(block)):
        chosen, costs = smallest(kind, g, 5, below)
        assert (costs - g[chosen])[::2] == pytest.approx(keys[::2, :5])
        assert (chosen[1::2, :3] >= 0).all() and (chosen[1::2, 4] == -1).all() and np.isinf(costs[1::2, 4]).all()
        assert transform(kind, g) == pytest.approx(keys[:, 0])


def test_the_line_agrees_with_scipy_at_any_weights() -> None:
    r = np.random.default_rng(5)
    for _ in range(100):
        n, m = r.integers(1, 30, size=2)
        x, y = np.round(3 * r.normal(size=n)) / 3, np.round(3 * r.normal(size=m)) / 3
        a, b = r.dirichlet(np.ones(n)), r.dirichlet(np.ones(m))
        found = solve(TransportProblem(VectorCost(x, y), a, b))
        assert found.method == "line" and found.certificate.status == "holds"
        assert found.certificate.primal == pytest.approx(wasserstein_distance(x, y, a, b), rel=1e-9, abs=1e-13)


def test_a_long_line_takes_no_quadratic_time() -> None:
    r = np.random.default_rng(5)
    found = solve(TransportProblem(VectorCost(r.normal(size=200_000), r.normal(size=150_000) + 1)))
    assert found.certificate.status == "holds" and found.certificate.primal == pytest.approx(1, abs=0.02)


def test_equal_vectors_share_the_mass_of_their_point() -> None:
    r = np.random.default_rng(9)
    points = r.normal(size=(6, 2))
    x, y = points[r.integers(6, size=40)], points[r.integers(6, size=30)] + 0.1
    a, b = r.dirichlet(np.ones(40)), r.dirichlet(np.ones(30))
    merged = solve(TransportProblem(VectorCost(x, y), a, b))
    apart = solve(TransportProblem(MatrixCost(VectorCost(x, y).block(slice(None), slice(None))), a, b))
    assert merged.certificate.status == apart.certificate.status == "holds"
    assert merged.certificate.primal == pytest.approx(apart.certificate.primal, rel=1e-12)
    assert merged.certificate.marginal_error < 1e-14
