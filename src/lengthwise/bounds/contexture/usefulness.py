"""How fast associations decay, and whether contexts are of a useful strength. A rule of thumb, never a certificate.

τ_d = 1 / (1 - s_(d+1)²) + β Σ_(i<=d) s_i² / Σ_(i<=d0) s_i², and τ = min over d (zhai2025): the first part
is what d dimensions miss, the second what they have to learn. Lower is better; contexts that say nothing about x and
contexts that reveal it are both bad. The published correlations of τ with the error of a probe are 0.431 in the
mean and 0.587 in the median over 28 data sets, and negative on two of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

BETA, MOST_DIMENSIONS = 1.0, 512
NEAR = 0.05  # a τ within this share of β + 1 says nothing
REFERENCE = Reference("zhai2025", "usefulness of a context")

explain(
    {
        "contexture.usefulness": "usefulness of the contexts, τ (lower is better)",
        "contexture.decay": "association decay λ in s_i² = exp(-λ i)",
        "contexture.same_type": "compared only among contexts of one type; the authors warn against comparing types",
        "contexture.estimated": "the spectrum is an estimate, and so is τ",
        "contexture.exponential": "the decay is exponential",
        "contexture.abstains": "τ says nothing where it is at least {least:g} (β + 1)",
    }
)


@dataclass(frozen=True)
class Usefulness:
    """τ, the d at which it is reached, and whether to abstain."""

    tau: float
    dimensions: int
    beta: float
    most_dimensions: int

    @property
    def abstains(self) -> bool:
        """Whether τ lies within 5 % of β + 1.

        Keeping all of a spectrum that ends within d0 costs exactly β + 1, and so does keeping the one function of a
        spectrum that ends after it. A minimum near that means that no choice of d is much better than keeping
        everything: contexts are too strong or too weak for τ to distinguish them, and the authors abstain there.
        """
        return self.tau >= (1 - NEAR) * (self.beta + 1)

    def claim(self, measured: bool = False) -> Claim:
        """Always a heuristic; unknown where it abstains. `measured`: the spectrum is an estimate."""
        of_sample = (Assumption("contexture.estimated"),) if measured else ()
        return Claim(
            "contexture.usefulness",
            None if self.abstains else self.tau,
            "",
            "heuristic",
            "unknown" if self.abstains else "holds",
            assumptions=(Assumption("contexture.same_type"), *of_sample),
            reference=REFERENCE,
            evidence={
                "tau": self.tau if math.isfinite(self.tau) else None,
                "dimensions": self.dimensions,
                "beta": self.beta,
                "d0": self.most_dimensions,
                "abstains": self.abstains,
                "least": 1 - NEAR,
            },
        )


def usefulness(squares: Floats, beta: float = BETA, most_dimensions: int = MOST_DIMENSIONS) -> Usefulness:
    """τ from s_1², s_2², … (0 behind the last), over d = 1 … d0."""
    if not 0 < beta < math.inf or most_dimensions < 1:
        raise UsageError(f"β is above 0 and d0 at least 1, not {beta} and {most_dimensions}")
    padded = np.zeros(most_dimensions + 1)
    given = np.clip(np.asarray(squares, dtype=np.float64), 0.0, 1.0)[: most_dimensions + 1]
    padded[: len(given)] = given
    total = padded[:most_dimensions].sum()
    if total <= 0:
        return Usefulness(beta + 1, 1, beta, most_dimensions)  # nothing is associated, so there is nothing to tell
    with np.errstate(divide="ignore"):
        missed = 1 / np.where(padded[1:] >= 1 - 1e-12, 0.0, 1 - padded[1:])
    costs = missed + beta * np.cumsum(padded[:most_dimensions]) / total
    best = int(np.argmin(costs))
    return Usefulness(float(costs[best]), best + 1, beta, most_dimensions)


def decay_claim(squares: Floats, exact: bool) -> Claim:
    """λ of the curve s_i² = exp(-λ i) that is nearest in squares; 0 is no decay at all.

    The curve is fitted to s² and not to its logarithm, in which the smallest and least certain values would weigh most.
    """
    given = np.clip(np.asarray(squares, dtype=np.float64), 0.0, 1.0)
    numbers = np.arange(1, len(given) + 1)

    def misfit(rate: float) -> float:
        return float(((given - np.exp(-rate * numbers)) ** 2).sum())

    grid = np.concatenate([[0.0], np.geomspace(1e-6, 50, 400)])  # the misfit may have several dips
    at = int(np.argmin([misfit(rate) for rate in grid]))
    ends = (grid[max(0, at - 1)], grid[min(len(grid) - 1, at + 1)])
    found = scipy.optimize.minimize_scalar(misfit, bounds=ends, method="bounded", options={"xatol": 1e-10})
    rate = min((float(grid[at]), float(found.x)), key=misfit)
    error = math.sqrt(misfit(rate) / len(given))
    return Claim(
        "contexture.decay",
        rate,
        "",
        "measured" if exact else "heuristic",
        assumptions=(Assumption("contexture.exponential", "checked" if error < 0.05 else "violated"),),
        reference=REFERENCE,
        evidence={"values": len(given), "root_mean_square_error": error},
    )
