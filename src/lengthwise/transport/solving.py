"""Solve a transport problem: choose a method, solve, verify, and report what was chosen and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.transport.problem import Cost, Solution, TransportProblem, VectorCost
from lengthwise.transport.solvers.approximations import solve_entropic, solve_sliced
from lengthwise.transport.solvers.exact import ALL_PAIRS, merged, solve_dense, solve_sparse
from lengthwise.transport.solvers.line import solve_line
from lengthwise.transport.solvers.simplex import INSTALL, compiled
from lengthwise.transport.verify import Certificate, verify

METHODS = {
    "line": solve_line,
    "dense": solve_dense,
    "sparse": solve_sparse,
    "sliced": solve_sliced,
    "entropic": solve_entropic,
}
POINTS_WITHOUT = 6000  # in both samples, up to which the exact methods are fast enough without numba
DUALITY = Reference("villani2009", "theorem 5.10")

explain(
    {
        "transport.w1": "W1",
        "transport.costs": "the costs are the intended ones",
        "transport.rounding": "the interval includes the rounding errors of costs, of sums and of the weights",
    }
)


@dataclass(frozen=True, eq=False)
class Transported:
    """A solution with its certificate, the method that found it and why that method was taken."""

    solution: Solution
    certificate: Certificate
    method: str
    chosen_because: str

    def claim(self, key: str = "transport.w1", unit: str = "", about: Mapping[str, Any] = {}) -> Claim:
        """The distance as a claim; `about` fills in the sentence of its key.

        Certified when the gap is within the tolerance. An exact method that did not get there is refused and has no
        value. An approximation is a heuristic; its value is the cost of a real plan, its interval is the sandwich.
        """
        found = self.certificate
        certified = found.status == "holds"
        refused = not certified and self.solution.exact
        evidence = {
            **about,
            **{name: value for name, value in vars(found).items() if name not in ("status", "why")},
            "method": self.method,
            "chosen_because": self.chosen_because,
            "why_refused": found.why,
            "notes": list(self.solution.notes),
        }
        return Claim(
            key=key,
            value=None if refused else found.primal,
            unit=unit,
            kind="certified" if certified or refused else "heuristic",
            status="refused" if refused else "holds",
            interval=Interval(found.lower, found.upper, 1.0, "duality") if found.lower <= found.upper else None,
            assumptions=(Assumption("transport.costs"), Assumption("transport.rounding", "checked")),
            reference=DUALITY,
            evidence=evidence,
        )


def solve(
    problem: TransportProblem, method: str = "auto", tolerance: float = 1e-7, limit: int | None = None
) -> Transported:
    """The distance with its certificate.

    `method` is 'auto', which is always exact, or one of 'line', 'dense', 'sparse' (exact), 'sliced' and 'entropic'
    (approximations). `limit` cuts pivots, directions or iterations. A certificate whose relative gap exceeds
    `tolerance`, or whose solver was cut, is refused. Time and memory are those of the method (see its file) and of
    `verify`.
    """
    if method != "auto" and method not in METHODS:
        raise UsageError(f"the method must be one of auto, {', '.join(METHODS)}, not {method!r}")
    if not tolerance > 0:
        raise UsageError(f"the tolerance must be a positive number such as 1e-7, not {tolerance}")
    if limit is not None and limit < 0:
        raise UsageError(f"the limit must be a number of iterations that is not negative, or None, not {limit}")
    name, because = choose(problem.cost) if method == "auto" else (method, "it was asked for")
    if isinstance(problem.cost, VectorCost) and (exponent := problem.cost.exponent):
        inner = TransportProblem(problem.cost.scaled(), problem.a, problem.b)
        solution = _solved(inner, name, limit)
        found = verify(inner, solution, tolerance).times(exponent)
        f, g = np.ldexp(solution.f, exponent), np.ldexp(solution.g, exponent)
        return Transported(replace(solution, f=f, g=g), found, name, because)
    solution = _solved(problem, name, limit)
    return Transported(solution, verify(problem, solution, tolerance), name, because)


def _solved(problem: TransportProblem, name: str, limit: int | None) -> Solution:
    if name not in ("dense", "sparse"):
        return METHODS[name](problem, limit)
    small = merged(problem)
    _affordable(small.problem.cost)
    return small.spread(METHODS[name](small.problem, limit))


def choose(cost: Cost) -> tuple[str, str]:
    """The exact method for a cost, and why."""
    n, m = cost.shape
    if isinstance(cost, VectorCost) and cost.line:
        return "line", "the vectors have one coordinate, so sorting solves the problem"
    if n * m <= ALL_PAIRS:
        return "dense", f"{n} x {m} pairs are few enough to consider all of them"
    return "sparse", f"{n} x {m} pairs are many, and few of them can be part of an optimal plan"


def _affordable(cost: Cost) -> None:
    n, m = cost.shape
    if not compiled() and n + m > POINTS_WITHOUT:
        raise UsageError(
            f"{n + m:,} different points need the compiled solver: {INSTALL}; without it up to {POINTS_WITHOUT:,} are "
            "solved exactly, and method='sliced' gives bounds for any number"
        )
