"""What a benchmark gives: rows of a table, each with a figure of ours, perhaps a peer's, and perhaps a target."""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError

QUIET = 0.5  # the load of other work below which figures can be quoted


@dataclass(frozen=True)
class Row:
    """One line of the table. The target is for the ratio where there is one, else for our figure; a row without a
    target is for information."""

    what: str
    ours: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool | None:
        value = self.ours if self.ratio is None else self.ratio
        if self.least is None and self.most is None:
            return None
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


def need(*packages: str) -> None:
    """Refuse to go on without the peers' packages."""
    if missing := [name for name in packages if importlib.util.find_spec(name) is None]:
        raise UsageError(f"the peers need {', '.join(missing)}: pip install 'lengthwise[bench]'")


def median_seconds(work: Callable[[], Any], repetitions: int) -> float:
    """The median counts, so that a pause of the machine does not."""
    seconds = []
    for _ in range(repetitions):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def load() -> float | None:
    """Processes that wanted a core over the last minute. To be asked before a benchmark begins: it is a load itself."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def write_table(rows: list[Row], busy: float | None) -> None:
    """The rows in columns, and a warning where the machine was busy with other work before."""
    head = ("what", "ours", "peer", "ratio", "target", "met")
    lines = [head, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        cells = [text.ljust(width) for text, width in zip(line, widths, strict=True)]
        print("  ".join(cells).rstrip())
    if busy is not None and busy > QUIET:
        print(f"the machine was busy before this began (load {busy:.1f}): a target met or missed so shows nothing")


def _cells(row: Row) -> tuple[str, ...]:
    peer = "" if row.peer is None else f"{_figure(row.peer)} {row.unit} ({row.peer_name})"
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
    target = f">= {_figure(row.least)}" if row.least is not None else ""
    target = f"<= {_figure(row.most)}" if row.most is not None else target
    met = {True: "yes", False: "NO", None: ""}[row.met]
    return row.what, f"{_figure(row.ours)} {row.unit}", peer, ratio, target, met


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def missed(rows: list[Row]) -> int:
    """The exit code: 1 when a target is missed."""
    return int(any(row.met is False for row in rows))


def standalone(measure: Callable[[bool], list[Row]], about: str | None) -> int:
    """Run one benchmark by itself."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="small counts: does it run?")
    busy = load()
    try:
        rows = measure(parser.parse_args().quick)
    except LengthwiseError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return error.exit_code
    write_table(rows, busy)
    return missed(rows)
