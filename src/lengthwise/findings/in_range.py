"""What was learned before anything was shifted: a model that never had it cannot lose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import (
    IN_RANGE,
    LEARNED_RULE,
    Configuration,
    by_configuration,
    has_learned,
    mean,
    named,
    points_at,
)
from lengthwise.probes.curve.intervals import wilson
from lengthwise.records import Assumption, Claim

_PER_SEED = Assumption("tokens and solutions are pooled over seeds")


@dataclass(frozen=True)
class LearnedTask:
    """The configurations of one task in the training range. `best` is the one with the most tokens right."""

    task: str
    configurations: int
    learned: int
    best: Configuration
    token: float
    solved: int
    decoded: int

    def claims(self) -> list[Claim]:
        what = f"of {self.configurations}"
        evidence = {"rule": LEARNED_RULE}
        return [
            Claim(f"{self.task}: configurations that learned", self.learned, what, "measured", evidence=evidence),
            Claim(
                f"{self.task}: tokens right in the training range, best configuration",
                self.token,
                "",
                "measured",
                assumptions=(_PER_SEED, Assumption("the best of several is above its own mean")),
                evidence={"configuration": named(self.best)},
            ),
            Claim(
                f"{self.task}: problems solved by its own writing in the training range, best configuration",
                self.solved / self.decoded,
                "",
                "measured",
                interval=wilson(self.solved, self.decoded),
                assumptions=(_PER_SEED,),
                evidence={"configuration": named(self.best), "solved": self.solved, "decoded": self.decoded},
            ),
        ]


@dataclass(frozen=True)
class InRange:
    """All tasks."""

    tasks: tuple[LearnedTask, ...]

    @property
    def learned(self) -> int:
        return sum(task.learned for task in self.tasks)

    @property
    def configurations(self) -> int:
        return sum(task.configurations for task in self.tasks)

    def claims(self) -> list[Claim]:
        return [claim for task in self.tasks for claim in task.claims()]

    def plain(self) -> dict[str, Any]:
        return {"tasks": [asdict(task) for task in self.tasks], "claims": [claim.plain() for claim in self.claims()]}


def in_range(evidence: Evidence) -> InRange:
    """How well every task was learned whose training range was measured."""
    measured = [climb for climb in evidence.climbs if points_at(climb, IN_RANGE)]
    return InRange(tuple(_task(measured, task) for task in dict.fromkeys(climb.task for climb in measured)))


def _task(climbs: Sequence[Climb], task: str) -> LearnedTask:
    groups = by_configuration(climb for climb in climbs if climb.task == task)
    points = {key: [point for climb in group for point in points_at(climb, IN_RANGE)] for key, group in groups.items()}
    tokens = {key: mean([point.token for point in own]) or 0.0 for key, own in points.items()}
    best = max(tokens, key=lambda key: tokens[key])
    return LearnedTask(
        task=task,
        configurations=len(groups),
        learned=sum(has_learned(group) for group in groups.values()),
        best=best,
        token=tokens[best],
        solved=sum(point.solved for point in points[best]),
        decoded=sum(point.decoded for point in points[best]),
    )
