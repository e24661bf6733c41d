"""A study beside published results: the same task and encoding, on the same side of 70 % or not.

Published sizes differ from ours, so the longest stretch, up to three times the training length, is compared with the
longest published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.records import Assumption, Claim, Reference
from lengthwise.reports.content import Content, Row
from lengthwise.reports.words import percent
from lengthwise.studies.cells import Cell, Measure

BAR = 0.70
_STRETCHES: tuple[tuple[Measure, int], ...] = (("thrice", 2), ("twice", 1), ("in_range", 0))


@dataclass(frozen=True)
class Comparison:
    """Our exact match in the longest stretch measured, and what others found there."""

    row: Row
    encoding: str
    learned: bool
    ours: Claim
    sizes: str
    published: float
    source: str

    @property
    def share(self) -> float:
        assert isinstance(self.ours.value, int | float)
        return float(self.ours.value)

    @property
    def agrees(self) -> bool:
        """Whether we and the publication are on the same side of 70 %."""
        return (self.share >= BAR) == (self.published >= BAR)

    @property
    def where(self) -> str:
        return f"{self.row.label} with `{self.encoding}`"

    @property
    def sentence(self) -> str:
        """What a disagreement is about."""
        why = "" if self.learned else "; no seed was kept, so it was not learned within the training range"
        return f"{self.where}: {percent(self.share)} here, {percent(self.published)} published{why}."


def published_for(facts: Mapping[str, Any], encoding: str) -> Mapping[str, Any] | None:
    """The published curve of a task with an encoding, if there is one."""
    for curve in facts.get("published") or ():
        if curve.get("encoding") == encoding and curve.get("exact_match"):
            return curve
    return None


def compare(content: Content) -> list[Comparison]:
    """Every cell with a finished run of which something was published."""
    found = []
    for row in content.rows:
        facts = content.facts(row.task)
        for encoding, cell in content.row_cells(row).items():
            curve = published_for(facts, encoding)
            if not cell.done or curve is None:
                continue
            ours = longest_stretch(cell)
            published, source = float(curve["exact_match"][-1]) / 100, str(curve.get("reference") or "")
            found.append(Comparison(row, encoding, cell.learned, ours.exact, ours.sizes, published, source))
    return found


def agreement(comparisons: Iterable[Comparison]) -> list[Claim]:
    """How many cells are on the published side, for each encoding."""
    by_encoding: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_encoding.setdefault(comparison.encoding, []).append(comparison)
    return [_count(encoding, group) for encoding, group in by_encoding.items()]


def _count(encoding: str, group: list[Comparison]) -> Claim:
    not_learned = [comparison.row.label for comparison in group if not comparison.learned]
    assumptions = [Assumption("the longest stretch in training lengths is comparable where sizes differ")]
    if not_learned:
        text = f"{len(not_learned)} of {len(group)} were not learned in range and count all their seeds"
        assumptions.append(Assumption(text, "violated"))
    sources = sorted({comparison.source for comparison in group if comparison.source})
    return Claim(
        name=f"on the published side of 70 %, encoding {encoding}",
        value=sum(comparison.agrees for comparison in group),
        unit=f"of {len(group)}",
        kind="measured",
        assumptions=tuple(assumptions),
        reference=Reference("; ".join(sources)) if sources else None,
        evidence={"threshold": BAR, "the others": [c.row.label for c in group if not c.agrees]},
    )


@dataclass(frozen=True)
class Stretch:
    """The exact match on a stretch of sizes as wide as the training range; `beyond` says that it lies beyond it."""

    exact: Claim
    sizes: str
    beyond: bool


def longest_stretch(cell: Cell) -> Stretch:
    """The stretch with the longest sizes, of the first three, on which a cell with a finished run was measured."""
    for measure, before in _STRETCHES:
        if cell.values(measure):
            first, last = before * cell.train_size + 1, min((before + 1) * cell.train_size, cell.test_size)
            return Stretch(cell.claim(measure), f"{first}–{last}", before > 0)
    raise AssertionError("a finished run was measured somewhere")
