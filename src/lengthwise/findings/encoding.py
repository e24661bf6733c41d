"""Does the encoding matter? Two encodings compared pair by pair."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analysis.paired import paired_over_tasks
from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import BEYOND, IN_RANGE, SHARED_ITEMS, axes_of, risk_at
from lengthwise.records import Assumption, Claim

_SAME_TRAINING = Assumption("both encodings were given the same training, which may suit one of them better")


@dataclass(frozen=True)
class EncodingEffect:
    """Risk of the first encoding minus that of the second, at one place: IN_RANGE, an axis, or BEYOND (all axes).

    A pair is two models of one task, depth, width and seed. `claim` has the mean difference, its interval and p.
    """

    first: str
    second: str
    place: str
    pairs: int
    claim: Claim

    @property
    def difference(self) -> float | None:
        return float(self.claim.value) if isinstance(self.claim.value, int | float) else None

    @property
    def significant(self) -> bool:
        """Whether the sign-flip test has p < 0.05."""
        return self.claim.evidence.get("p_value", 1.0) < 0.05


@dataclass(frozen=True)
class Encodings:
    """All pairs of encodings, at all places."""

    effects: tuple[EncodingEffect, ...]

    def at(self, place: str) -> list[EncodingEffect]:
        return [effect for effect in self.effects if effect.place == place]

    def claims(self) -> list[Claim]:
        return [effect.claim for effect in self.effects]

    def plain(self) -> dict[str, Any]:
        return {"claims": [claim.plain() for claim in self.claims()]}


def encodings(evidence: Evidence) -> Encodings:
    """Every pair of encodings, in the order in which the study names them."""
    names = list(dict.fromkeys(climb.position for climb in evidence.climbs))
    places = (IN_RANGE, *axes_of(evidence), BEYOND)
    of = {name: [climb for climb in evidence.climbs if climb.position == name] for name in names}
    pairs = itertools.combinations(names, 2)
    return Encodings(tuple(_effect(of[one], of[two], place) for one, two in pairs for place in places))


def _effect(ones: Sequence[Climb], twos: Sequence[Climb], place: str) -> EncodingEffect:
    first, second = _risks(ones, place), _risks(twos, place)
    names = (ones[0].position, twos[0].position)
    where = place if place in (IN_RANGE, BEYOND) else f"levels of {place}"
    claim = paired_over_tasks(f"risk with {names[0]} minus risk with {names[1]}, {where}", first, second, unit="risk")
    claim = dataclasses.replace(claim, assumptions=(*claim.assumptions, SHARED_ITEMS, _SAME_TRAINING))
    return EncodingEffect(*names, place, claim.evidence["n"], claim)


def _risks(climbs: Sequence[Climb], place: str) -> dict[str, float]:
    """Pair → risk."""
    found = {f"{c.task}, depth {c.depth}, width {c.width}, seed {c.seed}": risk_at(c, place) for c in climbs}
    return {name: risk for name, risk in found.items() if risk is not None}
