"""Any record as text for a terminal: its answer, its claims and its short tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid

from lengthwise.cli.output import width, wrapped
from lengthwise.records import Record, Table
from lengthwise.reports.cells import is_number, shown, title_of
from lengthwise.terminal import visible

MOST_ROWS = 14  # of a table on a terminal


def write_record(record: Record, claims: bool = True) -> None:
    """Print a record under its title. Tables of detail are named, and left to the page and to JSON."""
    title = record.title or record.source
    print(f"\n{title}\n{'─' * len(title)}")
    if record.failed:
        print(wrapped(f"failed: {record.failed}"))
    for text in record.text:
        print(wrapped(text))
    for claim in record.claims if claims else ():
        print(wrapped(str(claim), "• ", "  "))
    for table in record.tables:
        if not table.detail:
            write_table(table)
    if details := [f"{table.title or table.key} ({len(table.rows)})" for table in record.tables if table.detail]:
        print(wrapped(f"on the page and in JSON: {', '.join(details)}"))


def write_table(table: Table, most: int = MOST_ROWS) -> None:
    """Print a table in at most `most` rows, those in the middle left out, and as many columns as fit."""
    print()
    if table.title:
        print(wrapped(table.title + (":" if table.rows else ": none")))
    titles = [_broken(title_of(column)) for column in table.columns]
    cells = [
        [visible(shown(cell, column.type)) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    if len(cells) > most:
        left = len(cells) - most + 1
        cells = [*cells[: most // 2], [f"… {left}", *[""] * (len(titles) - 1)], *cells[left + most // 2 :]]
    gap = 2 if _fitting(table, titles, cells, 2) == len(titles) else 1
    kept = _fitting(table, titles, cells, gap)
    if table.rows:
        headed = any(title.strip() for title in titles)
        grid = Grid(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="", show_header=headed)
        for column, title in zip(table.columns[:kept], titles, strict=False):
            number = is_number(column.type)
            grid.add_column(title, justify="right" if number else "left", no_wrap=number, overflow="fold")
        for row in cells:
            grid.add_row(*row[:kept])
        _print(grid)
    left_out = [title_of(column) for column in table.columns[kept:]]
    notes = [table.note] if table.note else []
    notes += [f"not shown for lack of room: {', '.join(left_out)}"] if left_out else []
    if notes:
        print(wrapped(f"({'; '.join(notes)})"))


def _fitting(table: Table, titles: Sequence[str], cells: Sequence[Sequence[str]], gap: int) -> int:
    """How many columns fit with this gap between two: numbers are never cut, texts need twelve characters."""
    room, used = width(), 0
    for place, (column, title) in enumerate(zip(table.columns, titles, strict=True)):
        wide = max(len(line) for line in [*title.split("\n"), *(row[place] for row in cells)])
        used += (wide if is_number(column.type) else min(wide, 12)) + gap
        if used > room + gap and place > 1:
            return place
    return len(table.columns)


def _broken(title: str) -> str:
    """The title of a column, one line per word, so that columns of numbers stay narrow."""
    return visible(title).replace(" ", "\n")


def _print(grid: Grid) -> None:
    """Print plain text: the stream behind stdout shows control characters, so that colours would be shown as well."""
    console = Console(width=width(), color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as text:
        console.print(grid)
    print("\n".join(line.rstrip() for line in text.get().splitlines()))
