"""Does the encoding matter? Two encodings compared pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.findings.evidence import Evidence
from lengthwise.records import Claim


@dataclass(frozen=True)
class EncodingEffect:
    """Risk of the first encoding minus that of the second, at one place: "in range", an axis, or "beyond" (all axes).

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


@dataclass(frozen=True)
class Encodings:
    effects: tuple[EncodingEffect, ...]

    def at(self, place: str) -> list[EncodingEffect]:
        return [effect for effect in self.effects if effect.place == place]

    def claims(self) -> list[Claim]:
        return [effect.claim for effect in self.effects]

    def plain(self) -> dict[str, Any]:
        return {"claims": [claim.plain() for claim in self.claims()]}


def encodings(evidence: Evidence) -> Encodings:
    raise NotImplementedError
