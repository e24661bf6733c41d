"""A short table as plain data, for the sections of a ladder."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.records import Cell

__all__ = ["Cell", "Table"]


@dataclass(frozen=True)
class Table:
    """Rows under titles. `note` says what a reader must know to read it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
