"""Alignment and spectrum estimated from pairs (x, a) that were drawn, without the bias of the plug-in.

B = Cov(E[Φ | a]) needs the mean of Φ for every context. Put in means of few samples each, and their noise is counted as
association: a representation that knows nothing of a seems to have a ratio trace of about d (A - 1) / n. The product of
two *different* samples of a context has no such bias, so here, with φ less its mean,

    B̂ = Σ_a W_a [ (Σ_i w_i r_ia φ_i)(Σ_i w_i r_ia φ_i)ᵀ - Σ_i w_i² r_ia² φ_i φ_iᵀ ] / (W_a² - Σ_i w_i² r_ia²)
        + Σ_i w_i² φ_i φ_iᵀ / (1 - Σ_i w_i²)

with weights w that sum to 1, W_a = Σ_i w_i r_ia, and memberships r: 1 for the context that was drawn, or the whole of
P(a | x_i) where it is known. The second line is the same idea for the overall mean. A pair also takes part in the C
that its own product is divided by, which makes the ratio trace too small by the factor 1 - r / n_eff, r the rank and
n_eff = 1 / Σ w²; it is put back. A context that was drawn once has no two samples; it counts as not associated, which
makes figures too small, and `alone` says how many pairs that concerns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from lengthwise.bounds.contexture.table import solve_pencil, without_mean
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Ints, Seeds

REPLICATES = 200
LEVEL = 0.95
MOST_VALUES = 1500  # an eigenproblem of this size takes a second or so
TOO_MANY_ALONE = 0.5
MANY_ALONE = 0.1  # of the pairs in contexts that were drawn once: above this an estimate is said to be too small
REFERENCE = Reference("docs/explanation/contexture.md", "proposition 5")

explain(
    {
        "contexture.drawn_trace": "ratio trace of {of}",
        "contexture.independent": "pairs are drawn independently of each other and of the features",
        "contexture.alone": "{alone:.1%} of the pairs have a context of their own and count as not associated",
    }
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Features [n, d] of n inputs that were drawn, and to which contexts each belongs, sparse [n, A]."""

    features: Floats
    memberships: scipy.sparse.csr_array

    @property
    def pairs(self) -> int:
        return len(self.features)

    @property
    def alone(self) -> float:
        """The share of the pairs whose context no other pair has."""
        count = int(self.memberships.shape[1])  # pyright: ignore[reportOptionalSubscript]
        members = np.bincount(self.memberships.indices, minlength=count)
        return float(self.memberships.sum(axis=0)[members == 1].sum() / self.pairs)


def drawn_pairs(features: Floats, contexts: Ints | Floats) -> Drawn:
    """Features of x with the contexts drawn with them: codes [n] from 0 on, or P(a | x) [n, A] where it is known."""
    features = np.asarray(features, dtype=np.float64)
    features = features[:, None] if features.ndim == 1 else features
    if features.ndim != 2 or not np.isfinite(features).all():
        raise UsageError("features are a table of finite numbers, one row per pair")
    if len(features) != len(contexts) or len(features) < 2:
        raise UsageError(f"2 pairs or more need a row of features each, not {len(features)} for {len(contexts)}")
    if contexts.ndim == 2:
        if contexts.min() < 0 or np.abs(contexts.sum(axis=1) - 1).max() > 1e-6:
            raise UsageError("the probabilities of contexts given an x are 0 or more and sum to 1 in every row")
        return Drawn(features, scipy.sparse.csr_array(contexts))
    ones, rows = np.ones(len(contexts)), np.arange(len(contexts))
    shape = (len(contexts), int(contexts.max()) + 1)
    return Drawn(features, scipy.sparse.csr_array((ones, (rows, contexts)), shape=shape))


def drawn_covariances(drawn: Drawn, weights: Floats | None = None, debiased: bool = True) -> tuple[Floats, Floats]:
    """Ĉ and B̂; with `debiased` off, the plug-in, which is B̂ without the second sum. O(n d² + n A)."""
    n = drawn.pairs
    w = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    phi = without_mean(drawn.features, w)
    covariance = phi.T @ (w[:, None] * phi)
    weighted = drawn.memberships.multiply(w[:, None]).tocsr()  # w_i r_ia
    mass = np.asarray(weighted.sum(axis=0)).ravel()
    sums = weighted.T @ phi  # [A, d]
    if not debiased:
        return covariance, sums.T @ (sums / np.maximum(mass, np.finfo(float).tiny)[:, None])
    squared = weighted.power(2)
    rest = mass**2 - np.asarray(squared.sum(axis=0)).ravel()
    factor = np.divide(mass, rest, out=np.zeros_like(mass), where=rest > 1e-12 * mass**2)
    own = np.asarray(squared @ factor).ravel() - w**2 / (1 - w @ w)
    return covariance, sums.T @ (factor[:, None] * sums) - phi.T @ (own[:, None] * phi)


def _back(pairs: int, rank: int, weights: Floats | None) -> float:
    """1 / (1 - r / n_eff): what taking part in C costs."""
    effective = pairs if weights is None else weights.sum() ** 2 / (weights @ weights)
    if effective <= 1.25 * rank:
        raise UsageError(f"{pairs} pairs are too few for features of rank {rank}; {4 * rank} or more are needed")
    return 1 / (1 - rank / effective)


def independent(drawn: Drawn) -> Drawn:
    """The same span by features that are uncorrelated and of variance 1, so that none is superfluous."""
    centred = without_mean(drawn.features, np.full(drawn.pairs, 1 / drawn.pairs))
    covariance = centred.T @ centred / drawn.pairs
    return Drawn(centred @ solve_pencil(covariance, covariance).vectors, drawn.memberships)


def ratio_trace(drawn: Drawn, weights: Floats | None = None) -> float:
    """Tr(Ĉ⁻¹B̂), corrected, for features as `independent` gives them. O(n d² + d³)."""
    covariance, between = drawn_covariances(drawn, weights)
    trace = float(np.trace(np.linalg.solve(covariance, between)))
    return trace * _back(drawn.pairs, drawn.features.shape[1], weights)


def ratio_trace_claim(
    drawn: Drawn, of: str, most: float | None = None, *, seed: int = 0, replicates: int = REPLICATES
) -> Claim:
    """The ratio trace of drawn features, named `of`, with a bootstrap interval; `most` is the largest possible.

    The interval is the middle 95 % under random weights of the pairs (the Bayesian bootstrap, rubin1981). Weights are
    exponential and none is 0, so no context and no direction of the features is ever lost; the value lies inside.
    """
    plain, pairs, alone = independent(drawn), drawn.pairs, drawn.alone
    rank = plain.features.shape[1]
    if not rank:
        raise UsageError(f"{of} is the same for every x; give vectors that differ")
    if pairs < 4 * rank:
        raise UsageError(f"{pairs} pairs are too few for features of rank {rank}; {4 * rank} or more are needed")
    value = ratio_trace(plain)
    generator = np.random.default_rng(Seeds(seed).key("contexture", pairs))
    found = [ratio_trace(plain, generator.exponential(size=pairs)) for _ in range(replicates)]
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    method = f"Bayesian bootstrap over {pairs} pairs, {replicates} replicates"
    plug_in = float(solve_pencil(*drawn_covariances(drawn, debiased=False)).values.sum())
    once = Assumption("contexture.alone", "caveat" if alone > MANY_ALONE else "checked", {"alone": alone})
    return Claim(
        "contexture.drawn_trace",
        value,
        "" if most is None else f"of at most {most:.4g}",
        "measured",
        interval=Interval(float(min(low, value)), float(max(high, value)), LEVEL, method),
        assumptions=(Assumption("contexture.independent"), *((once,) if alone else ())),
        reference=REFERENCE,
        evidence={"of": of, "pairs": pairs, "rank": rank, "most": most, "plug_in": plug_in, "alone": alone},
    )


@dataclass(frozen=True, eq=False)
class DrawnSpectrum:
    """Squares s_1² >= s_2² >= … as estimated. `plug_in` is what the table of counts has, which is too large; `alone`
    the share of pairs whose value on the larger side occurs once, which make the estimate too small."""

    squares: Floats
    plug_in: Floats
    alone: float
    how: str

    @property
    def known(self) -> bool:
        """Whether it says anything: not where more than half of the pairs have a value of their own."""
        return self.alone <= TOO_MANY_ALONE


def spectrum_of_pairs(x: Ints, a: Ints) -> DrawnSpectrum:
    """From codes of x and a, drawn together. O(n + m³), m the number of different values on the smaller side.

    The functions of that side are the features, with the groups of the other side as contexts: the squares solve B̂ v =
    λ Ĉ v. B̂ has no bias, but the largest eigenvalues of a noisy matrix still have, upwards, and the smallest
    downwards.
    """
    one, other = (a, x) if a.max() <= x.max() else (x, a)
    values = int(one.max()) + 1
    if values > MOST_VALUES:
        raise UsageError(
            f"x and a both have more than {MOST_VALUES} different values ({values} and more); put rare ones together"
        )
    drawn = drawn_pairs(np.eye(values)[one], other)
    smaller = "a" if one is a else "x"
    return DrawnSpectrum(
        _squares(drawn, debiased=True),
        _squares(drawn, debiased=False),
        drawn.alone,
        f"generalised eigenvalues for the {values} values of {smaller}, each pair left out of its own product",
    )


def spectrum_of_conditionals(conditionals: Floats) -> Floats:
    """s_1² >= s_2² >= … from P(a | x) [n, A] at inputs that were drawn: eigenvalues of the mean of P(a|x) P(a'|x) over
    them, divided by √(P(a) P(a')). Too large by about A / n, as a mean over n inputs is."""
    kept = conditionals[:, conditionals.sum(axis=0) > 0]
    marginal = kept.mean(axis=0)
    scaled = kept / np.sqrt(marginal) - np.sqrt(marginal)
    squares = scipy.linalg.eigvalsh(scaled.T @ scaled / len(kept))[::-1][: min(kept.shape) - 1]
    return np.clip(squares, 0.0, 1.0)


def _squares(drawn: Drawn, debiased: bool) -> Floats:
    """Of one-hot features C is known from counts alone, so nothing is put back for taking part in it."""
    return np.clip(solve_pencil(*drawn_covariances(drawn, debiased=debiased)).values, 0.0, 1.0)
