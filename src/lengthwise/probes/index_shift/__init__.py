"""The probe `index_shift`: the risk of a model on its training range when all positions move and nothing else changes.

A longer problem differs from those of training in two ways: it has more tokens, and its tokens stand at positions that
training may not have shown. This probe moves the positions alone. Each move is as far as a longer level of the task's
ladder reaches, so that the two effects can be compared at the same positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.probe import Context, Passes, Probe, probes
from lengthwise.records import Assumption, Claim, Record, Table, columns
from lengthwise.registry import named_in
from lengthwise.tasks.ladder import ladder_of

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

_MEASURES = "lengthwise.probes.ladder.moving:moved"  # it reads the items of the ladder, and needs torch

explain(
    {
        "index_shift.title": "Index shift",
        "index_shift.increase": "increase of the risk when all positions move, mean over {shifts} shifts",
        "index_shift.not_length": "an index shift is not a longer problem: tokens and their distances stay the same",
        "index_shift.no_position": "the encoding has no positions as far out as {missing} of the shifts",
        "index_shift.longer": "a level of the ladder has longer inputs than training",
        "index_shift.text": (
            "The same {items} items of the training range with all positions shifted. Each shift reaches as "
            "far as a longer level of the ladder; nothing else changes."
        ),
        "index_shift.table": "Risk by shift of the positions",
        "index_shift.note": (
            "risk: share of wrong tokens, given the true answer so far; changed: share of answer tokens that "
            "the model would write differently without the shift; no risk is given where the encoding has no "
            "such positions"
        ),
    }
)


@probes.register("index_shift")
@dataclass(frozen=True)
class IndexShiftProbe(Probe):
    """Risk on the training range when all positions move and nothing else changes."""

    needs = ("transformer",)
    items: int = 48

    def __post_init__(self) -> None:
        if self.items < 2:
            raise UsageError(f"an index shift is measured on at least 2 items, not {self.items}")

    def passes(self, task: Task, train_size: int, causal: bool) -> Sequence[Passes]:
        """The positions reach as far as the longest level does, so a model gets no more rows than for the ladder."""
        return [Passes(self.items, tokens) for tokens in reaches(task, train_size, causal).values()]

    def measure(self, subject: Subject, context: Context) -> Record:
        return named_in(_MEASURES)(self, subject, context).record()


def reaches(task: Task, train_size: int, causal: bool = True) -> dict[str, int]:
    """The tokens of the longest row of the training level and of each level of larger and longer items, by name; a
    ladder along another axis than the length may have none."""
    training, *levels = ladder_of(task, train_size)
    widths = {level.name: level.task.width(max(level.sizes), causal) for level in (training, *levels)}
    larger = [level.name for level in levels if max(level.sizes) > max(training.sizes)]
    found = {training.name: widths[training.name]}
    for name in larger:  # as far as two levels reach, the first of them stands for both
        if widths[name] > found[training.name] and widths[name] not in found.values():
            found[name] = widths[name]
    return found


@dataclass(frozen=True)
class MovedItems:
    """All positions moved by `shift`, as far as `level` reaches: the share of wrong tokens of each item, and the share
    of tokens that the model would write otherwise than without the shift. None where the encoding has no such place."""

    level: str
    shift: int
    errors: tuple[float, ...] | None
    changed: float | None

    @property
    def risk(self) -> float | None:
        return None if self.errors is None else sum(self.errors) / len(self.errors)


@dataclass(frozen=True)
class IndexShift:
    """A model on the items of its training range: unmoved (`still`, the errors of items), and moved."""

    still: tuple[float, ...]
    rows: tuple[MovedItems, ...]

    @property
    def risk(self) -> float:
        """The risk without a shift."""
        return sum(self.still) / len(self.still)

    @property
    def known(self) -> list[MovedItems]:
        """The shifts that the encoding has positions for."""
        return [row for row in self.rows if row.errors is not None]

    @property
    def moved_risk(self) -> float | None:
        """The mean risk over shifts."""
        return _mean([row.risk for row in self.known if row.risk is not None])

    @property
    def increase(self) -> float | None:
        """That minus the risk without a shift."""
        return None if self.moved_risk is None else self.moved_risk - self.risk

    @property
    def changed(self) -> float | None:
        """The mean share of tokens that would be written otherwise."""
        return _mean([row.changed for row in self.known if row.changed is not None])

    def record(self) -> Record:
        described = columns(
            "level:text as far as | shift:whole positions moved | risk:share wrong tokens | increase | "
            "changed:share other token written"
        )
        rows = [("training", 0, self.risk, 0.0, 0.0)]
        rows += [
            (row.level, row.shift, row.risk, None if row.risk is None else row.risk - self.risk, row.changed)
            for row in self.rows
        ]
        table = Table("index_shift.by_shift", described, tuple(rows), _said("table"), _said("note"))
        text = (sentence("index_shift.text", {"items": len(self.still)}),)
        return Record("index_shift", {}, _said("title"), text, (self.claim(),), (table,), data=self.plain())

    def claim(self) -> Claim:
        missing = len(self.rows) - len(self.known)
        notes = [Assumption("index_shift.not_length", "checked")]
        if missing:
            notes.append(Assumption("index_shift.no_position", "caveat", {"missing": missing}))
        if not self.rows:
            notes.append(Assumption("index_shift.longer", "violated"))
        evidence = {"shifts": len(self.known), "n": len(self.still), "risk": self.risk, "changed": self.changed}
        status = "unknown" if self.increase is None else "holds"
        key = "index_shift.increase"
        return Claim(key, self.increase, "risk", "measured", status, None, tuple(notes), evidence=evidence)

    def plain(self) -> dict[str, object]:
        return {"still": self.still, "rows": [vars(row) for row in self.rows]}

    @classmethod
    def from_record(cls, record: Record) -> IndexShift:
        return cls(tuple(record.data["still"]), tuple(_row(row) for row in record.data["rows"]))


def _row(row: Mapping[str, object]) -> MovedItems:
    errors = row["errors"]
    return MovedItems(**{**row, "errors": None if errors is None else tuple(errors)})  # pyright: ignore[reportArgumentType]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _said(what: str) -> str:
    return sentence(f"index_shift.{what}")
