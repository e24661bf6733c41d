"""What was learned before anything was shifted: a model that never had it cannot lose it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lengthwise.analyses.evidence import (
    IN_RANGE,
    LEARNED_VALUES,
    Configuration,
    Evidence,
    by_configuration,
    has_learned,
    mean,
)
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Claim, Table, columns

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
        about = {"task": self.task, "configuration": self.best.label}
        counted = {**about, "solved": self.solved, "decoded": self.decoded}
        learned, of = {"task": self.task, **LEARNED_VALUES}, f"of {self.configurations}"
        best = (_PER_SEED, Assumption("in_range.best_of_several"))
        share, interval = self.solved / self.decoded, wilson(self.solved, self.decoded)
        return [
            Claim("in_range.learned", self.learned, of, "measured", evidence=learned),
            Claim("in_range.tokens", self.token, "share", "measured", assumptions=best, evidence=about),
            Claim("in_range.solved", share, "share", "measured", "holds", interval, (_PER_SEED,), evidence=counted),
        ]


def in_range(evidence: Evidence) -> list[LearnedTask]:
    """How well every task was learned whose training range was measured."""
    found = []
    for task in evidence.tasks:
        own = by_configuration(climb for climb in evidence.climbs if climb.task == task and climb.points_at(IN_RANGE))
        points = {key: [point for climb in group for point in climb.points_at(IN_RANGE)] for key, group in own.items()}
        tokens = {key: mean(point.token for point in reached) or 0.0 for key, reached in points.items()}
        if tokens:
            best = max(tokens, key=lambda key: tokens[key])
            solved, decoded = (sum(getattr(point, name) for point in points[best]) for name in ("solved", "decoded"))
            learned = sum(has_learned(group) for group in own.values())
            found.append(LearnedTask(task, len(own), learned, best, tokens[best], solved, decoded))
    return found


def in_range_table(tasks: Iterable[LearnedTask]) -> Table:
    described = columns(
        "task:text problem | learned:text configurations that learned | token:share best: tokens right | "
        "solved:text best: problems solved | best:text best"
    )
    rows = []
    for one in tasks:
        learned, solved = f"{one.learned} of {one.configurations}", f"{one.solved} of {one.decoded}"
        rows.append((one.task, learned, one.token, solved, one.best.label.removeprefix(f"{one.task}, ")))
    title, note = sentence("in_range.table"), sentence("in_range.note", LEARNED_VALUES)
    return Table("in_range.tasks", described, tuple(rows), title, note)
