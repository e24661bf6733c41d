"""A study and published results for the same task and encoding: a difference in points, where the two are alike.

Alike means: softmax attention, trained to the same length, within a tenth, and tested on the same stretch of sizes
counted in training lengths. What was not learned here, or was trained or tested at other lengths, is not compared; it
is said which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import GridRow, StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.words import code, counted, listed, short
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Interval, Record, Reference, Table, columns
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import Cell
from lengthwise.studies.record import exact_within

LIKE = 0.1  # training lengths that differ by at most this share are alike

explain(
    {
        "published.title": "Compared with published results",
        "published.link": "Published",
        "published.note": (
            "Only cells that were learned here are compared, at similar training lengths (within a tenth) and "
            "over the same ranges of sizes, as differences in percentage points."
        ),
        "published.compared": "{cells} can be compared.",
        "published.nothing": "Nothing here can be compared.",
        "published.apart": "Not compared, {why}: {cells}.",
        "published.not_learned": "because they were not learned in the training range here",
        "published.other_length": "because they were trained to {ours} here and to {theirs} there",
        "published.other_sizes": "because they were not measured on the published sizes here",
        "published.difference": "exact match, ours minus published: {where}, sizes {sizes}",
        "published.ours": "exact match: {row}, position {position}, sizes {first} to {last}",
        "published.comparable": "models and training are comparable",
    }
)
_COLUMNS = columns(
    "task:text | encoding:text | sizes:text | ours:share | ours_low:share from | ours_high:share to | published:share "
    "| published_low:share from | published_high:share to | published_sizes:text their sizes | "
    "points difference (points) | source:text"
)


@analyses.register("published")
@dataclass(frozen=True)
class PublishedAnalysis(Analysis):
    """The study's exact match and what others published."""

    def analyse(self, study: StudyContent) -> Record:
        found = compare(study)
        rows = tuple(item.row_of_table() for item in found.comparisons)
        return arranged(
            "published",
            PageLayout(notes=(sentence("published.note"),), claims=0),
            found.sentences,
            (item.claim() for item in found.comparisons),
            [Table("published.comparisons", _COLUMNS, rows)] if rows else (),
        )

    def applies(self, study: StudyContent) -> bool:
        return bool(compare(study))


@dataclass(frozen=True)
class PublishedValue:
    """Our exact match on a stretch of sizes and what others found on the same stretch, in training lengths."""

    row: GridRow
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
        return f"{self.row.label} with {code(self.encoding)}"

    def row_of_table(self) -> tuple[str | float | None, ...]:
        ours, theirs = (
            (None, None) if interval is None else (interval.low, interval.high)
            for interval in (self.ours.interval, self.published_interval)
        )
        start = (self.row.label, self.encoding, self.sizes, self.share, *ours, self.published, *theirs)
        return (*start, self.published_sizes, round(self.points, 1), self.source or None)

    def claim(self) -> Claim:
        ours, theirs = (None if one is None else one.plain() for one in (self.ours.interval, self.published_interval))
        return Claim(
            key="published.difference",
            value=self.points,
            unit="points",
            kind="measured",
            assumptions=(Assumption("published.comparable"),),
            reference=Reference(self.source) if self.source else None,
            evidence={
                **{name: getattr(self, name) for name in ("where", "sizes", "published", "published_sizes")},
                "ours": self.share,
                "ours_interval": ours,
                "published_interval": theirs,
                "seeds": self.ours.evidence["seeds"],
            },
        )


@dataclass(frozen=True)
class PublishedValues:
    """What could be compared, and for what could not: the reason (a key and our and their training length) with the
    cells."""

    comparisons: tuple[PublishedValue, ...]
    apart: Mapping[tuple[str, ...], tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.comparisons or self.apart)

    @property
    def sentences(self) -> list[str]:
        """What was compared and what was not."""
        number = len({(item.row.label, item.encoding) for item in self.comparisons})
        first = "published.compared" if number else "published.nothing"
        apart = (
            {"why": sentence(key, {"ours": ours, "theirs": theirs}), "cells": listed(list(cells), 6)}
            for (key, ours, theirs), cells in self.apart.items()
        )
        return [
            sentence(first, {"cells": counted(number, "cell")}),
            *(sentence("published.apart", values) for values in apart),
        ]


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


def compare(study: StudyContent) -> PublishedValues:
    """Every cell with a finished run of which something was published."""
    found: list[PublishedValue] = []
    apart: dict[tuple[str, ...], list[str]] = {}
    for row in study.rows:
        facts = study.facts(row.task)
        for encoding, cell in study.row_cells(row).items():
            curve = published_for(facts, encoding)
            if curve is None or not cell.done or not cell.is_transformer or cell.attention != "softmax":
                continue
            alike = list(_stretches(row, encoding, cell, curve)) if cell.learned else []
            found += alike
            if not alike:
                apart.setdefault(_why_not(cell, curve), []).append(f"{row.label} with {code(encoding)}")
    return PublishedValues(tuple(found), {why: tuple(cells) for why, cells in apart.items()})


def _stretches(row: GridRow, encoding: str, cell: Cell, curve: Mapping[str, Any]) -> Iterator[PublishedValue]:
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
        yield PublishedValue(row, encoding, ours, f"{low}–{high}", value / 100, theirs, f"{first}–{last}", source)


def _exact(cell: Cell, first: int, last: int) -> Claim | None:
    """Our exact match on these sizes, the mean over the seeds that learned."""
    shares = {run.seed: exact_within(run.curve, first, last) for run in cell.kept}
    values = {seed: share for seed, share in shares.items() if share is not None}
    about = {"row": cell.row, "position": cell.position, "first": first, "last": last}
    return mean_over_seeds("published.ours", values, about=about, unit="share") if values else None


def _why_not(cell: Cell, curve: Mapping[str, Any]) -> tuple[str, str, str]:
    if not cell.learned:
        return "published.not_learned", "", ""
    trained = curve["bins"][0][1]
    if not trained_alike(curve, cell.train_size):
        return "published.other_length", short(cell.train_size), short(trained)
    return "published.other_sizes", "", ""
