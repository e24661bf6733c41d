"""Is this plan optimal? Recomputed from the costs, the plan and the potentials, whoever found them.

Two facts make a sandwich around the true W1, whatever the solver did. Let P >= 0 be any sparse plan, f and g any
potentials, `e` the sum of all deviations of P's row and column sums from a and b, `v = max(0, max_ij f_i + g_j - c_ij)`
and C the largest cost.

- Lower: the potentials f - v, g are feasible and a sums to one, so `sum a f + sum b g - v <= W1` (weak duality).
- Upper: shrink the rows of P that carry too much, then its columns that do, to a plan P' that exceeds neither a nor
  b. This removes at most the surplus of the rows and that of the columns, and `1 - |P|` is what rows miss less their
  surplus; so the mass still to be moved, `1 - |P'|`, is at most what rows miss plus the surplus of the columns, which
  is at most e. Moved anyhow it costs at most C a unit: `W1 <= sum P c + e C`.

The gap is the distance between the two, so neither broken marginals nor broken constraints can hide: a solver that
scales costs or weights to integers is judged on the real ones.

Rounding is part of the sandwich. Sums are taken exactly (`math.fsum`). A computed cost c' of vectors differs from the
true c by at most r c' + t (`Cost.error`); so the plan costs at most 1 + r times what was computed and t more, and
(f, g) / (1 + r) - t are feasible for c where (f, g) are for c'. Products, differences and the weights, which are
normalised in floats, are each wrong by a few units of the numbers they are made from.

Time O(n m d) for vectors, O(n m) for a matrix, O((n + m) log(n + m)) on a line; memory O(n + m + plan).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lengthwise.rounding import SMALLEST, UNIT, DistanceError, Upper, below
from lengthwise.transport.problem import Cost, Floats, Solution, TransportProblem, VectorCost

_BLOCK = 1 << 18  # costs in memory at once
FLOOR = 1e-5


@dataclass(frozen=True)
class Certificate:
    """What was recomputed. W1 lies in [lower, upper], also when the status is 'refused'.

    `primal` is the cost of the plan, `dual` the value of the potentials, both as they came; `gap` is upper - lower.
    `relative_gap` divides it by `upper`, or by 1e-5 of the largest cost when `upper` is smaller than that, since the
    distance between nearly equal samples is a difference of rounding errors.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    marginal_error: float
    dual_violation: float
    status: Literal["holds", "refused"]
    why: str
    lower: float
    upper: float

    def times(self, exponent: int) -> Certificate:
        """The same of the costs times a power of two, for which the problem was scaled down."""
        primal, dual, violation = (float(np.ldexp(v, exponent)) for v in (self.primal, self.dual, self.dual_violation))
        upper = float(np.nextafter(np.ldexp(self.upper, exponent), np.inf)) if self.upper > 0 else 0.0
        lower = below(float(np.ldexp(self.lower, exponent)))
        scaled = replace(self, primal=primal, dual=dual, dual_violation=violation, lower=lower, upper=upper)
        return replace(scaled, gap=upper - lower)


def verify(problem: TransportProblem, solution: Solution, tolerance: float = 1e-7) -> Certificate:
    """The certificate of a solution: 'holds' when it finished and its relative gap is at most `tolerance`."""
    if broken := _malformed(problem, solution):
        nan = math.nan
        return Certificate(nan, nan, math.inf, math.inf, nan, nan, "refused", broken, 0.0, math.inf)
    violation, largest = _extremes(problem.cost, solution.f, solution.g)
    plan = problem.cost.pairs(solution.rows, solution.columns)
    primal = math.fsum(solution.mass * plan)
    parts = np.concatenate([problem.a * solution.f, problem.b * solution.g])
    dual = math.fsum(parts)
    error = _marginal_error(problem, solution)
    if largest == problem.cost.error.absolute == 0:
        lower, upper = 0.0, 0.0
    else:
        lost = 8 * UNIT * math.fsum(np.abs(parts)) + len(parts) * SMALLEST
        lower = _lower(dual - lost, violation + _lost_in_slack(solution, largest), problem.cost.error)
        upper = _upper(primal, error + _lost_in_marginals(problem, solution), largest, solution, problem.cost.error)
    gap = upper - lower
    scale = max(upper, FLOOR * largest)
    relative = gap / scale if scale > 0 else 0.0
    why = _reason(solution, relative, tolerance)
    status = "refused" if why else "holds"
    return Certificate(primal, dual, gap, relative, error, violation, status, why, lower, upper)


def _lower(dual: float, violation: float, error: DistanceError) -> float:
    """(dual - violation) / (1 + r) - t, rounded down."""
    lost = 4 * UNIT * (abs(dual) + violation)
    return max(0.0, below((dual - violation - lost) * (1.0 - error.relative), 4) - error.absolute)


def _upper(primal: float, moved: float, largest: float, solution: Solution, error: DistanceError) -> float:
    """(1 + r) primal + t |P| + moved C, rounded up."""
    most = Upper(largest) * (1.0 + error.relative) + error.absolute
    mass = Upper(math.fsum(solution.mass))
    cost = (Upper(primal) * (1.0 + 4 * UNIT) + len(solution.mass) * SMALLEST) * (1.0 + error.relative)
    return float(cost + mass * error.absolute + most * moved)


def _lost_in_slack(solution: Solution, largest: float) -> float:
    """What f_i + g_j - c_ij can be wrong by."""
    return 8 * UNIT * (largest + float(np.abs(solution.f).max()) + float(np.abs(solution.g).max()))


def _lost_in_marginals(problem: TransportProblem, solution: Solution) -> float:
    """A sum of k masses is wrong by k u of it, and the weights, which were normalised in floats, by 4 u."""
    lost = 8 * UNIT
    for places, weights in ((solution.rows, problem.a), (solution.columns, problem.b)):
        counts = np.bincount(places, minlength=len(weights))
        sums = np.bincount(places, weights=solution.mass, minlength=len(weights))
        lost += 2 * UNIT * float((counts + 2) @ sums)
    return lost


def _malformed(problem: TransportProblem, solution: Solution) -> str:
    """Why the solution is no plan and no potentials at all; empty when it is."""
    n, m = problem.cost.shape
    rows, columns, mass = solution.rows, solution.columns, solution.mass
    if solution.f.shape != (n,) or solution.g.shape != (m,):
        return "the potentials have the wrong shape"
    if not rows.shape == columns.shape == mass.shape:
        return "the parts of the plan have different lengths"
    if not all(np.isfinite(part).all() for part in (solution.f, solution.g, mass)):
        return "the plan or the potentials hold NaN or infinity"
    if len(mass) and (mass.min() < 0 or min(rows.min(), columns.min()) < 0 or rows.max() >= n or columns.max() >= m):
        return "the plan holds a negative mass or an item that is not there"
    return ""


def _reason(solution: Solution, relative: float, tolerance: float) -> str:
    if not solution.finished:
        return f"{solution.method} was stopped before it had finished; the relative gap is {relative:.3g}"
    # Written so that NaN is refused too.
    if not abs(relative) <= tolerance:
        return f"the relative gap {relative:.3g} is beyond the tolerance {tolerance:.3g}"
    return ""


def _marginal_error(problem: TransportProblem, solution: Solution) -> float:
    rows = np.bincount(solution.rows, weights=solution.mass, minlength=len(problem.a))
    columns = np.bincount(solution.columns, weights=solution.mass, minlength=len(problem.b))
    return math.fsum(np.abs(np.concatenate([rows - problem.a, columns - problem.b])))


def _extremes(cost: Cost, f: Floats, g: Floats) -> tuple[float, float]:
    """The worst violation of `f_i + g_j <= c_ij` (0 when there is none) and the largest cost, from all pairs."""
    if isinstance(cost, VectorCost) and cost.line:
        return _extremes_on_line(cost.x[:, 0], cost.y[:, 0], f, g)
    n, m = cost.shape
    wide = min(m, 4096)
    high = max(1, _BLOCK // wide)
    violation = largest = 0.0
    for top in range(0, n, high):
        rows = slice(top, top + high)
        for left in range(0, m, wide):
            columns = slice(left, left + wide)
            block = cost.block(rows, columns)
            largest = max(largest, float(block.max()))
            slack = np.subtract(block, f[rows, None])
            slack -= g[columns]
            violation = max(violation, -float(slack.min()))
    return violation, largest


def _extremes_on_line(x: Floats, y: Floats, f: Floats, g: Floats) -> tuple[float, float]:
    """The same for `c = |x - y|`: below x_i the cost is x_i - y_j, so the worst y_j there has the largest g_j + y_j.

    Places are counted from one of them, so that none is larger than the largest cost or the length of a sample."""
    violation, x, y = 0.0, x - x[0], y - x[0]
    for left, right, ours, theirs in ((x, y, f, g), (-x, -y, f, g)):
        order = np.argsort(right, kind="stable")
        best = np.maximum.accumulate((theirs + right)[order])
        below = np.searchsorted(right[order], left, side="right")
        some = below > 0
        if some.any():
            violation = max(violation, float((ours[some] - left[some] + best[below[some] - 1]).max()))
    return violation, float(max(x.max() - y.min(), y.max() - x.min()))
