"""Which theorems apply to a start, and what they conclude; what is not known has the status unknown.

The theorems, their sources, and how each was checked: docs/explanation/theorems-particles.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters import Floats, Hemisphere, hemisphere, on_sphere
from lengthwise.geometry.particles.metastable import WIDEST, find_caps
from lengthwise.geometry.particles.system import System, is_identity, norm_of
from lengthwise.limits import check_reach
from lengthwise.messages import explain
from lengthwise.records import Assumption, Check, Claim, Reference

CLOSE = 1e-9  # two unit vectors, or two inner products, that differ by less are taken as equal
_SQUARES = 3  # arrays of all pairs that are held at a time, at least


@dataclass(frozen=True, eq=False)
class StartFacts:
    """One start [n, d] and one system, looked at."""

    points: Floats
    kind: str
    beta: float
    score_norm: float  # the spectral norm of Q^T K; 1 where both are the identity
    plain_scores: bool  # Q^T K is the identity
    plain_values: bool  # V is the identity
    hemisphere: Hemisphere
    rank: int  # the dimension of the span of the points, which V = I with plain scores never leaves
    one_point: bool
    stationary: bool  # no token moves
    symmetric: bool  # -x is a token as often as x is, for every token x
    antipodal_pairs: int  # pairs less than 1.5e-6 radians from opposite
    equal_angle: float | None  # the inner product of all pairs, where it is one

    @property
    def n(self) -> int:
        return self.points.shape[0]

    @property
    def d(self) -> int:
        return self.points.shape[1]


def facts_of(points: ArrayLike, system: System) -> StartFacts:
    """Looks at a start of unit vectors [n, d]; time O(n^2 d)."""
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"theorems are checked for one start [n, d], not for an array of shape {list(x.shape)}")
    if not isinstance(system.beta, int | float) and system.beta.ndim:
        raise UsageError("theorems are checked for one beta, a number, not for a batch of them")
    check_reach(f"the inner products of {len(x):,} tokens", memory=_SQUARES * 8.0 * len(x) ** 2)
    products = x @ x.T
    pairs = products[np.triu_indices(len(x), 1)]
    one_point = bool(np.linalg.norm(x - x[0], axis=1).max() < CLOSE)
    return StartFacts(
        points=x,
        kind=system.kind,
        beta=float(system.beta),
        score_norm=norm_of(system.scores),
        plain_scores=is_identity(system.scores),
        plain_values=is_identity(system.value),
        hemisphere=hemisphere(x),
        rank=int(np.linalg.matrix_rank(x, tol=CLOSE)),
        one_point=one_point,
        stationary=bool(system.velocity(torch.from_numpy(x)).norm(dim=-1).max() < CLOSE),
        symmetric=_symmetric(x),
        antipodal_pairs=int((pairs < -1 + 1e-12).sum()),
        equal_angle=float(pairs.mean()) if len(pairs) and np.ptp(pairs) < CLOSE and not one_point else None,
    )


def wendel(n: int, d: int) -> float:
    """The probability that n independent uniform points of S^(d-1) lie in an open hemisphere (wendel1962).

    2^-(n-1) times the sum over k < d of binomial(n - 1, k), which is the probability of fewer than d heads in n - 1
    throws of a coin; 1 where n <= d.
    """
    if n < 1 or d < 1:
        raise UsageError(f"Wendel's theorem needs n >= 1 and d >= 1, not {n} and {d}")
    return sum(math.comb(n - 1, k) for k in range(min(d, n))) / 2 ** (n - 1)


def _symmetric(x: Floats) -> bool:
    """Whether the tokens, counted as often as they occur, are the same after x -> -x."""
    return all(
        (np.linalg.norm(x - point, axis=1) < CLOSE).sum() == (np.linalg.norm(x + point, axis=1) < CLOSE).sum()
        for point in x
    )


SURVEY, METASTABLE = "geshkovski2023", "geshkovski2024"
HERE = "docs/explanation/theorems-particles.md"
UNCHECKED = "place not checked"
TIME, PER_TIME = "units of time", "per unit of time"
ONE_CLUSTER, RATE, LATE_RATE = "particles.one_cluster", "particles.rate", "particles.late_rate"
CAPS_STAY, CAPS_SHRINK, COMMON = "particles.caps_stay", "particles.caps_shrink", "particles.common_angle"
CLAIMS = {
    ONE_CLUSTER: "one cluster in the end",
    RATE: "rate of gathering, at least",
    LATE_RATE: "rate of gathering, late",
    CAPS_STAY: "caps persist until",
    CAPS_SHRINK: "caps have shrunk by",
    COMMON: "all inner products equal gamma(t)",
}

explain(
    {
        **CLAIMS,
        "particles.one_cluster.small_beta": "one cluster: small beta",
        "particles.one_cluster.large_beta": "one cluster: large beta",
        "particles.one_cluster.beta_0": "one cluster: beta = 0",
        "particles.one_cluster.circle": "one cluster: on a circle",
        "particles.one_cluster.sphere": "one cluster: d >= 3",
        "particles.one_cluster.high_dimension": "one cluster: d >= n, exponentially",
        "particles.one_cluster.hemisphere": "one cluster: open hemisphere, exponentially",
        "particles.chance_of_hemisphere": "probability that uniform tokens lie in an open hemisphere",
        "particles.chance_of_miss": "probability that gamma(t) is missed, at most",
        "particles.exceptional": "exceptional start",
        "particles.plain_values": "V is the identity",
        "particles.plain_scores": "Q^T K is the identity",
        "particles.almost_every": "the start is not one of a set of measure zero",
        "particles.one_point": "all tokens are one point",
        "particles.stationary": "no token moves",
        "particles.symmetric": "for every token x there is a token -x",
        "particles.in_hemisphere": "all tokens lie in an open hemisphere",
        "particles.small_beta": "beta <= C / n for an unknown constant C, which would have to be at least {least:.4g}",
        "particles.large_beta": "beta >= C n^2 for an unknown C = C(d), which would have to be at most {most:.4g}",
        "particles.beta_0": "beta = 0",
        "particles.span_2": "the span of the tokens has 2 dimensions",
        "particles.span_3": "the span of the tokens has 3 or more dimensions",
        "particles.d_at_least_n": "d >= n",
        "particles.independent": "the tokens are linearly independent",
        "particles.abstract": "the theorem is as its abstract states it; only the abstract was read",
        "particles.abstract_sa": "it covers SA, which the abstract does not say; see "
        "docs/explanation/theorems-particles.md",
        "particles.half": "from the time at which <x_i, x*> >= 1/2 for the limit x* and all i",
        "particles.gather": "the tokens gather in one point",
        "particles.uniform": "tokens drawn independently and uniformly, which this start need not be",
        "particles.two_caps": "the tokens lie in two or more caps with epsilon < 1/16 whose doubles are disjoint",
        "particles.beta_above_1": "beta > 1",
        "particles.gamma_positive": "gamma = 1 - alpha - 8 epsilon - log(2 n^2 / epsilon) / beta > 0; it is {gamma}",
        "particles.finite_time": "T1 is at most 10^300",
        "particles.equal_products": "all pairs of tokens have the same inner product",
        "particles.high_dimension": "d >= d*(n, beta), which is not known",
    }
)


def check(points: ArrayLike, system: System) -> tuple[Claim, ...]:
    """What theory predicts for tokens that start at `points` [n, d] under `system`: the verdict, then its grounds."""
    facts = facts_of(points, system)
    drawn, chance = (assumed("uniform", None),), wendel(facts.n, facts.d)
    in_hemisphere = theorem("particles.chance_of_hemisphere", drawn, UNCHECKED, "wendel1962", value=chance)
    rows = (_verdict(facts), *_one_cluster(facts), *_rates(facts), in_hemisphere)
    return (*rows, *_caps(facts), *_common_angle(facts), _exceptional(facts))


def assumed(key: str, true: bool | None, **values: float | str) -> Assumption:
    checked: dict[bool | None, Check] = {True: "checked", False: "violated", None: "assumed"}
    return Assumption(f"particles.{key}", checked[true], values)


def theorem(
    key: str,
    assumptions: tuple[Assumption, ...],
    place: str,
    source: str = SURVEY,
    value: float | bool | str = True,
    unit: str = "",
    known: bool = True,
    evidence: Mapping[str, Any] | None = None,
) -> Claim:
    """A theorem's conclusion where its hypotheses hold, 'unknown' where one is violated or a constant is not known."""
    holds = known and all(a.check != "violated" for a in assumptions)
    return Claim(
        key=key,
        value=value if holds else None,
        unit=unit,
        kind="proved",
        status="holds" if holds else "unknown",
        assumptions=assumptions,
        reference=Reference(source, place),
        evidence=evidence or {},
    )


def _plain(facts: StartFacts) -> tuple[Assumption, ...]:
    return assumed("plain_values", facts.plain_values), assumed("plain_scores", facts.plain_scores)


def _never(facts: StartFacts) -> bool:
    """A start is not known to be exceptional unless it stands still or is its own mirror image."""
    return not facts.one_point and (facts.stationary or facts.symmetric)


def _verdict(facts: StartFacts) -> Claim:
    if facts.one_point:
        return theorem(ONE_CLUSTER, (assumed("one_point", True),), "they are one already", HERE)
    if _never(facts):
        how = "stationary" if facts.stationary else "symmetric"
        return theorem(ONE_CLUSTER, (assumed(how, True),), "exceptional starts", HERE, value=False)
    for claim in reversed(_one_cluster(facts)):
        if claim.status == "holds":
            return theorem(ONE_CLUSTER, claim.assumptions, claim.reference.place, claim.reference.key)  # pyright: ignore
    return theorem(ONE_CLUSTER, (*_plain(facts), _in_hemisphere(facts)), "no theorem covers this start", HERE)


def _in_hemisphere(facts: StartFacts) -> Assumption:
    return assumed("in_hemisphere", facts.hemisphere.inside or False)


def _one_cluster(facts: StartFacts) -> tuple[Claim, ...]:
    """Every theorem that ends in one cluster, from the weakest ground to the strongest."""
    n, d, beta = facts.n, facts.d, facts.beta
    plain = (*_plain(facts), assumed("almost_every", False if _never(facts) else None))
    # Of this theorem only the abstract was read, and it does not name the normalised dynamics.
    abstract = ["abstract"] if facts.kind == "USA" else ["abstract", "abstract_sa"]
    small, large = assumed("small_beta", None, least=n * beta), assumed("large_beta", None, most=beta / n**2)
    return (
        theorem(f"{ONE_CLUSTER}.small_beta", (*plain, small), "theorem 4.3", known=False),
        theorem(f"{ONE_CLUSTER}.large_beta", (*plain, large), "theorem 5.1", known=False),
        theorem(f"{ONE_CLUSTER}.beta_0", (*plain, assumed("beta_0", beta == 0)), "theorem 4.1"),
        theorem(
            f"{ONE_CLUSTER}.circle",
            (*plain, assumed("span_2", facts.rank == 2), *(assumed(key, None) for key in abstract)),
            "abstract: beta >= -0.16",
            "polyanskiy2025",
        ),
        theorem(f"{ONE_CLUSTER}.sphere", (*plain, assumed("span_3", facts.rank >= 3)), "theorem 6.1"),
        theorem(
            f"{ONE_CLUSTER}.high_dimension",
            (plain[0], assumed("d_at_least_n", d >= n), assumed("independent", facts.rank == n)),
            f"the theorem for d >= n, {UNCHECKED}",
        ),
        theorem(
            f"{ONE_CLUSTER}.hemisphere",
            (plain[0], _in_hemisphere(facts)),
            f"the lemma on cones, {UNCHECKED}",
            evidence={"normal": facts.hemisphere.normal.tolist(), "margin": facts.hemisphere.low},
        ),
    )


def _rates(facts: StartFacts) -> tuple[Claim, ...]:
    """1 - min_i <x_i, x*> falls at least at the first rate once the minimum is 1/2, and in the end at the second."""
    ground = (assumed("plain_values", facts.plain_values), _in_hemisphere(facts))
    after = assumed("half", None)
    exponent = (2 if facts.kind == "SA" else 1) * facts.beta * facts.score_norm
    rate = math.exp(-exponent) / (2 * facts.n)
    bound = theorem(
        RATE,
        (*ground, after),
        f"proof of the lemma on cones, {UNCHECKED}; proved in {HERE}",
        value=rate,
        unit=PER_TIME,
        evidence={"halves_within": math.log(2) / rate if rate > 1e-300 else None, "score_norm": facts.score_norm},
    )
    if rate < 1e-300 and bound.status == "holds":
        bound = replace(bound, status="vacuous")
    if facts.kind == "USA" and not facts.plain_scores:
        return (bound,)  # the late rate is 2 e^(beta <Qx*, Kx*>), and x* is not known beforehand
    late = 2.0 if facts.kind == "SA" else 2 * math.exp(min(facts.beta, 700.0))
    gathered = (assumed("plain_values", facts.plain_values), assumed("gather", None))
    return bound, theorem(LATE_RATE, gathered, "late rate", HERE, value=late, unit=PER_TIME)


def _caps(facts: StartFacts) -> tuple[Claim, ...]:
    caps = None if facts.one_point else find_caps(facts.points, facts.kind, facts.beta)
    found = assumed("two_caps", caps is not None)
    if caps is None or not (facts.plain_values and facts.plain_scores):
        return (theorem(CAPS_STAY, (*_plain(facts), found), UNCHECKED, METASTABLE, unit=TIME),)
    evidence = {
        "beta": facts.beta,
        "k": caps.k,
        "epsilon": caps.epsilon,
        "alpha": caps.alpha,
        "gamma": caps.gamma if math.isfinite(caps.gamma) else None,
        "lambda": caps.decay,
        "published_time": caps.published,
        "time_at_unit_speed": caps.unit_speed,
        "widest_epsilon": WIDEST,
        "labels": caps.labels.tolist(),
        "centres": caps.centres.tolist(),
    }
    stay = Claim(
        CAPS_STAY,
        value=caps.persists,
        unit=TIME,
        kind="proved",
        status="holds" if caps.persists > 2 * caps.unit_speed else "vacuous",
        assumptions=(*_plain(facts), found),
        reference=Reference(HERE, "caps persist, after geshkovski2024"),
        evidence=evidence,
    )
    conditions = (
        *_plain(facts),
        found,
        assumed("beta_above_1", facts.beta > 1),
        assumed("gamma_positive", caps.gamma > 0, gamma=f"{caps.gamma:.4g}"),
        assumed("finite_time", caps.shrinks is not None or caps.gamma <= 0 or facts.beta <= 1),
    )
    place, until = f"the theorem on caps, {UNCHECKED}", caps.shrinks or 0.0
    return stay, theorem(CAPS_SHRINK, conditions, place, METASTABLE, until, TIME, evidence=evidence)


def _common_angle(facts: StartFacts) -> tuple[Claim, ...]:
    equal = assumed("equal_products", facts.equal_angle is not None)
    evidence = {"n": facts.n, "kind": facts.kind, "beta": facts.beta, "start": facts.equal_angle}
    place = f"orthogonal start, {UNCHECKED}; derived in equal_angles.py"
    exact = theorem(COMMON, (*_plain(facts), equal), place, evidence=evidence)
    if facts.equal_angle is not None:
        return (exact,)
    chance = min(1.0, 2 * facts.n**2 * facts.d ** (-1 / 64))
    near = Claim(
        "particles.chance_of_miss",
        value=chance,
        unit="",
        kind="proved",
        status="vacuous" if chance >= 1 else "holds",
        assumptions=(*_plain(facts), assumed("uniform", None), assumed("high_dimension", None)),
        reference=Reference(SURVEY, "theorem 6.9"),
        evidence={"d_from_which_below_1": f"10^{64 * math.log10(2 * facts.n**2):.0f}"},
    )
    return exact, near


def _exceptional(facts: StartFacts) -> Claim:
    """Whether the start is one that 'almost every' excludes, as far as can be decided."""
    seen = {
        "stationary": facts.stationary and not facts.one_point,
        "symmetric": facts.symmetric,
        "antipodal_pairs": facts.antipodal_pairs,
        "length_of_mean": float(np.linalg.norm(facts.points.mean(0))),  # 0 hints at a symmetry that was not seen
    }
    return Claim(
        "particles.exceptional",
        value=True if _never(facts) else None if facts.hemisphere.inside is not True else False,
        unit="",
        kind="proved",
        status="holds" if _never(facts) or facts.hemisphere.inside else "unknown",
        reference=Reference(HERE, "exceptional starts"),
        evidence=seen,
    )
