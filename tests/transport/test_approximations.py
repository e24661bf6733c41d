"""Sliced and entropic: labelled as approximations, and their sandwich holds the true value."""

from __future__ import annotations

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.transport.problem import MatrixCost, TransportProblem, VectorCost
from lengthwise.transport.solving import solve
from transport.instances import instance


@pytest.mark.parametrize("method", ["sliced", "entropic"])
def test_the_sandwich_holds_the_exact_value(method: str) -> None:
    for seed in range(80):
        problem = instance(seed, largest=25)
        if method == "sliced" and isinstance(problem.cost, MatrixCost):
            continue
        value, found = solve(problem).certificate.primal, solve(problem, method, limit=20)
        certificate = found.certificate
        slack = 1e-9 * max(value, problem.cost.ceiling())
        assert certificate.lower <= value + slack and certificate.upper >= value - slack, seed
        # Both sides are feasible as they come: the sandwich is the plan's cost and the potentials' value.
        assert certificate.marginal_error < 1e-12 and certificate.dual_violation <= 1e-12 * problem.cost.ceiling()
        assert not found.solution.exact and found.solution.finished
        assert found.claim().kind == ("certified" if certificate.status == "holds" else "heuristic")


def test_an_approximation_is_a_heuristic_with_an_interval() -> None:
    r = np.random.default_rng(0)
    problem = TransportProblem(VectorCost(r.normal(size=(80, 4)), r.normal(size=(80, 4)) + 1))
    exact = solve(problem).certificate.primal
    for method, width in (("sliced", 0.7), ("entropic", 0.15)):
        claim = solve(problem, method).claim("W1", "")
        assert claim.kind == "heuristic" and claim.status == "holds" and claim.evidence["why_refused"]
        assert claim.interval is not None and exact in claim.interval
        assert claim.interval.high - claim.interval.low < width * exact


def test_sliced_mean_is_a_lower_bound_and_is_told() -> None:
    r = np.random.default_rng(0)
    problem = TransportProblem(VectorCost(r.normal(size=(60, 3)), r.normal(size=(50, 3)) + 0.5))
    (note,) = solve(problem, "sliced").solution.notes
    assert 0 < float(note.split(" is ")[1].split(":")[0]) <= solve(problem).certificate.primal


def test_more_iterations_narrow_the_entropic_sandwich() -> None:
    r = np.random.default_rng(0)
    problem = TransportProblem(VectorCost(r.normal(size=(60, 3)), r.normal(size=(50, 3)) + 0.5))
    gaps = [solve(problem, "entropic", limit=limit).certificate.gap for limit in (0, 10, 200)]
    assert gaps[0] > gaps[1] > gaps[2] > 0


def test_what_they_cannot_take_is_said() -> None:
    with pytest.raises(UsageError, match="needs vectors"):
        solve(TransportProblem(MatrixCost(np.ones((3, 3)))), "sliced")
    with pytest.raises(UsageError, match="at least one direction"):
        solve(TransportProblem(VectorCost([0.0], [1.0])), "sliced", limit=0)
    with pytest.raises(UsageError, match="holds all pairs"):
        solve(TransportProblem(VectorCost(np.zeros((4000, 1)), np.zeros((4000, 1)))), "entropic")
