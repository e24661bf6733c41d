"""A study and published results for the same task and encoding: a difference in points, where both are alike.

Alike means: trained to the same length, within a tenth, and tested on the same stretch of sizes counted in training
lengths. What was not learned here, or was trained or tested at other lengths, is not compared; it is said which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.reports.content import Content, Row
from lengthwise.reports.words import counted, listed, short
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import Cell

LIKE = 0.1  # training lengths that differ by at most this share are alike


@dataclass(frozen=True)
class Comparison:
    """Our exact match on a stretch of sizes and what others found on the same stretch, in training lengths."""

    row: Row
    encoding: str
    ours: Claim
    sizes: str
    published: float
    published_interval: Interval | None
    published_sizes: str
    source: str

    @property
    def share(self) -> float:
        assert isinstance(self.ours.value, int | float)
        return float(self.ours.value)

    @property
    def points(self) -> float:
        """By how many percentage points ours is above the published value."""
        return 100 * (self.share - self.published)

    @property
    def where(self) -> str:
        return f"{self.row.label} with `{self.encoding}`"

    def claim(self) -> Claim:
        theirs = self.published_interval
        return Claim(
            key=f"exact match, ours minus published: {self.where}, sizes {self.sizes}",
            value=self.points,
            unit="points",
            kind="measured",
            assumptions=(Assumption("models and training are comparable"),),
            reference=Reference(self.source) if self.source else None,
            evidence={
                "ours": self.share,
                "ours_interval": None if self.ours.interval is None else self.ours.interval.plain(),
                "published": self.published,
                "published_interval": None if theirs is None else theirs.plain(),
                "published_sizes": self.published_sizes,
                "seeds": self.ours.evidence["seeds"],
            },
        )


@dataclass(frozen=True)
class Published:
    """What could be compared, and for what could not: the reason with the cells."""

    comparisons: tuple[Comparison, ...]
    apart: Mapping[str, tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.comparisons or self.apart)

    @property
    def sentences(self) -> list[str]:
        """What was compared and what was not."""
        number = len({(item.row.label, item.encoding) for item in self.comparisons})
        first = f"{counted(number, 'cell')} can be compared." if number else "Nothing here can be compared."
        return [first, *(f"Not compared, {why}: {listed(list(cells), 6)}." for why, cells in self.apart.items())]

    def claims(self) -> list[Claim]:
        return [item.claim() for item in self.comparisons]


def published_for(facts: Mapping[str, Any], encoding: str) -> Mapping[str, Any] | None:
    """The published curve of a task with an encoding, if there is one."""
    for curve in facts.get("published") or ():
        if curve.get("encoding") == encoding and curve.get("exact_match"):
            return curve
    return None


def trained_alike(curve: Mapping[str, Any], train_size: int) -> bool:
    """Whether a published curve is of models trained to the same length, within a tenth."""
    trained = curve["bins"][0][1]
    return abs(train_size - trained) <= LIKE * trained


def compare(content: Content) -> Published:
    """Every cell with a finished run of which something was published."""
    found: list[Comparison] = []
    apart: dict[str, list[str]] = {}
    for row in content.rows:
        facts = content.facts(row.task)
        for encoding, cell in content.row_cells(row).items():
            curve = published_for(facts, encoding)
            if curve is None or not cell.done:
                continue
            alike = list(_stretches(row, encoding, cell, curve)) if cell.learned else []
            found += alike
            if not alike:
                apart.setdefault(_why_not(cell, curve), []).append(f"{row.label} with `{encoding}`")
    return Published(tuple(found), {why: tuple(cells) for why, cells in apart.items()})


def _stretches(row: Row, encoding: str, cell: Cell, curve: Mapping[str, Any]) -> Iterator[Comparison]:
    """The published bins that our sizes cover, the whole of each."""
    if not trained_alike(curve, cell.train_size):
        return
    scale = cell.train_size / curve["bins"][0][1]
    ends = curve.get("intervals") or [None] * len(curve["bins"])
    for (first, last), value, between in zip(curve["bins"], curve["exact_match"], ends, strict=True):
        low, high = round((first - 1) * scale) + 1, round(last * scale)
        ours = _exact(cell, low, high) if high <= cell.test_size else None
        if ours is None:
            continue
        theirs = None if between is None else Interval(between[0] / 100, between[1] / 100, 0.95, "as published")
        source = str(curve.get("reference") or "")
        yield Comparison(row, encoding, ours, f"{low}–{high}", value / 100, theirs, f"{first}–{last}", source)


def _exact(cell: Cell, first: int, last: int) -> Claim | None:
    """Our exact match on these sizes, the mean over the seeds that learned."""
    values = {}
    for run in cell.kept:
        columns = run.detail["curve"]
        rows = zip(columns["size"], columns["right"], columns["items"], strict=True)
        inside = [(right, items) for size, right, items in rows if first <= size <= last]
        if inside:
            values[run.seed] = sum(right for right, _ in inside) / sum(items for _, items in inside)
    name = f"exact match: {cell.row}, position {cell.position}, sizes {first} to {last}"
    return mean_over_seeds(name, values) if values else None


def _why_not(cell: Cell, curve: Mapping[str, Any]) -> str:
    if not cell.learned:
        return "as not learned in the training range here"
    trained = curve["bins"][0][1]
    if not trained_alike(curve, cell.train_size):
        return f"as trained to {short(cell.train_size)} here and to {short(trained)} there"
    return "as not measured on the published sizes here"
