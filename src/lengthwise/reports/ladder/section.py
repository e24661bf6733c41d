"""A section of the page as plain data: sentences, figures, tables, and what a reader can choose in it."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.inspection.content import Table
from lengthwise.records import Claim
from lengthwise.reports.figure import Figure


@dataclass(frozen=True)
class Choice:
    """A menu: either panels whose `group` is not the chosen value are hidden (`shows`), or the parameter `name` is set
    in all figures that have one. `options` are pairs of a value and its text; the first is chosen."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    shows: bool = True


@dataclass(frozen=True)
class Panel:
    """A figure in a section; `group` is the value of the choice it belongs to, empty where it is always shown."""

    figure: Figure
    group: str = ""


@dataclass(frozen=True)
class Section:
    """One part of the page. `text` may hold names between backticks. With `three`
    the panels stand three in a row where there is room."""

    name: str
    title: str
    link: str
    text: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    panels: tuple[Panel, ...] = ()
    tables: tuple[Table, ...] = ()
    details: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()  # those a reader of this section asks for first
    three: bool = False

    @property
    def figures(self) -> list[Figure]:
        return [panel.figure for panel in self.panels]
