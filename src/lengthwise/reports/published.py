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
    """Our exact match in the longest stretch measured, and what others found or predict there."""

    row: Row
    encoding: str
    learned: bool
    ours: Claim
    sizes: str
    published: float | None
    source: str
    predicted: bool | None

    @property
    def share(self) -> float:
        assert isinstance(self.ours.value, int | float)
        return float(self.ours.value)

    @property
    def agrees(self) -> bool | None:
        """Whether we and the publication are on the same side of 70 %."""
        return None if self.published is None else (self.share >= BAR) == (self.published >= BAR)

    @property
    def as_predicted(self) -> bool | None:
        """Whether we are on the side that the existence of a C-RASP program predicts."""
        return None if self.predicted is None else (self.share >= BAR) == self.predicted

    @property
    def where(self) -> str:
        return f"{self.row.label} with `{self.encoding}`"

    @property
    def sentence(self) -> str:
        """What a disagreement is about."""
        assert self.published is not None
        why = "" if self.learned else "; no seed was kept, so it was not learned within the training range"
        return f"{self.where}: {percent(self.share)} here, {percent(self.published)} published{why}."


def published_for(facts: Mapping[str, Any], encoding: str) -> Mapping[str, Any] | None:
    """The published curve of a task with an encoding, if there is one."""
    for curve in facts.get("published") or ():
        if curve.get("encoding") == encoding and curve.get("exact_match"):
            return curve
    return None


def compare(content: Content) -> list[Comparison]:
    """Every cell with a finished run of which something was published or predicted."""
    found = []
    for row in content.rows:
        facts = content.facts(row.task)
        for encoding, cell in content.row_cells(row).items():
            curve = published_for(facts, encoding)
            predicted = (facts.get("crasp") or {}).get(encoding)
            if not cell.done or (curve is None and predicted is None):
                continue
            ours, sizes = _longest(cell)
            published = None if curve is None else float(curve["exact_match"][-1]) / 100
            source = "" if curve is None else str(curve.get("reference") or "")
            found.append(Comparison(row, encoding, cell.learned, ours, sizes, published, source, predicted))
    return found


def agreement(comparisons: Iterable[Comparison]) -> list[Claim]:
    """How many cells are on the published and on the predicted side, for each encoding."""
    by_encoding: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_encoding.setdefault(comparison.encoding, []).append(comparison)
    claims = []
    for encoding, group in by_encoding.items():
        published = [(c, bool(c.agrees)) for c in group if c.agrees is not None]
        predicted = [(c, bool(c.as_predicted)) for c in group if c.as_predicted is not None]
        name = f"on the published side of 70 %, encoding {encoding}"
        claims += _count(name, published, sorted({c.source for c, _ in published if c.source}))
        claims += _count(f"on the side that C-RASP predicts, encoding {encoding}", predicted, ["huang2025"])
    return claims


def predictions(comparisons: Iterable[Comparison]) -> list[Claim]:
    """What the existence of a C-RASP program predicts, as claims of their own kind."""
    return [
        Claim(
            name=f"holds beyond training, by C-RASP: {c.row.label}, encoding {c.encoding}",
            value="holds" if c.predicted else "does not hold",
            unit="",
            kind="predicted",
            assumptions=(Assumption("training finds the C-RASP program where there is one"),),
            reference=Reference("huang2025"),
            evidence={"measured": c.share, "as predicted": c.as_predicted},
        )
        for c in comparisons
        if c.predicted is not None
    ]


def _count(name: str, judged: list[tuple[Comparison, bool]], sources: list[str]) -> list[Claim]:
    if not judged:
        return []
    not_learned = [c.row.label for c, _ in judged if not c.learned]
    assumptions = [Assumption("the longest stretch in training lengths is comparable where sizes differ")]
    if not_learned:
        text = f"{len(not_learned)} of {len(judged)} were not learned in range and count all their seeds"
        assumptions.append(Assumption(text, "violated"))
    return [
        Claim(
            name=name,
            value=sum(agrees for _, agrees in judged),
            unit=f"of {len(judged)}",
            kind="measured",
            assumptions=tuple(assumptions),
            reference=Reference("; ".join(sources)) if sources else None,
            evidence={"threshold": BAR, "the others": [c.row.label for c, agrees in judged if not agrees]},
        )
    ]


def _longest(cell: Cell) -> tuple[Claim, str]:
    """The exact match in the longest stretch as wide as the training range, of three, and the sizes in it."""
    for measure, before in _STRETCHES:
        if cell.values(measure):
            first, last = before * cell.train_size + 1, min((before + 1) * cell.train_size, cell.test_size)
            return cell.claim(measure), f"{first}–{last}"
    raise AssertionError("a finished run was measured somewhere")
