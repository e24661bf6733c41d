"""Cells of a table as people read them, on a page and in a terminal."""

from __future__ import annotations

from lengthwise.analyses.words import percent
from lengthwise.records import Cell, Column, Type


def shown(cell: Cell, kind: Type = "number") -> str:
    """A cell of a table as people read it."""
    if cell is None:
        return "–"
    if isinstance(cell, bool) or kind == "truth":
        return "yes" if cell else "no"
    if kind == "share" and isinstance(cell, int | float):
        return percent(cell)
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def is_number(kind: Type) -> bool:
    """Whether cells of this type stand at the right of their column."""
    return kind in ("whole", "number", "share")


def title_of(column: Column) -> str:
    """What people read above a column: its title, or its name with spaces."""
    return column.title or column.name.replace("_", " ")
