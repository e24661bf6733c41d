"""The one entry: choose a method, solve, verify, and say what was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.transport.problem import Problem, Solution
from lengthwise.transport.solvers.dense import solve_dense
from lengthwise.transport.verify import Certificate, verify

DUALITY = Reference("villani2009", "theorem 5.10")


@dataclass(frozen=True, eq=False)
class Transported:
    """A solution with its certificate, the method that found it and why that method was taken."""

    solution: Solution
    certificate: Certificate
    method: str
    chosen_because: str

    def claim(self, name: str = "W1", unit: str = "") -> Claim:
        """The distance as a claim.

        Certified when the gap is within the tolerance. An exact method that did not get there is refused and has no
        value. An approximation is a heuristic; its value is the cost of a real plan, its interval is the sandwich.
        """
        found = self.certificate
        certified = found.status == "holds"
        refused = not certified and self.solution.exact
        evidence = {
            "primal": found.primal,
            "dual": found.dual,
            "gap": found.gap,
            "relative_gap": found.relative_gap,
            "marginal_error": found.marginal_error,
            "dual_violation": found.dual_violation,
            "lower": found.lower,
            "upper": found.upper,
            "method": self.method,
            "chosen_because": self.chosen_because,
            "why_refused": found.why,
            "notes": list(self.solution.notes),
        }
        return Claim(
            name=name,
            value=None if refused else found.primal,
            unit=unit,
            kind="certified" if certified or refused else "heuristic",
            status="refused" if refused else "holds",
            interval=Interval(found.lower, found.upper, 1.0, "duality") if found.lower <= found.upper else None,
            assumptions=(Assumption("the costs are the ones meant", "assumed"),),
            reference=DUALITY,
            evidence=evidence,
        )


def solve(problem: Problem, method: str = "auto", tolerance: float = 1e-7, limit: int | None = None) -> Transported:
    """The distance with its certificate. `limit` cuts the iterations of the method; a cut answer is refused."""
    if method not in ("auto", "dense"):
        raise UsageError(f"the method is 'auto' or 'dense', not {method!r}")
    solution = solve_dense(problem, limit)
    return Transported(solution, verify(problem, solution, tolerance), "dense", "it is exact for any cost")
