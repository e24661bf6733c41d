"""What was learned before anything was shifted: a model that never had it cannot lose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.analyses.evidence import (
    IN_RANGE,
    LEARNED_VALUES,
    Climb,
    Configuration,
    Evidence,
    by_configuration,
    has_learned,
    mean,
    named,
    points_at,
)
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Claim, Column, Table

_PER_SEED = Assumption("in_range.pooled")

explain(
    {
        "in_range.pooled": "tokens and solutions are pooled over seeds",
        "in_range.best_of_several": "the best of several is above its own mean",
        "in_range.learned": "{task}: configurations that learned",
        "in_range.tokens": "{task}: tokens right in the training range, best configuration",
        "in_range.solved": "{task}: problems solved by its own writing in the training range, best configuration",
        "in_range.table": "What was learned in range",
        "in_range.note": "A configuration has learned if its risk in range, averaged over seeds, is {learned:g} or "
        "less: {share:.0%} of the tokens right on average over items. What a shift costs is judged only where that is "
        "so. Seeds are pooled for the best.",
    }
)


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
        about = {"task": self.task, "configuration": named(self.best)}
        counted = {**about, "solved": self.solved, "decoded": self.decoded}
        learned, of, share = (
            {"task": self.task, **LEARNED_VALUES},
            f"of {self.configurations}",
            self.solved / self.decoded,
        )
        best = (_PER_SEED, Assumption("in_range.best_of_several"))
        interval = wilson(self.solved, self.decoded)
        return [
            Claim("in_range.learned", self.learned, of, "measured", evidence=learned),
            Claim("in_range.tokens", self.token, "share", "measured", assumptions=best, evidence=about),
            Claim("in_range.solved", share, "share", "measured", "holds", interval, (_PER_SEED,), evidence=counted),
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

    def table(self) -> Table:
        columns = (
            Column("task", "text", "problem"),
            Column("learned", "text", "configurations that learned"),
            Column("token", "share", "best: tokens right"),
            Column("solved", "text", "best: problems solved"),
            Column("best", "text", "best"),
        )
        rows = tuple(
            (
                row.task,
                f"{row.learned} of {row.configurations}",
                row.token,
                f"{row.solved} of {row.decoded}",
                named(row.best).removeprefix(f"{row.task}, "),
            )
            for row in self.tasks
        )
        note = sentence("in_range.note", LEARNED_VALUES)
        return Table("in_range.tasks", columns, rows, sentence("in_range.table"), note)


def in_range(evidence: Evidence) -> InRange:
    """How well every task was learned whose training range was measured."""
    measured = [climb for climb in evidence.climbs if points_at(climb, IN_RANGE)]
    return InRange(tuple(_task(measured, task) for task in dict.fromkeys(climb.task for climb in measured)))


def _task(climbs: Sequence[Climb], task: str) -> LearnedTask:
    groups = by_configuration(climb for climb in climbs if climb.task == task)
    points = {key: [point for climb in group for point in points_at(climb, IN_RANGE)] for key, group in groups.items()}
    tokens = {key: mean(point.token for point in own) or 0.0 for key, own in points.items()}
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
