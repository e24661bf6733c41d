"""All claims about a table or pairs, and about a representation compared with random ones; and τ, how useful contexts
are.

τ_d = 1 / (1 - s_(d+1)²) + β Σ_(i<=d) s_i² / Σ_(i<=d0) s_i², and τ = min over d (zhai2025): the first part is what d
dimensions miss, the second what they have to learn. Lower is better; contexts that say nothing about x and contexts
that reveal it are both bad. τ is a rule of thumb, never a certificate: its published correlations with the error of a
probe are 0.431 in the mean and 0.587 in the median over 28 data sets, and negative on two of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize

from lengthwise.bounds.contexture.alignment import alignment, error_claim
from lengthwise.bounds.contexture.estimates import (
    DrawnSpectrum,
    drawn_pairs,
    independent,
    ratio_trace_claim,
    spectrum_of_pairs,
)
from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
from lengthwise.bounds.contexture.table import JointTable
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Ints, Seeds

BETA, MOST_DIMENSIONS = 1.0, 512
RANDOM = 20  # random representations that a given one is compared with
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
        "contexture.first": "strongest association s_1²",
        "contexture.total": "sum of all s_i²",
        "contexture.spectrum": "spectrum",
        "contexture.random_trace": "ratio trace of random representations of rank {rank}",
        "contexture.of_distribution": "the spectrum is that of the distribution",
        "contexture.too_many_alone": (
            "at most half of the pairs may have an x or an a that occurs only once, but {alone:.0%} of them do"
        ),
    }
)


def usefulness_claim(
    squares: Floats, exact: bool = True, beta: float = BETA, most_dimensions: int = MOST_DIMENSIONS
) -> Claim:
    """τ from s_1², s_2², … (0 behind the last), over d = 1 … d0: always a heuristic, and unknown within 5 % of β + 1.

    Keeping all of a spectrum that ends within d0 costs exactly β + 1, and so does keeping the one function of a
    spectrum that ends after it. A minimum near that means that no choice of d is much better than keeping everything:
    contexts are too strong or too weak for τ to distinguish them, and the authors abstain there.
    """
    if not 0 < beta < math.inf or most_dimensions < 1:
        raise UsageError(f"β is above 0 and d0 at least 1, not {beta} and {most_dimensions}")
    padded = np.zeros(most_dimensions + 1)
    given = np.clip(np.asarray(squares, dtype=np.float64), 0.0, 1.0)[: most_dimensions + 1]
    padded[: len(given)] = given
    total = padded[:most_dimensions].sum()
    tau, best = beta + 1, 1  # where nothing is associated, there is nothing to tell
    if total > 0:
        with np.errstate(divide="ignore"):
            missed = 1 / np.where(padded[1:] >= 1 - 1e-12, 0.0, 1 - padded[1:])
        costs = missed + beta * np.cumsum(padded[:most_dimensions]) / total
        tau, best = float(costs.min()), int(costs.argmin()) + 1
    abstains = tau >= (1 - NEAR) * (beta + 1)
    return Claim(
        "contexture.usefulness",
        None if abstains else tau,
        "",
        "heuristic",
        "unknown" if abstains else "holds",
        assumptions=(Assumption("contexture.same_type"), *(() if exact else (Assumption("contexture.estimated"),))),
        reference=REFERENCE,
        evidence={
            "tau": tau if math.isfinite(tau) else None,
            "dimensions": best,
            "beta": beta,
            "d0": most_dimensions,
            "abstains": abstains,
            "least": 1 - NEAR,
        },
    )


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


@dataclass(frozen=True, eq=False)
class Contexture:
    """What contexts hold. `squares` are s_1², s_2², …; `claims` are about them, `representation` about what was given
    to be compared, and `random` about what a representation that was not trained has."""

    what: str
    how: str
    squares: Floats
    exact: bool
    claims: tuple[Claim, ...]
    representation: tuple[Claim, ...] = ()
    random: tuple[Claim, ...] = ()

    def plain(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            **{name: getattr(self, name) for name in ("what", "how", "exact")},
            "squares": self.squares.tolist(),
            **{name: [claim.plain() for claim in vars(self)[name]] for name in ("claims", "representation", "random")},
        }


def contexture_of_table(
    table: JointTable,
    features: Floats | None = None,
    *,
    epsilon: float | None = None,
    beta: float = BETA,
    most_dimensions: int = MOST_DIMENSIONS,
    seed: int = 0,
) -> Contexture:
    """Spectrum, decay and τ of a table; with features [X, d] their alignment and that of random ones, and the error
    bound for tasks of compatibility 1 - ε (0.9 s_1 unless an ε is given)."""
    spectrum, exact = spectrum_by_svd(table), table.pairs is None
    what = f"a table of {len(table.of_x)} x and {len(table.of_a)} a"
    claims = spectrum_claims(spectrum.squares, exact, beta, most_dimensions)
    if features is None:
        return Contexture(what, spectrum.how, spectrum.squares, exact, claims)
    found = alignment(table, features, spectrum)
    if not found.rank:
        raise UsageError("the representation is the same for every x; give vectors that differ")
    epsilon = 1 - 0.9 * float(spectrum.values[0]) if epsilon is None else epsilon
    bound = error_claim(spectrum.square(1), found.trace_gap, epsilon, exact)
    generator = np.random.default_rng(Seeds(seed).key("random features"))
    drawn = [generator.standard_normal((len(table.of_x), found.rank)) for _ in range(RANDOM)]
    others = [alignment(table, other, spectrum).ratio_trace for other in drawn]
    interval = Interval(min(others), max(others), 1.0, f"the range of {RANDOM} random representations")
    value, evidence = float(np.mean(others)), {"traces": others, "rank": found.rank}
    random = Claim("contexture.random_trace", value, "", "measured", interval=interval, evidence=evidence)
    return Contexture(what, spectrum.how, spectrum.squares, exact, claims, (*found.claims(), bound), (random,))


def contexture_of_pairs(
    x: Ints,
    a: Ints,
    features: Floats | None = None,
    *,
    beta: float = BETA,
    most_dimensions: int = MOST_DIMENSIONS,
    seed: int = 0,
) -> Contexture:
    """The same estimated from pairs of codes; features [n, d] have one row per pair."""
    found = spectrum_of_pairs(x, a)
    what = f"{len(x)} pairs with {int(x.max()) + 1} different x and {int(a.max()) + 1} different a"
    claims = spectrum_claims(found.squares, False, beta, most_dimensions) if found.known else (unknown_spectrum(found),)
    squares = found.squares if found.known else found.squares[:0]
    if features is None:
        return Contexture(what, found.how, squares, False, claims)
    drawn = drawn_pairs(features, a)
    rank = independent(drawn).features.shape[1]
    most = float(found.squares[:rank].sum()) if found.known else None
    own = ratio_trace_claim(drawn, "the representation", most, seed=seed)
    noise = np.random.default_rng(Seeds(seed).key("random features")).standard_normal((int(x.max()) + 1, rank))
    other = ratio_trace_claim(drawn_pairs(noise[x], a), "a random representation of the same rank", most, seed=seed)
    return Contexture(what, found.how, squares, False, claims, (own,), (other,))


def spectrum_claims(squares: Floats, exact: bool, beta: float, most_dimensions: int) -> tuple[Claim, ...]:
    """The strongest association, the sum of all, their decay, and τ."""
    reference = Reference("zhai2025", "spectrum of the expectation operator")
    given = (Assumption("contexture.of_distribution", "checked" if exact else "assumed"),)
    sums = [("contexture.first", squares[0], ""), ("contexture.total", squares.sum(), f"over {len(squares)} values")]
    known = (Claim(k, float(v), u, "measured", assumptions=given, reference=reference) for k, v, u in sums)
    return *known, decay_claim(squares, exact), usefulness_claim(squares, exact, beta, most_dimensions)


def unknown_spectrum(found: DrawnSpectrum) -> Claim:
    """The claim in place of a spectrum that pairs do not show."""
    return Claim(
        "contexture.spectrum",
        None,
        "",
        "measured",
        "unknown",
        assumptions=(Assumption("contexture.too_many_alone", "violated", {"alone": found.alone}),),
        reference=Reference("docs/explanation/contexture.md", "proposition 5"),
        evidence={"alone": found.alone, "plug_in": found.plug_in.tolist()},
    )
