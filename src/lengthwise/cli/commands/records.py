"""Records and tables as text for a terminal. Every table that a command prints goes through `write_grid`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid

from lengthwise.cli.output import width, wrapped, write_heading, write_list
from lengthwise.records import Cell, Record, Table
from lengthwise.reports.cells import is_number, shown, title_of
from lengthwise.terminal import visible

MOST_ROWS = 14  # of a table on a terminal
_GAP = 2  # columns between two cells
_SHORT = 8  # characters of a text that is not broken


def write_record(record: Record, claims: bool = True) -> None:
    """Print a record under its title. Tables of detail are named, and left to the page and to JSON."""
    write_heading(record.title or record.source)
    if record.failed:
        print(wrapped(f"failed: {record.failed}"))
    for text in record.text:
        print(wrapped(text))
    write_list(map(str, record.claims if claims else ()))
    for table in record.tables:
        if not table.detail:
            write_table(table)
    if details := [f"{table.title or table.key} ({len(table.rows)})" for table in record.tables if table.detail]:
        print(wrapped(f"on the page and in JSON: {', '.join(details)}"))


def write_table(table: Table, most: int = MOST_ROWS) -> None:
    """Print a table of a record in at most `most` rows, those in the middle left out."""
    print()
    if table.title:
        print(wrapped(table.title + (":" if table.rows else ": none")))
    rows = [[shown(cell, c.type) for cell, c in zip(row, table.columns, strict=True)] for row in table.rows]
    if len(rows) > most:
        left = len(rows) - most + 1
        rows = [*rows[: most // 2], [f"… {left}", *[""] * (len(table.columns) - 1)], *rows[left + most // 2 :]]
    if rows:
        texts = [place for place, column in enumerate(table.columns) if not is_number(column.type)]
        write_grid([title_of(column) for column in table.columns], rows, texts, whole=False)
    if table.note:
        print(wrapped(f"({table.note})"))


def write_grid(
    titles: Sequence[str], rows: Sequence[Sequence[Cell]], texts: Collection[int] = (0,), whole: bool = True
) -> None:
    """Print rows of cells below their titles. The columns at the places `texts` hold text, which stands at the left and
    is wrapped between words; all others stand at the right. Columns for which there is no room follow below, again with
    the first one; or, where the grid need not be `whole`, are named."""
    titles = [visible(title) for title in titles]
    cells = [[visible(shown(cell)) for cell in row] for row in rows]
    columns = [_GridColumn(title, [row[i] for row in cells], i in texts) for i, title in enumerate(titles)]
    gap = _GAP if whole or len(list(_blocks(columns, _GAP))) == 1 else 1
    first, *others = _blocks(columns, gap)
    _write_block(first, gap)
    for block in others if whole else ():
        print()
        _write_block(block, gap)
    if others and not whole:
        print(wrapped(f"(not shown for lack of room: {', '.join(titles[len(first) :])})"))


class _GridColumn:
    """A column, the least width that breaks no word of it, and the width at which nothing is wrapped."""

    def __init__(self, title: str, cells: list[str], is_text: bool) -> None:
        self.title, self.cells, self.is_text = title, cells, is_text
        parts = [*title.split(), *([part.rstrip() for cell in cells for part in _pieces(cell)] if is_text else cells)]
        self.least = max(map(cell_len, parts), default=0)
        if is_text:  # a path may be longer than any line; it is broken where nothing else fits
            self.least = min(self.least, width() // 2)
        self.most = max(map(cell_len, [title, *cells]))


def _pieces(cell: str) -> list[str]:
    """Where a text may be broken: between words and behind the commas of a spec. A short one stays whole."""
    return [cell] if cell_len(cell) <= _SHORT else re.findall(r"\S+?(?:,(?=[^\W\d])|\s+|$)", cell)


def _broken(cell: str, wide: int) -> str:
    """A text in lines of at most this width, as far as its pieces allow."""
    lines = [""]
    for piece in _pieces(cell):
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > wide:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _blocks(columns: list[_GridColumn], gap: int) -> Iterator[list[_GridColumn]]:
    """The columns in groups that fit next to the first one."""
    block = columns[:1]
    for column in columns[1:]:
        if len(block) > 1 and sum(one.least + gap for one in (*block, column)) - gap > width():
            yield block
            block = columns[:1]
        block.append(column)
    yield block


def _write_block(block: list[_GridColumn], gap: int) -> None:
    """If a line has no room for everything, titles are wrapped to the width of their numbers, and texts take the
    remaining width.
    """
    room = width() - gap * (len(block) - 1)
    ample = sum(column.most for column in block) <= room
    room -= sum(column.least for column in block)
    grid = Grid(box=None, padding=(0, gap, 0, 0), pad_edge=False, show_header=False)
    heads, texts = [], []
    for column in block:
        wide = column.most if ample else column.least
        if not ample and column.is_text:
            wide = min(column.most, column.least + max(0, room))
            room -= wide - column.least
        grid.add_column(justify="left" if column.is_text else "right", width=wide, overflow="fold")
        heads.append(textwrap.wrap(column.title, max(1, wide)))
        texts.append([_broken(cell, wide) for cell in column.cells] if column.is_text else column.cells)
    most = max(map(len, heads))
    for line in zip(*([""] * (most - len(head)) + head for head in heads), strict=True):
        grid.add_row(*line)  # the last lines of all titles stand next to each other
    for row in zip(*texts, strict=True):
        grid.add_row(*row)
    # Plain text: the stream behind stdout shows control characters, so that colours would be shown as well.
    console = Console(width=500, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as text:
        console.print(grid)
    print("\n".join(line.rstrip() for line in text.get().splitlines()))
