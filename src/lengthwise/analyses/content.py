"""A study as it is stored, arranged as its pictures show it; what every analysis reads.

A row is a task with its variant and training size; a column is an encoding. Nothing here is trained or measured again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lengthwise.analyses.evidence import Evidence, evidence_of, summed_up
from lengthwise.probes.curve.spread import Keep
from lengthwise.studies.cells import Cell, cells, named_sizes
from lengthwise.studies.record import RunRecord
from lengthwise.studies.shifts import read_shifts
from lengthwise.studies.store import Store
from lengthwise.studies.summary import read_summary, refused
from lengthwise.studies.table import Learning, learning

ANALYSED = ("curve", "guarantee", "ladder")  # probes whose records have an analysis of their own


@dataclass(frozen=True)
class GridRow:
    """One task with one variant and training size; `label` is unlike that of every other row."""

    label: str
    task: str
    variant: str
    train_size: int


@dataclass(frozen=True)
class StudyContent:
    """A study as it stands on disk. `evidence` is that of the runs that climbed a ladder, None where none did;
    `pictures` is False where nobody will see figures."""

    name: str
    runs: tuple[RunRecord, ...]
    study: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    toml: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    seconds: float | None = None
    executor: str = ""
    evidence: Evidence | None = None
    pictures: bool = True

    @cached_property
    def rule(self) -> Keep:
        """The rule by which seeds are kept."""
        return Keep(float(self.study.get("keep") or 0.0))

    @property
    def question(self) -> str:
        return str(self.study.get("question") or f"How far do the runs of {self.name} hold?")

    @property
    def analyses(self) -> tuple[str, ...]:
        """The analyses that the study names; empty where it leaves them to us."""
        return tuple(self.study.get("analyses") or ())

    @cached_property
    def shown_probes(self) -> tuple[str, ...]:
        """The records that no analysis is made for, by the names they are stored under."""
        return tuple(slug for slug, source in sources(self.runs).items() if source not in ANALYSED)

    @cached_property
    def ladders_lead(self) -> bool:
        """Whether every task has a ladder, so that ladders are what the study is about."""
        climbed = {climb.task for climb in self.evidence.climbs} if self.evidence else set()
        return bool(climbed) and {run.task for run in self.runs} <= climbed

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cells(self.runs, self.rule))

    @cached_property
    def learning(self) -> Learning:
        """How many cells were learned."""
        return learning(self.cells)

    @cached_property
    def encodings(self) -> tuple[str, ...]:
        """The encodings in the order of the grid; an encoding has one colour in all figures."""
        climbed = [] if self.evidence is None else self.evidence.encodings
        return tuple(dict.fromkeys([*(run.position for run in self.runs), *climbed]))

    @cached_property
    def _grid(self) -> dict[GridRow, dict[str, Cell]]:
        """The cells by row and encoding; the training size is part of a label where it is not the usual one."""
        named, taken = named_sizes(self.cells), Counter[str]()
        rows: dict[tuple[str, str, int], GridRow] = {}
        grid: dict[GridRow, dict[str, Cell]] = {}
        for cell in self.cells:
            place = (cell.task, cell.variant, cell.train_size)
            if place not in rows:
                size = f"trained to {cell.train_size}" if (cell.task, cell.train_size) in named else ""
                parts = ", ".join(part for part in (cell.variant, size) if part)
                label = f"{cell.task} ({parts})" if parts else cell.task  # no bare comma: sentences list labels
                taken[label] += 1  # "a (b)" may be a task of that name, or the variant b of a
                rows[place] = GridRow(label if taken[label] == 1 else f"{label} ({taken[label]})", *place)
            grid.setdefault(rows[place], {})[cell.position] = cell
        return grid

    @cached_property
    def rows(self) -> tuple[GridRow, ...]:
        """The rows in the order of the grid."""
        return tuple(self._grid)

    def cell(self, row: GridRow, encoding: str) -> Cell | None:
        """The cell of an encoding in a row; None where the grid has no such runs."""
        return self._grid[row].get(encoding)

    def row_cells(self, row: GridRow) -> dict[str, Cell]:
        """The cells of a row by encoding."""
        return {encoding: cell for encoding in self.encodings if (cell := self.cell(row, encoding))}

    def label(self, cell: Cell) -> str:
        """The label of the row a cell stands in."""
        return self._labels[cell.task, cell.variant, cell.train_size]

    @cached_property
    def _labels(self) -> dict[tuple[str, str, int], str]:
        return {(row.task, row.variant, row.train_size): row.label for row in self.rows}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many runs are in each state."""
        found = Counter(run.state for run in self.runs)
        return {state: found[state] for state in ("done", "running", "waiting", "failed")}

    @cached_property
    def kept(self) -> frozenset[str]:
        """The keys of the runs whose seed is kept."""
        return frozenset(run.key for cell in self.cells for run in cell.kept)

    @property
    def noun(self) -> str:
        """What a row is called in a sentence."""
        return "task" if len(self.rows) == len({row.task for row in self.rows}) else "task setting"

    @cached_property
    def furthest(self) -> float:
        """The largest size measured, in training lengths."""
        return max((cell.test_size / cell.train_size for cell in self.cells), default=1.0)

    def facts(self, task: str) -> Mapping[str, Any]:
        """What is known of a task from elsewhere."""
        return self.tasks.get(task) or {}


def sources(runs: Sequence[RunRecord]) -> dict[str, str]:
    """The names under which these runs store records → the probe that each is of. One record of each is read."""
    found = {slug: run for run in reversed(runs) for slug in run.stored}
    return {slug: run.parsed(slug).source for slug, run in found.items()}


def read_content(folder: Path) -> StudyContent:
    """The content of the study in a folder, or of its summary in a file."""
    if folder.is_file():
        return read_summary_content(folder)
    with Store.open(folder) as store:
        study = store.fact("study") or {}
        seconds, runs = store.fact("seconds"), tuple(store.runs())
        ladders = {slug for slug, source in sources(runs).items() if source == "ladder"}
        return StudyContent(
            name=str(study.get("name") or folder.resolve().name),
            runs=runs,
            study=study,
            tasks=store.fact("tasks") or {},
            toml=str(store.fact("toml") or ""),
            environment=store.fact("environment") or {},
            command=str(store.fact("command") or ""),
            seconds=float(seconds) if isinstance(seconds, int | float) else None,
            executor=str(store.fact("executor") or ""),
            evidence=evidence_of([run for run in runs if ladders & run.stored.keys()], read_shifts(folder)),
        )


def read_summary_content(path: Path) -> StudyContent:
    """The content of a summary that `lengthwise study export --summary` wrote: ladders and distances, no runs."""
    summary = read_summary(path)
    name = path.name.partition(".")[0]
    with refused(path):
        return StudyContent(name, (), study=summary.study, command=summary.command, evidence=summed_up(summary))
