"""Where text goes and how wide it is: results on stdout, narration on stderr, one object for programs."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.terminal import cells, lines_of

SCHEMA = 1
_LABEL = 12
_SENTENCE = 1_000  # characters


def width() -> int:
    """The columns text is wrapped to: those of the terminal, but 80 where there is none and 100 at most."""
    return min(100, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80


def complain(message: str) -> None:
    """One sentence on stderr, without the middle of one that repeats a very long argument."""
    message = " ".join(message.split())
    if len(message) > _SENTENCE:
        message = f"{message[: _SENTENCE // 2]} … {message[-_SENTENCE // 2 :]}"
    print(f"lengthwise: {message}", file=sys.stderr)


def narrate(message: str, quiet: bool) -> None:
    """What a person may want to know in addition to the result."""
    if not quiet:
        print(message, file=sys.stderr)


def warn(warnings: list[str], quiet: bool) -> None:
    """What a task has to say about itself, such as a size at which nothing is left for testing."""
    for warning in warnings:
        narrate(f"warning: {warning}", quiet)


@contextlib.contextmanager
def written(name: str, quiet: bool, what: str = "figure") -> Iterator[None]:
    """Write a file inside the block: what the file system refuses is one sentence, and in the end it is said where the
    file is."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or name}: {error.strerror or error}") from error
    narrate(f"{what} in {name}", quiet)


def write_object(command: str, content: dict[str, Any]) -> None:
    """The one object of `--json`."""
    print(json.dumps({"schema": SCHEMA, "command": command, **content}, allow_nan=False))


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Text in lines of `width()` columns, the first behind `first` and the others behind `rest`."""
    if cells(first) > width() // 2:  # a label that leaves no room
        text, first = f"{first} {text}", ""
    room = width() - cells(first)
    start, *others = lines_of(text, max(8, room), max(0, cells(rest) - cells(first)))
    return "\n".join([first + start, *(rest + line for line in others)])


def write_paragraphs(text: str) -> None:
    """Every paragraph wrapped, with an empty line between two."""
    print("\n\n".join(wrapped(" ".join(part.split())) for part in text.strip().split("\n\n")))


def write_heading(title: str) -> None:
    """A title that is underlined, after an empty line."""
    lines = lines_of(title, width())
    print("", *lines, "─" * max(map(cells, lines)), sep="\n")


def write_list(texts: Iterable[str], mark: str = "• ", indent: str = "") -> None:
    """Each text wrapped behind a mark."""
    for text in texts:
        print(wrapped(text, indent + mark, indent + "  "))


def write_field(label: str, text: str) -> None:
    """A label, followed by its text."""
    print(wrapped(text, f"{label:<{_LABEL}}", " " * _LABEL))


def write_rows(rows: list[tuple[str, str]]) -> None:
    """A name and a description a line: cut to the width of a terminal, whole where a program reads them."""
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    wide = min(27, max(len(name) for name, _ in rows))
    for name, text in rows:
        line = f"{name:<{wide}} {text}"
        print(line if most is None or len(line) <= most else line[: most - 1] + "…")
