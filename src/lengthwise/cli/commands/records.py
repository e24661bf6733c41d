"""Records and tables as text for a terminal. Every table that a command prints goes through `write_grid`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid

from lengthwise.cli.output import width, wrapped, write_heading, write_list
from lengthwise.records import Cell, Record, Table
from lengthwise.reports.cells import is_number, shown, title_of
from lengthwise.terminal import lines_of, visible

MOST_ROWS = 14  # of a table on a terminal
MOST_LINES = 3  # of an answer
_GAP = 2  # columns between two cells
_SHORT = 8  # characters of a text that is not broken


def elsewhere(options: argparse.Namespace) -> str:
    """Where the rest of a record is found, for a command with these options."""
    if not hasattr(options, "page"):
        return "with --json"
    return f"on the page ({options.page or '--page FILE'}) and with --json"


def write_answer(record: Record, where: str, claims: bool = True) -> None:
    """Print a record with its answer first: as many of its sentences as fit into three lines, then all the rest."""
    taken = opening(record.text)
    write_record(replace(record, text=record.text[taken:]), where, claims)


def opening(sentences: Sequence[str]) -> int:
    """Print an answer in three lines at most, and return how many of its sentences it holds. One sentence has a line,
    where there is room; a first sentence that is too long is cut, and then counts as not held."""
    taken, lines = 0, []
    for count in range(1, len(sentences) + 1):
        apart = [line for text in sentences[:count] for line in lines_of(text, width())]
        joined = lines_of(" ".join(sentences[:count]), width())
        if min(len(apart), len(joined)) > MOST_LINES:
            break
        taken, lines = count, apart if len(apart) <= MOST_LINES else joined
    if sentences and not taken:
        lines = lines_of(sentences[0], width())[:MOST_LINES]
        lines[-1] = lines_of(lines[-1], width() - 2)[0] + " …"
    print("\n".join(lines))
    return taken


def write_record(record: Record, where: str = "with --json", claims: bool = True) -> None:
    """Print a record under its title. What is too long for a terminal is named, with `where` it is found."""
    write_heading(record.title or record.source)
    if record.failed:
        print(wrapped(f"failed: {record.failed}"))
    for text in record.text:
        print(wrapped(text))
    write_list(map(str, record.claims if claims else ()))
    left = []
    for table in record.tables:
        if not table.detail:
            left += write_table(table)
        elif table.rows:
            left.append(_counted(table))
    write_rest(left, where)


def write_rest(left: Sequence[str], where: str) -> None:
    """Say what of a record is not printed, and where it is found."""
    if left:
        print("\n" + wrapped(f"More {where}: {'; '.join(left)}."))


def write_table(table: Table, most: int = MOST_ROWS) -> list[str]:
    """Print a table of a record in at most `most` rows, those in the middle left out, and the columns for which there
    is room; return a sentence about what was omitted."""
    print()
    if table.title:
        print(wrapped(table.title + (":" if table.rows else ": none")))
    rows = [[shown(cell, c.type) for cell, c in zip(row, table.columns, strict=True)] for row in table.rows]
    left = []
    if len(rows) > most:
        cut = len(rows) - most + 1
        rows = [*rows[: most // 2], [f"… {cut:,} more", *[""] * (len(table.columns) - 1)], *rows[cut + most // 2 :]]
        left = [_counted(table)]
    if rows:
        texts = [place for place, column in enumerate(table.columns) if not is_number(column.type)]
        missing = write_grid([title_of(column) for column in table.columns], rows, texts, whole=False)
        left += [f"the columns {', '.join(missing)} of {_called(table)}"] if missing else []
    if table.note:
        print(wrapped(f"({table.note})"))
    return left


def _called(table: Table) -> str:
    return table.title or table.key


def _counted(table: Table) -> str:
    return f"{_called(table)} ({len(table.rows):,} row{'s' * (len(table.rows) != 1)})"


def write_grid(
    titles: Sequence[str], rows: Sequence[Sequence[Cell]], texts: Collection[int] = (0,), whole: bool = True
) -> list[str]:
    """Print rows of cells below their titles. The columns at the places `texts` hold text, which stands at the left and
    is wrapped between words; all others stand at the right. Columns for which there is no room follow below, again with
    the first one; or, where the grid need not be `whole`, their titles are returned."""
    titles = [visible(title) for title in titles]
    printed = [[visible(shown(cell)) for cell in row] for row in rows]
    columns = [_GridColumn(title, [row[i] for row in printed], i in texts) for i, title in enumerate(titles)]
    gap = _GAP if whole or len(list(_blocks(columns, _GAP))) == 1 else 1
    first, *others = _blocks(columns, gap)
    _write_block(first, gap)
    for block in others if whole else ():
        print()
        _write_block(block, gap)
    return [] if whole else titles[len(first) :]


class _GridColumn:
    """A column, the least width that breaks no word of it, and the width at which nothing is wrapped."""

    def __init__(self, title: str, cells: list[str], is_text: bool) -> None:
        self.title, self.cells, self.is_text = title, cells, is_text
        parts = [*title.split(), *([part.rstrip() for cell in cells for part in _pieces(cell)] if is_text else cells)]
        # A path may be longer than any line: a cell takes half of one at most, and is broken where nothing else fits.
        self.least = min(max(map(cell_len, parts), default=0), width() // 2 - _GAP)
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
        heads.append(lines_of(column.title, max(1, wide)))
        texts.append([_broken(cell, wide) for cell in column.cells] if column.is_text else column.cells)
    if not any(column.title.strip() for column in block):
        heads = [[] for _ in block]
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
