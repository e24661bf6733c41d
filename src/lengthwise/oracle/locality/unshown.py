"""Which test instances need a window that a training sample does not show.

That is a fact about the data and an estimate of coverage, no prediction of failure: a network may be right on windows
it was never shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.coverage import XIAO, Seen
from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.formulations.formulation import Move


@dataclass(frozen=True)
class Unshown:
    """The share of test instances, by size, with a step that nothing in the sample settles, and the first such place.
    `instances` is how many of each size were looked at."""

    name: str
    shares: tuple[tuple[int, float], ...]
    instances: int
    example: str

    @property
    def last(self) -> tuple[int, float]:
        """The largest size and its share."""
        return self.shares[-1]

    def claim(self) -> Claim:
        size, share = self.last
        given = (Assumption("the planned training items are drawn as those looked at"),)
        evidence = {"shares": dict(self.shares), "instances": self.instances, "example": self.example}
        return Claim(
            f"{self.name}: share of instances of size {size} with a step that the planned items do not show",
            share, "", "measured", assumptions=given, reference=XIAO, evidence=evidence,
        )  # fmt: skip

    def explain(self) -> list[str]:
        shares = ", ".join(f"{share:.1%} at size {size}" for size, share in self.shares)
        return [
            f"Instances with a step that the planned items do not show: {shares}.",
            *([self.example] if self.example else []),
        ]

    def plain(self) -> dict[str, Any]:
        shares = [list(pair) for pair in self.shares]
        return {"name": self.name, "shares": shares, "instances": self.instances, "example": self.example}


def unshown(seen: Seen, tests: Steps, sizes: Sequence[int]) -> Unshown:
    """Which test instances have a step that no seen entry settles, in any state of their chain."""
    shares, example, fewest = [], "", 0
    for size in sizes:
        instances = lacking = 0
        for chain in tests.chains(size):
            instances += 1
            found = next(((move, place) for move in chain for place in _unsettled(seen, move)), None)
            if found is not None:
                lacking += 1
                example = (
                    example or f"In `{written(found[0].state, found[1])}` nothing seen settles the place in brackets."
                )
        if instances:
            shares.append((size, lacking / instances))
            fewest = min(fewest or instances, instances)
    if not shares:
        raise UsageError(f"{tests.name} has no instances of the sizes {', '.join(map(str, sizes))}")
    return Unshown(tests.name, tuple(shares), fewest, example)


def _unsettled(seen: Seen, move: Move) -> list[int]:
    if seen.windows is not None:
        asked = zip(seen.coverage.numbering.known(move.state), move.labels, strict=True)
        return [at for at, (anchor, label) in enumerate(asked) if label is not None and anchor not in seen.windows]
    return [place for place, entries in seen.coverage.settled_by(move) if seen.seen.isdisjoint(entries)]
