"""The cells of a short table as a reader sees them."""

from __future__ import annotations

from lengthwise.inspection.content import Cell, Table


def shown(cell: Cell) -> str:
    """A cell as text."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def numeric(table: Table) -> list[bool]:
    """Which columns hold no text."""
    return [not any(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]
