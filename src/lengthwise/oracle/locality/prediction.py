"""Which test instances will fail, from what a training sample showed."""

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
class Prediction:
    """The share of test instances, by size, with a step that nothing seen settles, and the first such place."""

    name: str
    failing: tuple[tuple[int, float], ...]
    example: str

    def claim(self) -> Claim:
        last, share = self.failing[-1]
        given = (
            Assumption("what was seen is learned, and where nothing seen settles a step it goes wrong"),
            Assumption("one wrong step makes the answer wrong"),
        )
        evidence = {"failing": dict(self.failing), "example": self.example}
        return Claim(
            f"{self.name}: share that fails at size {last}", share, "", "predicted",
            assumptions=given, reference=XIAO, evidence=evidence,
        )  # fmt: skip

    def explain(self) -> list[str]:
        shares = ", ".join(f"{share:.1%} at size {size}" for size, share in self.failing)
        return [f"Predicted to fail: {shares}.", *([self.example] if self.example else [])]

    def plain(self) -> dict[str, Any]:
        return {"name": self.name, "failing": [list(pair) for pair in self.failing], "example": self.example}


def predict_failures(seen: Seen, tests: Steps, sizes: Sequence[int]) -> Prediction:
    """Which test instances have a step that no seen entry settles, in any state of their chain."""
    failing, example = [], ""
    for size in sizes:
        instances = failed = 0
        for chain in tests.chains(size):
            instances += 1
            lacking = next(((move, place) for move in chain for place in _unsettled(seen, move)), None)
            if lacking is not None:
                failed += 1
                example = (
                    example
                    or f"In `{written(lacking[0].state, lacking[1])}` nothing seen settles the place in brackets."
                )
        if instances:
            failing.append((size, failed / instances))
    if not failing:
        raise UsageError(f"{tests.name} has no instances of the sizes {', '.join(map(str, sizes))}")
    return Prediction(tests.name, tuple(failing), example)


def _unsettled(seen: Seen, move: Move) -> list[int]:
    return [place for place, entries in seen.coverage.settled_by(move) if seen.seen.isdisjoint(entries)]
