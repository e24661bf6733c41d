"""The exact methods against a linear programme, against each other, and cut short."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from lengthwise.transport.problem import MatrixCost, TransportProblem, VectorCost
from lengthwise.transport.solvers import exact
from lengthwise.transport.solvers.simplex import Tree
from lengthwise.transport.solving import METHODS, choose, solve
from transport.instances import highs, instance

COUNT = 300


@pytest.fixture
def many_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small problems go through coarse levels, few candidates and many rounds, as large ones do."""
    for place, name, value in (
        (exact, "ALL_PAIRS", 64),
        (exact, "_LEAST", 6),
        (exact, "CANDIDATES", 3),
        (exact, "WORST", 2),
    ):
        monkeypatch.setattr(place, name, value)


def _agrees(problem: TransportProblem, method: str, value: float) -> None:
    found = solve(problem, method).certificate
    # Equal samples have no relative error; rounding is then judged against the largest cost.
    scale = max(value, 1e-9 * problem.cost.ceiling())
    assert found.status == "holds", found.why
    assert abs(found.primal - value) <= 1e-9 * scale
    assert found.relative_gap <= 1e-7


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, COUNT), marks=pytest.mark.system)], ids=str)
def test_three_hundred_instances_agree_with_a_linear_programme(many_levels: None, seeds: range) -> None:
    for seed in seeds:
        problem = instance(seed)
        value = highs(problem)
        for method in ("auto", "dense", "sparse"):
            _agrees(problem, method, value)


def test_a_few_thousand_points_agree_with_the_assignment_problem() -> None:
    """Equal weights and sizes make it an assignment; scipy's solver for that is another witness."""
    from scipy.optimize import linear_sum_assignment

    r = np.random.default_rng(7)
    x, y = r.normal(size=(1200, 5)), r.normal(size=(1200, 5)) + 0.3
    cost = VectorCost(x, y).block(slice(None), slice(None))
    value = float(cost[linear_sum_assignment(cost)].mean())
    _agrees(TransportProblem(VectorCost(x, y)), "sparse", value)
    _agrees(TransportProblem(MatrixCost(cost)), "auto", value)


def test_a_cut_is_never_silent(many_levels: None) -> None:
    """With too few pivots the certificate is refused; with enough it holds and the value is right."""
    refused = 0
    for seed in range(0, COUNT, 3):
        problem = instance(seed, largest=30)
        value = highs(problem)
        for method in ("dense", "sparse"):
            for limit in (0, 1, 5, 25, 125):
                found = solve(problem, method, limit=limit)
                certificate, claim = found.certificate, found.claim()
                scale = max(value, 1e-9 * problem.cost.ceiling())
                if certificate.status == "refused":
                    refused += 1
                    assert claim.value is None and claim.status == "refused" and certificate.why
                else:
                    assert abs(certificate.primal - value) <= 1e-9 * scale
                assert certificate.lower <= value + 1e-9 * scale and certificate.upper >= value - 1e-9 * scale
    assert refused > 200


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 3), (200, 300)])
def test_shapes(shape: tuple[int, int], many_levels: None) -> None:
    r = np.random.default_rng(sum(shape))
    n, m = shape
    problem = TransportProblem(VectorCost(r.normal(size=(n, 2)), r.normal(size=(m, 2))), r.dirichlet(np.ones(n)))
    for method in ("dense", "sparse"):
        _agrees(problem, method, highs(problem))


def test_tiny_weights_and_far_points() -> None:
    weights = np.array([1e-30, 1e-12, 0.5, 0.5 - 1e-12])
    problem = TransportProblem(VectorCost(np.arange(8.0).reshape(4, 2) * 1e8, np.ones((3, 2))), weights / weights.sum())
    _agrees(problem, "dense", highs(problem))


def test_the_choice_is_told() -> None:
    assert choose(VectorCost([0.0, 1], [2.0]))[0] == "line"
    assert choose(MatrixCost(np.ones((20, 20))))[0] == "dense"
    name, because = choose(VectorCost(np.zeros((500, 2)), np.zeros((500, 2))))
    assert name == "sparse" and "500 x 500" in because
    found = solve(TransportProblem(VectorCost(np.zeros((2, 2)), np.ones((3, 2)))))
    assert found.method == "dense" and found.claim("distance").evidence["chosen_because"] == found.chosen_because
    assert found.claim("distance", "m").kind == "certified" and found.claim().value == pytest.approx(np.sqrt(2))
    assert set(METHODS) == {"line", "dense", "sparse", "sliced", "entropic"}


def test_the_tree_stays_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """After every round, thread, sizes, last nodes and flows are those of the parents."""
    from lengthwise.transport.solvers.simplex import UNIT, Basis

    improve = Basis.improve
    checked = 0

    def checking(self: Basis, limit: int) -> tuple[int, bool]:
        nonlocal checked
        ended = False
        made = 0
        while not ended and made < limit:
            some, ended = improve(self, 1)
            made += some
            _check(self.tree, self.n)
            checked += 1
        return made, ended

    monkeypatch.setattr(Basis, "improve", checking)
    for seed in (2, 6, 8):
        solve(instance(seed, largest=25), "dense")
    assert checked > 30 and UNIT == 1 << 60


def _check(tree: Tree, n: int) -> None:
    root = len(tree.parent) - 1
    order, node = [root], int(tree.thread[root])
    while node != root:
        order.append(node)
        node = int(tree.thread[node])
    assert sorted(order) == list(range(root + 1))
    sizes = np.ones(root + 1, int)
    for node in reversed(order[1:]):
        sizes[tree.parent[node]] += sizes[node]
    assert (sizes == tree.size).all()
    for place, node in enumerate(order):
        assert tree.last[node] == order[place + sizes[node] - 1]
        assert tree.thread[tree.back[node]] == node
        inside = order[place : place + sizes[node]]
        assert node == root or tree.parent[node] not in inside
    assert (tree.flow[:root] >= 0).all() and (tree.up[:root][tree.flow[:root] == 0] == 1).all()


def test_without_numba_the_answers_are_the_same_and_large_problems_are_declined() -> None:
    script = """
import sys
sys.modules["numba"] = None
import numpy as np
from lengthwise.errors import UsageError
from lengthwise.transport.problem import TransportProblem, VectorCost
from lengthwise.transport.solving import solve
from lengthwise.transport.solvers.simplex import compiled
assert not compiled()
r = np.random.default_rng(0)
x, y = r.normal(size=(300, 3)), r.normal(size=(250, 3)) + 1
print(repr(solve(TransportProblem(VectorCost(x, y)), "sparse").certificate.primal))
try:
    solve(TransportProblem(VectorCost(r.normal(size=(4000, 2)), r.normal(size=(4000, 2)))))
except UsageError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    value, message = done.stdout.splitlines()
    r = np.random.default_rng(0)
    x, y = r.normal(size=(300, 3)), r.normal(size=(250, 3)) + 1
    assert float(value) == pytest.approx(
        solve(TransportProblem(VectorCost(x, y)), "sparse").certificate.primal, rel=1e-12
    )
    assert "8,000" in message and "lengthwise[ot]" in message
