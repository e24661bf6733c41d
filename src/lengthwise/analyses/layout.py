"""How a page arranges a record, as plain data: the words of its link, its menus, how many panels are in a row.

A record without a layout has a plain one, so a user's own analysis needs none. A terminal uses `in_short` alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.messages import sentence
from lengthwise.records import Claim, Figure, Record, Table

LAYOUT = "layout"  # the key in the data of a record


@dataclass(frozen=True)
class Menu:
    """A choice for the reader. `options` are pairs of a value and its text; the first is chosen at the start.

    The menu shows the figures whose `group` is the chosen value and hides the others; if it `sets` something, it sets
    the parameter `name` in all figures that have one instead.
    """

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    sets: bool = False


def menu_of(figures: Iterable[Figure], name: str, label: str, words: Callable[[str], str] = str) -> tuple[Menu, ...]:
    """A menu of the groups that these figures are in, where there are several; `words` say what a group is called."""
    groups = dict.fromkeys(figure.group for figure in figures)
    return (Menu(name, sentence(label), tuple((group, words(group)) for group in groups)),) if len(groups) > 1 else ()


@dataclass(frozen=True)
class PageLayout:
    """How one record is arranged.

    `link` is the word in the navigation. The first `lead` sentences of the text come before the figures (all of them
    unless given), `notes` say how to read the figures, and `claims` is how many claims the section lists (all unless
    given); the table of claims has them all. `columns` is the number of panels in a row where there is room. `filters`
    are encodings that the reader can hide. `not_learned` and `advice` are sentences that the first section shows below
    its figures: what the study cannot say, and what to do next. `lists` are pairs of a heading and its items. A
    `widget` is {"name": a script of this package, "data": what it shows, "words": the same without scripts}.
    """

    link: str = ""
    lead: int | None = None
    notes: tuple[str, ...] = ()
    claims: int | None = None
    columns: int = 2
    menus: tuple[Menu, ...] = ()
    filters: tuple[str, ...] = ()
    not_learned: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    widget: Mapping[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        """What differs from a plain layout, as JSON-ready data."""
        usual = PageLayout()
        return {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}

    @classmethod
    def of(cls, record: Record) -> PageLayout:
        """The layout of a record, with a link in any case."""
        given = dict(record.data.get(LAYOUT) or {})
        given["menus"] = tuple(Menu(**menu) for menu in given.get("menus", ()))
        found = cls(**given)
        return found if found.link else dataclasses.replace(found, link=record.title or record.source)


def arranged(
    name: str,
    layout: PageLayout,
    text: Iterable[str] = (),
    claims: Iterable[Claim] = (),
    tables: Iterable[Table] = (),
    figures: Iterable[Figure] = (),
    data: Mapping[str, Any] = {},
) -> Record:
    """The record of an analysis, whose title and link the catalogue has as `name.title` and `name.link`."""
    layout = dataclasses.replace(layout, link=sentence(f"{name}.link"))
    parts = (tuple(text), tuple(claims), tuple(tables), tuple(figures))
    return Record(name, {}, sentence(f"{name}.title"), *parts, {**data, LAYOUT: layout.plain()})


def in_short(record: Record) -> Record:
    """The record with the claims that its section lists, which is what a terminal has room for."""
    return dataclasses.replace(record, claims=record.claims[: PageLayout.of(record).claims], figures=())
