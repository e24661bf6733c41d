"""Designs (encodings of a Transformer, and other models) ranked for a task by what similar tasks of the atlas did with
them.

The exact match to expect at a multiple of the training size is a mean over tasks, by degrees of similarity: over all
tasks, over those of the same class by theory, over those that are also answered in the same way, and over those of
which as many or few of the last symbols settle the answers: some number of them, none, or not known. Each is drawn
towards the one before it as if that had been measured on two tasks more. Runs of the very task count one by one, next
to one more that did as expected. Designs that cannot hold come last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lengthwise.evidence import Atlas, AtlasRun, TaskFacts
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.forecasts.cases import holds_at
from lengthwise.messages import explain
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Interval

# The facts in which similar tasks agree.
DEGREES = ((), ("oracle_class",), ("oracle_class", "readout"), ("oracle_class", "readout", "local"))
PRIOR = 2.0  # tasks
OURS, FIXED = "ours", "fixed"  # advice from the atlas, and fixed rules to compare it with:
BEYOND, WITHIN = "alibi", "rope"  # their encodings for sizes beyond training and within it
explain({"advise.ours": "this advice", "advise.fixed": "fixed rules"})


@dataclass(frozen=True)
class MeasuredCell:
    """A task with an encoding or another model: means over seeds at a multiple of the training size."""

    task: str
    design: str
    facts: TaskFacts
    group: str
    verdict: str
    exact: float
    runs: int
    held: int
    model: str = TRANSFORMER

    @property
    def holds(self) -> bool:
        """Whether at least half of the runs hold."""
        return 2 * self.held >= self.runs


def cells_of(atlas: Atlas, multiple: float) -> list[MeasuredCell]:
    """The cells of an atlas that were measured that far."""
    measured: dict[tuple[str, str], list[tuple[AtlasRun, float]]] = defaultdict(list)
    for run in atlas.runs:
        if (exact := run.exact_at(multiple)) is not None:
            measured[run.task, run.design].append((run, exact))
    cells = []
    for (task, design), own in measured.items():
        first, count = own[0][0], len(own)
        exact = sum(exact for _, exact in own) / count
        held = sum(bool(holds_at(run, multiple)) for run, _ in own)
        cells.append(
            MeasuredCell(task, design, first.facts, first.group, first.verdict, exact, count, held, first.model)
        )
    return cells


@dataclass(frozen=True)
class RankedDesign:
    """An encoding or a model for a task: its verdict, the exact match to expect, and the cells of similar tasks behind
    it.

    `similar` names the facts in which these tasks agree with the one asked about, which is not among them: `own` is its
    cell, where the atlas has it. `expected` is None where the atlas has not measured it.
    """

    design: str
    verdict: str
    expected: float | None
    similar: tuple[str, ...]
    cells: tuple[MeasuredCell, ...]
    own: MeasuredCell | None = None

    @property
    def tasks(self) -> int:
        return len(self.cells)

    @property
    def held(self) -> int:
        """Tasks in which at least half of the runs held."""
        return sum(cell.holds for cell in self.cells)

    @property
    def runs(self) -> int:
        return sum(cell.runs for cell in self.cells)

    @property
    def interval(self) -> Interval | None:
        """Of the share of similar tasks that hold, over tasks."""
        return wilson(self.held, self.tasks) if self.cells else None


def rank(
    cells: Sequence[MeasuredCell], facts: TaskFacts, verdicts: Mapping[str, str], task: str = ""
) -> list[RankedDesign]:
    """The designs that have a verdict, the best first. `task` is the name of the task asked about."""
    found = []
    for name, verdict in verdicts.items():
        with_it = [cell for cell in cells if cell.design == name]
        own = next((cell for cell in with_it if cell.task == task), None)
        others = [cell for cell in with_it if cell.task != task]
        found.append(_ranked(others, own, facts, name, verdict))
    return sorted(found, key=lambda one: (one.verdict == "cannot", one.expected is None, -(one.expected or 0.0)))


def _ranked(
    cells: Sequence[MeasuredCell], own: MeasuredCell | None, facts: TaskFacts, design: str, verdict: str
) -> RankedDesign:
    expected, similar, behind = None, (), tuple(cells)
    for names in DEGREES:
        alike = tuple(c for c in cells if all(getattr(c.facts, name) == getattr(facts, name) for name in names))
        if expected is None or len(alike) < len(behind):  # the same tasks are not counted twice
            expected = _drawn([cell.exact for cell in alike], expected, PRIOR) if alike else expected
        similar, behind = (names, alike) if alike else (similar, behind)
    if own is not None:
        expected = _drawn([own.exact] * own.runs, expected, 1.0)
    return RankedDesign(design, verdict, expected, similar, behind, own)


def _drawn(values: Sequence[float], towards: float | None, weight: float) -> float:
    """The mean of values, drawn towards another mean as if that had been seen `weight` times."""
    if towards is None:
        return sum(values) / len(values)
    return (sum(values) + weight * towards) / (len(values) + weight)
