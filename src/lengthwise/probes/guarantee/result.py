"""The result: the model, its message, its losses, the bounds, and what was measured to compare them with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.probes.guarantee.message import ChargedMessage
from lengthwise.records import Assumption, Claim


@dataclass(frozen=True)
class MeanLosses:
    """Means over the tokens that were read, of the decoded model as it is, without smoothing."""

    tokens: int
    documents: int
    loss: float
    entropy: float
    errors: tuple[tuple[int, float], ...]  # (k, share of tokens that are not among the k likeliest)


@dataclass(frozen=True)
class Guarantee:
    """A model, what it says of its data, and what follows.

    bounds      every bound that could be made, each by itself with probability 1 - delta
    measured    what was measured on fresh items, or computed exactly, to compare with the bounds
    plain_loss  what fresh items cost the model as it is, without smoothing, where they were measured
    broken      bounds that what was measured exceeds, in words; there should be none
    """

    model: str
    described: str
    vocabulary: int
    data: str
    message: ChargedMessage
    losses: MeanLosses
    bounds: tuple[TokenBound, ...]
    delta: float
    folder: Path | None
    notes: tuple[Assumption, ...] = ()
    measured: tuple[Claim, ...] = ()
    plain_loss: Claim | None = None
    broken: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Claim, ...]:
        fresh = () if self.plain_loss is None else (self.plain_loss,)
        return (*(one.claim() for one in self.bounds), *self.measured, *fresh)

    @property
    def vacuous(self) -> bool:
        """Whether every bound says no more than chance."""
        return all(one.vacuous for one in self.bounds)

    def best(self, target: str, level: str) -> TokenBound | None:
        """The smallest bound of a target; to pick it among j costs a factor j in delta."""
        found = [one for one in self.bounds if one.target == target and one.level == level]
        return min(found, key=lambda one: one.total) if found else None

    def plain(self) -> dict[str, Any]:
        """All of it as JSON-ready data."""
        return {
            "model": self.model,
            "described": self.described,
            "vocabulary": self.vocabulary,
            "data": self.data,
            "delta": self.delta,
            "message": self.message.plain(),
            "losses": {**vars(self.losses), "errors": {f"top{k}": share for k, share in self.losses.errors}},
            "notes": [note.plain() for note in self.notes],
            "bounds": [_plain_bound(one) for one in self.bounds],
            "measured": [claim.plain() for claim in self.measured],
            "plain_loss": None if self.plain_loss is None else self.plain_loss.plain(),
            "broken": list(self.broken),
            "vacuous": self.vacuous,
            "folder": None if self.folder is None else str(self.folder),
        }


def _plain_bound(one: TokenBound) -> dict[str, Any]:
    terms = [{"key": term.key, "name": term.name, "value": term.value, "how": term.how} for term in one.risk.terms]
    return {
        "target": one.target,
        "level": one.level,
        "inequality": one.inequality,
        "terms": terms,
        **one.claim().plain(),
    }
