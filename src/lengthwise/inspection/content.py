"""What an inspection found, as plain data: text, tables, pictures and claims. No torch is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lengthwise.records import Claim, json_ready

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under titles. `note` says what a reader must know to read it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """Numbers to be drawn: `lines` has x, y and series in each row, `heat` has x, y and value.

    `words` say what is to be seen, for those who cannot see it.
    """

    kind: Literal["lines", "heat"]
    title: str
    words: str
    x: str
    y: str
    rows: tuple[Mapping[str, Cell], ...]
    logarithmic: Literal["", "x", "y"] = ""  # the axis that is


@dataclass(frozen=True)
class Section:
    """One part of an inspection. `tables` are short enough for a terminal, `details` are for the page and for JSON.

    A section that could not be made has the reason in `failed`, and `broken` where that is a fault of the program.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    details: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    failed: str = ""
    broken: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Inspection:
    """All that was found of a model. `facts` are pairs of a label and a text."""

    model: str
    facts: tuple[tuple[str, str], ...]
    inputs: str
    skipped: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section:
        """The section of this name."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(f"there is no section {name!r}; there are {', '.join(s.name for s in self.sections)}")

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    def plain(self) -> dict[str, Any]:
        """The inspection as JSON-ready data; an infinite number becomes the text "infinite"."""
        sections = [
            {**asdict(section), "claims": [claim.plain() for claim in section.claims]} for section in self.sections
        ]
        return json_ready({**asdict(self), "facts": dict(self.facts), "sections": sections})
