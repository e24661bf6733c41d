"""The design sheet, design.css, as text for pages and as values for figures: one home of colours, type and spacing."""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import Literal

Scheme = Literal["light", "dark", "print"]

_MEDIA: dict[Scheme, str] = {"dark": "(prefers-color-scheme: dark)", "print": "print"}
_PROPERTY = re.compile(r"--([\w-]+):\s*([^;]+);")


@functools.cache
def sheet() -> str:
    """The sheet as it stands in a page, before the page's own style."""
    return files("lengthwise.figures").joinpath("design.css").read_text(encoding="utf-8")


def light_sheet() -> str:
    """The sheet of a page that has no dark look, as its pictures are made for paper."""
    usual, *others = re.split(r"(?=@media )", sheet())
    return usual + "".join(part for part in others if _MEDIA["dark"] not in part)


@functools.cache
def values(scheme: Scheme = "light") -> dict[str, str]:
    """The value of every name of the sheet, without its dashes, for readers of one colour scheme."""
    usual, *others = re.split(r"@media ", sheet())
    found = dict(_PROPERTY.findall(usual))
    if scheme != "light":
        found |= _PROPERTY.findall(next(part for part in others if part.startswith(_MEDIA[scheme])))
    return found


def value(name: str) -> str:
    """One value of the sheet, as a figure on white paper has it."""
    return values()[name]


def series(prefix: str, count: int) -> list[str]:
    """The first `count` colours of a row of names, such as series-1, series-2, …"""
    return [value(f"{prefix}-{number}") for number in range(1, count + 1)]
