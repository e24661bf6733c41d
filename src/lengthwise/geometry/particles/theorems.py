"""Which theorems speak of a start, and what they say; what is not known is called unknown.

The theorems, where each is from, and what was checked how: docs/theorems-particles.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.geometry.particles.metastable import WIDEST, Caps, find_caps
from lengthwise.geometry.particles.start_facts import StartFacts, facts_of, wendel
from lengthwise.geometry.particles.system import System
from lengthwise.records import Assumption, Check, Claim, Reference

SURVEY, METASTABLE = "geshkovski2023", "geshkovski2024"
HERE = "docs/theorems-particles.md"
UNCHECKED = "place not checked"
TIME, PER_TIME = "units of time", "per unit of time"
ONE_CLUSTER, RATE, LATE_RATE = "one cluster in the end", "rate of gathering, at least", "rate of gathering, late"
CAPS_STAY, CAPS_SHRINK, COMMON = "caps persist until", "caps have shrunk by", "all inner products equal gamma(t)"


def check(points: ArrayLike, system: System) -> tuple[Claim, ...]:
    """What theory says of tokens that begin at `points` [n, d] under `system`: first the verdict, then its grounds."""
    facts = facts_of(points, system)
    rows = (_verdict(facts), *_one_cluster(facts), *_rates(facts), _chance_of_hemisphere(facts))
    return (*rows, *_caps(facts), *_common_angle(facts), _exceptional(facts))


def _seen(statement: str, true: bool | None) -> Assumption:
    checked: dict[bool | None, Check] = {True: "checked", False: "violated", None: "assumed"}
    return Assumption(statement, checked[true])


def _row(
    name: str,
    assumptions: tuple[Assumption, ...],
    place: str,
    key: str = SURVEY,
    value: float | bool | str = True,
    unit: str = "",
    known: bool = True,
    evidence: Mapping[str, Any] | None = None,
) -> Claim:
    """A theorem's conclusion where its hypotheses hold, 'unknown' where one is violated or a constant is not known."""
    holds = known and all(a.check != "violated" for a in assumptions)
    return Claim(
        key=name,
        value=value if holds else None,
        unit=unit,
        kind="proved",
        status="holds" if holds else "unknown",
        assumptions=assumptions,
        reference=Reference(key, place),
        evidence=evidence or {},
    )


def _plain(facts: StartFacts) -> tuple[Assumption, ...]:
    return (
        _seen("V is the identity", facts.plain_values),
        _seen("Q^T K is the identity", facts.plain_scores),
    )


def _almost_every(facts: StartFacts) -> Assumption:
    """A start is not known to be exceptional unless it stands still or is its own mirror image."""
    return _seen("the start is not one of a set of measure zero", None if not _never(facts) else False)


def _never(facts: StartFacts) -> bool:
    return not facts.one_point and (facts.stationary or facts.symmetric)


def _verdict(facts: StartFacts) -> Claim:
    if facts.one_point:
        return _row(ONE_CLUSTER, (_seen("all tokens are one point", True),), "they are one already", HERE)
    if _never(facts):
        how = "no token moves" if facts.stationary else "for every token x there is a token -x"
        return _row(ONE_CLUSTER, (_seen(how, True),), "exceptional starts", HERE, value=False)
    for claim in reversed(_one_cluster(facts)):
        if claim.status == "holds":
            return _row(ONE_CLUSTER, claim.assumptions, claim.reference.place, claim.reference.key)  # pyright: ignore
    return _row(ONE_CLUSTER, (*_plain(facts), _in_hemisphere(facts)), "no theorem speaks of this start", HERE)


def _in_hemisphere(facts: StartFacts) -> Assumption:
    return _seen("all tokens lie in an open hemisphere", facts.hemisphere.inside or False)


def _one_cluster(facts: StartFacts) -> tuple[Claim, ...]:
    """Every theorem that ends in one cluster, from the weakest ground to the strongest."""
    plain, n, d, beta = (*_plain(facts), _almost_every(facts)), facts.n, facts.d, facts.beta
    small = f"beta <= C / n for a constant C that is not known; it would have to be at least {n * beta:.4g}"
    large = f"beta >= C n^2 for a C that depends on d and is not known; it would have to be at most {beta / n**2:.4g}"
    span = "the span of the tokens has"
    return (
        _row("one cluster: small beta", (*plain, _seen(small, None)), "theorem 4.3", known=False),
        _row("one cluster: large beta", (*plain, _seen(large, None)), "theorem 5.1", known=False),
        _row("one cluster: beta = 0", (*plain, _seen("beta = 0", beta == 0)), "theorem 4.1"),
        _row(
            "one cluster: on a circle",
            (*plain, _seen(f"{span} 2 dimensions", facts.rank == 2), *_from_abstract(facts)),
            "abstract: beta >= -0.16",
            "polyanskiy2025",
        ),
        _row("one cluster: d >= 3", (*plain, _seen(f"{span} 3 or more dimensions", facts.rank >= 3)), "theorem 6.1"),
        _row(
            "one cluster: d >= n, exponentially",
            (plain[0], _seen("d >= n", d >= n), _seen("the tokens are linearly independent", facts.rank == n)),
            f"the theorem for d >= n, {UNCHECKED}",
        ),
        _row(
            "one cluster: open hemisphere, exponentially",
            (plain[0], _in_hemisphere(facts)),
            f"the lemma on cones, {UNCHECKED}",
            evidence={"normal": facts.hemisphere.normal.tolist(), "margin": facts.hemisphere.low},
        ),
    )


def _from_abstract(facts: StartFacts) -> tuple[Assumption, ...]:
    """What is taken from a paper of which the abstract alone was read; it does not name the normalised dynamics."""
    read = (Assumption("the theorem is as its abstract says; read in the abstract alone"),)
    if facts.kind == "USA":
        return read
    return (*read, Assumption("it covers SA, which the abstract does not say; see docs/theorems-particles.md"))


def _rates(facts: StartFacts) -> tuple[Claim, ...]:
    """1 - min_i <x_i, x*> falls at least at the first rate once the minimum is 1/2, and in the end at the second."""
    ground = (_seen("V is the identity", facts.plain_values), _in_hemisphere(facts))
    after = _seen("from the time on at which <x_i, x*> >= 1/2 for the limit x* and all i", None)
    exponent = (2 if facts.kind == "SA" else 1) * facts.beta * facts.score_norm
    rate = math.exp(-exponent) / (2 * facts.n)
    bound = _row(
        RATE,
        (*ground, after),
        f"proof of the lemma on cones, {UNCHECKED}; proved in {HERE}",
        value=rate,
        unit=PER_TIME,
        evidence={"halves within": math.log(2) / rate if rate > 1e-300 else None, "norm of Q^T K": facts.score_norm},
    )
    if rate < 1e-300 and bound.status == "holds":
        bound = replace(bound, status="vacuous")
    if facts.kind == "USA" and not facts.plain_scores:
        return (bound,)  # the late rate is 2 e^(beta <Qx*, Kx*>), and x* is not known beforehand
    late = 2.0 if facts.kind == "SA" else 2 * math.exp(min(facts.beta, 700.0))
    gathered = (_seen("V is the identity", facts.plain_values), _seen("the tokens gather in one point", None))
    return bound, _row(LATE_RATE, gathered, "late rate", HERE, value=late, unit=PER_TIME)


def _chance_of_hemisphere(facts: StartFacts) -> Claim:
    drawn = (_seen("tokens drawn independently and uniformly, which this start need not be", None),)
    chance = wendel(facts.n, facts.d)
    return _row(
        "probability that uniform tokens lie in an open hemisphere", drawn, UNCHECKED, "wendel1962", value=chance
    )


def _caps(facts: StartFacts) -> tuple[Claim, ...]:
    caps = None if facts.one_point else find_caps(facts.points, facts.kind, facts.beta)
    found = _seen("the tokens lie in two or more caps with epsilon < 1/16 whose doubles are disjoint", caps is not None)
    if caps is None or not (facts.plain_values and facts.plain_scores):
        return (_row(CAPS_STAY, (*_plain(facts), found), UNCHECKED, METASTABLE, unit=TIME),)
    evidence = {"beta": facts.beta, **_evidence(caps)}
    speaking = caps.persists > 2 * caps.unit_speed
    stay = Claim(
        CAPS_STAY,
        value=caps.persists,
        unit=TIME,
        kind="proved",
        status="holds" if speaking else "vacuous",
        assumptions=(*_plain(facts), found),
        reference=Reference(HERE, "caps persist, after geshkovski2024"),
        evidence=evidence,
    )
    conditions = (
        *_plain(facts),
        found,
        _seen("beta > 1", facts.beta > 1),
        _seen(
            f"gamma = 1 - alpha - 8 epsilon - log(2 n^2 / epsilon) / beta > 0, and it is {caps.gamma:.4g}",
            caps.gamma > 0,
        ),
        _seen("T1 is no more than 10^300", caps.shrinks is not None or caps.gamma <= 0 or facts.beta <= 1),
    )
    return stay, _row(
        CAPS_SHRINK,
        conditions,
        f"the theorem on caps, {UNCHECKED}",
        METASTABLE,
        caps.shrinks or 0.0,
        TIME,
        evidence=evidence,
    )


def _evidence(caps: Caps) -> dict[str, Any]:
    return {
        "k": caps.k,
        "epsilon": caps.epsilon,
        "alpha": caps.alpha,
        "gamma": caps.gamma if math.isfinite(caps.gamma) else None,
        "lambda": caps.decay,
        "published time": caps.published,
        "time at unit speed": caps.unit_speed,
        "widest epsilon": WIDEST,
        "labels": caps.labels.tolist(),
        "centres": caps.centres.tolist(),
    }


def _common_angle(facts: StartFacts) -> tuple[Claim, ...]:
    equal = _seen("all pairs of tokens have one inner product", facts.equal_angle is not None)
    evidence = {"n": facts.n, "kind": facts.kind, "beta": facts.beta, "start": facts.equal_angle}
    exact = _row(
        COMMON, (*_plain(facts), equal), f"orthogonal start, {UNCHECKED}; derived in equal_angles.py", evidence=evidence
    )
    if facts.equal_angle is not None:
        return (exact,)
    chance = min(1.0, 2 * facts.n**2 * facts.d ** (-1 / 64))
    near = Claim(
        "probability that gamma(t) is missed, at most",
        value=chance,
        unit="",
        kind="proved",
        status="vacuous" if chance >= 1 else "holds",
        assumptions=(
            *_plain(facts),
            _seen("tokens drawn independently and uniformly", None),
            _seen("d >= d*(n, beta), which is not known", None),
        ),
        reference=Reference(SURVEY, "theorem 6.9"),
        evidence={"d from which it is below 1": f"10^{64 * math.log10(2 * facts.n**2):.0f}"},
    )
    return exact, near


def _exceptional(facts: StartFacts) -> Claim:
    """Whether the start is one that 'almost every' leaves out, as far as can be seen."""
    seen = {
        "no token moves": facts.stationary and not facts.one_point,
        "its own mirror image": facts.symmetric,
        "antipodal pairs": facts.antipodal_pairs,
        "length of the mean": float(np.linalg.norm(facts.points.mean(0))),  # 0 hints at a symmetry that was not seen
    }
    return Claim(
        "exceptional start",
        value=True if _never(facts) else None if facts.hemisphere.inside is not True else False,
        unit="",
        kind="proved",
        status="holds" if _never(facts) or facts.hemisphere.inside else "unknown",
        reference=Reference(HERE, "exceptional starts"),
        evidence=seen,
    )
