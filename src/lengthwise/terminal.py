"""Text on its way to a terminal, where names and texts from data must not act as commands.

A terminal obeys control characters: with them a task's name could hide a line, rewrite one that was printed before, or
turn the direction of reading. Everything that is printed while a command runs passes a stream that shows them instead
(`\\x1b`, `\\u202e`). What draws here on purpose, a live line or a bar, asks for the terminal itself and makes the
texts it draws visible first.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from lengthwise.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress

# Control characters but tab and line feed; marks and overrides of direction; separators that end a line.
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


_wrote, _bars = time.monotonic(), 0  # when something was last written, and how many bars are drawn now


def silence() -> float:
    """Seconds since something was last written; none while a bar is drawn, which moves by itself."""
    return 0.0 if _bars else time.monotonic() - _wrote


def visible(text: str) -> str:
    """The text with every character that a terminal would obey written out, as in a Python string."""
    return _ACTS.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: wide letters take two, marks that join another letter none."""
    if text.isascii():
        return len(text)
    joined = sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
    return len(text) - joined + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def lines_of(text: str, wide: int, hang: int = 0) -> list[str]:
    """Text in lines of at most this many columns, those after the first `hang` columns shorter. Lines are broken
    between words, and inside a word only where it is longer than a line."""
    lines = [""]
    for word in visible(" ".join(text.split())).split(" "):
        room = wide - (hang if len(lines) > 1 else 0)
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) > room:
            lines.append("")
            room = wide - hang
        lines[-1] += f" {word}" if lines[-1] else word
        while cells(lines[-1]) > room:
            line, rest = _cut(lines[-1], max(2, room))
            lines[-1:] = [line, rest]
            room = wide - hang
    return lines


def _cut(text: str, wide: int) -> tuple[str, str]:
    """The beginning that fits into these columns, and the rest."""
    most = min(len(text), 4 * wide)  # a letter that carries more marks than that is cut off from them
    taken = next((end for end in range(most, 1, -1) if cells(text[:end]) <= wide), 1)
    return text[:taken], text[taken:]


class _Results:
    """stdout: what cannot be written there is an error, but for a reader that went away, as `head` does."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        with self._writing():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._writing():
            self.stream.flush()

    def _writing(self) -> contextlib.AbstractContextManager[Any]:
        return _needed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"standard output cannot be written: {error.strerror}") from error


class _Narration(_Results):
    """stderr: what cannot be written there is lost. A full disk below a log, a terminal that was closed or a reader
    that went away is no reason to give up hours of training."""

    def _writing(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.suppress(OSError)


class _Visible:
    """A stream whose text is made visible; in all else the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        global _wrote
        self.stream.write(visible(text))
        _wrote = time.monotonic()
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Streams that a command can rely on, inside the block: none is closed, each takes every sign of Unicode, and only
    a failure of stdout is an error."""
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:  # a file opened later would take its number, and get what others print
            setattr(sys, name, os.fdopen(_nothing(flags), "w" if flags else "r", encoding="utf-8"))
    before = sys.stdout, sys.stderr
    for stream in before:
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")  # a sign that the terminal cannot show is no reason to fail
    sys.stdout, sys.stderr = cast(TextIO, _Results(before[0])), cast(TextIO, _Narration(before[1]))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in before:
            _emptied(stream)


def _nothing(flags: int) -> int:
    """The null device, open for processes that are started from here too."""
    number = os.open(os.devnull, flags)
    os.set_inheritable(number, True)
    return number


def _emptied(stream: TextIO) -> None:
    """What was reported as lost is not tried again when Python ends, which would change the exit code."""
    try:
        stream.flush()
    except OSError:
        os.dup2(_nothing(os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def visible_streams() -> Iterator[None]:
    """Let stdout and stderr show control characters instead of sending them, inside the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, stream and _Visible(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def live_bars(*columns: Any) -> Iterator[Progress]:
    """Bars of rich on stderr. Its columns take texts as they are, and what is printed meanwhile stands above them."""
    from rich.console import Console
    from rich.progress import Progress

    global _bars, _wrote
    bars = Progress(*columns, console=Console(file=_itself()), transient=True, refresh_per_second=4)
    _bars += 1
    try:
        with bars, visible_streams():  # rich puts streams of its own in the place of ours
            yield bars
    finally:
        _bars, _wrote = _bars - 1, time.monotonic()


def _itself() -> TextIO:
    """The terminal behind stderr."""
    stream: Any = sys.stderr
    while isinstance(stream, _Visible):
        stream = stream.stream
    return stream
