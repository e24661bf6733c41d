"""How much a representation knows about the contexts, and how badly a linear probe on it can do on tasks they help
with.

For features Φ(x) with covariance C, and B = Cov(E[Φ(X) | A]), the ratio trace Tr(C⁺B) is the sum of the squared
associations that the span of Φ holds. It does not change under invertible linear maps of Φ, and no representation of
rank r exceeds s_1² + … + s_r² (Ky Fan; zhai2025).

A task is a function f of x with mean 0 and variance 1. Its compatibility ρ(f) = ‖T*f‖ says how much of it contexts
show. Over all tasks with ρ(f) >= 1 - ε, the worst squared error of the best affine probe w·Φ + b is

    worst_error         that of a given representation on a given table, computed
    any_encoder_error   at most this, from s_1 and the trace gap alone

Propositions 1 to 4 of docs/explanation/contexture.md, with proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from lengthwise.bounds.contexture.spectrum import Spectrum, spectrum_by_svd
from lengthwise.bounds.contexture.table import JointTable, table_pencil
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

REFERENCE = Reference("zhai2025", "ratio trace; proved in docs/explanation/contexture.md")

explain(
    {
        "contexture.trace": "ratio trace of {of}",
        "contexture.correlation": "mean squared canonical correlation of {of} with the {rank} leading functions",
        "contexture.exact_table": "the joint table is the distribution, not counts of a sample",
        "contexture.error": "worst probe error on tasks of compatibility {compatibility:.3g} or more",
        "contexture.known": "spectrum and trace gap are those of the distribution",
        "contexture.judged": "tasks are judged on the table's distribution, by the squared error of an affine probe",
    }
)


@dataclass(frozen=True, eq=False)
class Alignment:
    """A representation compared with the best of its rank.

    ratio_trace    Tr(C⁺B); the eigenvalues of B v = λ C v, whose sum it is, are `ritz`
    most           s_1² + … + s_r², what the best representation of this rank has
    trace_gap      the least, over m <= r, of s_1² + … + s_(m+1)² minus the m largest of `ritz`: what the error bound
                   for any encoder is made from; s_(r+1)² for the best representation, s_1² for one that knows nothing
    correlations   canonical correlations between Φ and μ_1, …, μ_r, descending
    """

    rank: int
    ratio_trace: float
    most: float
    trace_gap: float
    correlations: Floats
    ritz: Floats
    exact: bool

    def claims(self, of: str = "the representation") -> tuple[Claim, ...]:
        """The ratio trace, and the mean squared canonical correlation."""
        given = (Assumption("contexture.exact_table", "checked" if self.exact else "violated"),)
        told = {"of": of, "rank": self.rank}
        mean = float(np.mean(self.correlations**2)) if len(self.correlations) else 0.0
        found = {"most": self.most, "trace_gap": self.trace_gap, "ritz": self.ritz.tolist()}
        rows = [
            ("contexture.trace", self.ratio_trace, f"of at most {self.most:.6g}", found),
            ("contexture.correlation", mean, "", {"correlations": self.correlations.tolist()}),
        ]
        return tuple(
            Claim(key, value, unit, "measured", "holds", None, given, REFERENCE, {**told, **evidence})
            for key, value, unit, evidence in rows
        )


def alignment(table: JointTable, features: Floats, spectrum: Spectrum | None = None) -> Alignment:
    """The alignment of features [X, d] of x, exact for the table that is given.

    Linearly dependent features count once; the rank of the centred ones takes the place of d. Where s_r = s_(r+1) the
    leading functions are not unique and correlations depend on the choice; the ratio trace does not.
    """
    spectrum = spectrum or spectrum_by_svd(table)
    solved = table_pencil(table, features)
    own = table.centred(features) @ solved.vectors
    leading = spectrum.of_x[:, : solved.rank]
    shared = np.linalg.svd(own.T @ (table.of_x[:, None] * leading), compute_uv=False)
    return Alignment(
        rank=solved.rank,
        ratio_trace=float(solved.values.sum()),
        most=spectrum.most(solved.rank),
        trace_gap=trace_gap(spectrum.squares, solved.values),
        correlations=np.clip(shared, 0.0, 1.0).astype(np.float64),
        ritz=solved.values,
        exact=table.pairs is None,
    )


def trace_gap(squares: Floats, ritz: Floats) -> float:
    """min over m of s_1² + … + s_(m+1)² - (λ_1 + … + λ_m), for the true s² and the eigenvalues λ of a representation,
    both descending. m = 0, nothing kept, gives s_1², so it is never more than that."""
    padded = np.zeros(len(ritz) + 1)
    padded[: min(len(squares), len(padded))] = squares[: len(padded)]
    return float(max(0.0, (np.cumsum(padded) - np.concatenate([[0.0], np.cumsum(ritz)])).min()))


def compatibility(table: JointTable, task: ArrayLike) -> float:
    """ρ(f) = ‖T*f‖ / ‖f‖ of a task f [X], whose mean is taken off: between 0 and s_1."""
    centred = table.centred(task)
    spread = float(table.of_x @ centred[:, 0] ** 2)
    if spread <= 0:
        raise UsageError("a task that is constant has no compatibility; give one that varies")
    return math.sqrt(float(table.of_a @ table.means_over_x(centred)[:, 0] ** 2) / spread)


def probe_error(table: JointTable, features: Floats, task: ArrayLike) -> float:
    """The least of E(f - w·Φ - b)² over w and b, as a share of the variance of f."""
    centred = table.centred(task)[:, 0]
    spread = float(table.of_x @ centred**2)
    if spread <= 0:
        raise UsageError("a task that is constant has nothing to be wrong about; give one that varies")
    solved = table_pencil(table, features)
    known = (table.centred(features) @ solved.vectors).T @ (table.of_x * centred)
    return float(np.clip(1.0 - known @ known / spread, 0.0, 1.0))


def worst_error(table: JointTable, features: Floats, epsilon: float) -> float:
    """The worst probe error of features [X, d] over all tasks with ρ(f) >= 1 - ε (proposition 4). O(X³) per iteration.

    It is min over λ >= 0 of the largest eigenvalue of (I - Π) + λ (K - (1-ε)²), where Π projects on the features and K
    = TT*: every λ gives an upper bound, and the best is attained as the joint range of two quadratic forms is convex
    (X - 1 >= 3). What is returned is the bound at the λ that was found.
    """
    root = np.sqrt(table.of_x)
    solved = table_pencil(table, features)
    own = root[:, None] * (table.centred(features) @ solved.vectors)
    scaled = table.probabilities / root[:, None] / np.sqrt(table.of_a) - np.outer(root, np.sqrt(table.of_a))
    basis = np.linalg.svd(root[:, None])[0][:, 1:]  # functions of mean 0
    missed = np.eye(len(root) - 1) - (basis.T @ own) @ (basis.T @ own).T
    kernel = (basis.T @ scaled) @ (basis.T @ scaled).T - (1 - epsilon) ** 2 * np.eye(len(root) - 1)
    if np.linalg.eigvalsh(kernel)[-1] < -1e-12:
        return 0.0

    def bound(logarithm: float) -> float:
        return float(np.linalg.eigvalsh(missed + math.exp(logarithm) * kernel)[-1])

    best = scipy.optimize.minimize_scalar(bound, bounds=(-12.0, 18.0), method="bounded", options={"xatol": 1e-6})
    return float(np.clip(min(best.fun, np.linalg.eigvalsh(missed)[-1]), 0.0, 1.0))


def any_encoder_error(first: float, gap: float, epsilon: float) -> float:
    """sin²(arcsin(√TG / s_1) + arccos((1-ε) / s_1)), for `first` = s_1² and the trace gap TG <= s_1² (proposition 3).

    Never more than `linear_encoder_error`. 1, which says nothing, where the angles reach a right angle; 0 where no task
    is as compatible as that.
    """
    _check(epsilon)
    ratio = (1 - epsilon) / math.sqrt(first) if first > 0 else math.inf
    if ratio > 1:
        return 0.0
    angle = math.asin(math.sqrt(min(1.0, max(0.0, gap) / first))) + math.acos(ratio)
    return 1.0 if angle >= math.pi / 2 else math.sin(angle) ** 2


def linear_encoder_error(first: float, gap: float, epsilon: float) -> float:
    """(s_1² - (1-ε)² + s_1 √TG) / (s_1² - TG) for TG < s_1² (proposition 2): the form of zhai2025, theorem 24, with √TG
    where TG is printed. Infinite where TG reaches s_1²."""
    _check(epsilon)
    if gap >= first:
        return math.inf
    return (first - (1 - epsilon) ** 2 + math.sqrt(first * max(0.0, gap))) / (first - gap)


def error_claim(first: float, gap: float, epsilon: float, exact: bool) -> Claim:
    """The bound for any encoder as a claim, from s_1² and the trace gap; vacuous at 1, which guessing the mean of the
    task reaches."""
    value, linear = any_encoder_error(first, gap, epsilon), linear_encoder_error(first, gap, epsilon)
    known = Assumption("contexture.known", "checked" if exact else "violated")
    return Claim(
        "contexture.error",
        value,
        "at most, of variance 1",
        "certified" if exact else "heuristic",
        "vacuous" if value >= 1 else "holds",
        assumptions=(known, Assumption("contexture.judged")),
        reference=Reference("docs/explanation/contexture.md", "proposition 3"),
        evidence={
            "s_1": math.sqrt(first),
            "trace_gap": gap,
            "epsilon": epsilon,
            "compatibility": 1 - epsilon,
            "linear_form": linear if math.isfinite(linear) else None,
        },
    )


def _check(epsilon: float) -> None:
    if not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon must lie between 0 and 1, not {epsilon}")
