"""Files that a user names, and files that came from elsewhere: the one place that opens them to read.

A path may lead to a pipe, a device without an end, a folder or a link that leads to itself; a text may be in another
encoding, or one line of gigabytes; JSON may be nested until the parser gives up, or hold whole numbers of thousands of
digits, numbers that are not finite and halves of characters. All of these end in one sentence with the path in it.
Regular files alone are read, and no more of one than its limit.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import re
import stat
import tokenize
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from lengthwise.errors import UsageError

MOST_DATA = 2 << 30  # bytes of a file that is read line by line, or holds numbers
MOST_WHOLE = 256 << 20  # of a file that is read whole: the record of a run, a summary, an atlas
MOST_TEXT = 32 << 20  # of what people write: texts, automata, programs, study files, Python files
MOST_LINE = 4 << 20  # of one line
MOST_FIELD = 1 << 20  # characters of a field of a CSV file
LARGEST = 2**63 - 1  # what a whole number in a file may be

# What NumPy raises on a damaged file of arrays: its header is parsed as Python, and its archive unpacked.
ARRAY_FAULTS = (
    *(ValueError, TypeError, OverflowError, EOFError, OSError, KeyError, SyntaxError, tokenize.TokenError),
    *(MemoryError, RecursionError, NotImplementedError, zlib.error),
)

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_DIGITS = re.compile(r"\d{19}|[eE]\+?\d{3}")  # only such texts can hold numbers that are too large
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # how half of a character is written


def open_file(path: str | Path) -> io.BufferedReader:
    """A regular file, opened to read its bytes; anything else is a usage error. Nothing waits for a pipe's writer."""
    stamp_of(path)
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        number = os.open(path, flags)
    except (OSError, ValueError) as error:
        _refuse(path, error)
    try:
        _check_regular(os.fstat(number), path)  # it may have been replaced since
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def place_of(path: str | Path) -> Path:
    """Where a path leads, links followed. A link that leads to itself stays as it is, and cannot be opened."""
    return Path(os.path.realpath(path))


def stamp_of(path: str | Path) -> tuple[int, ...]:
    """What changes when a file does; a usage error where it is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        _refuse(path, error)
    _check_regular(found, path)
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def read_bytes(path: str | Path, most: int = MOST_WHOLE) -> bytes:
    """The content of a file, at most `most` bytes."""
    with open_file(path) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            _refuse(path, error)
    if len(content) > most:
        raise UsageError(f"{path} has more than {_size(most)}, and no more of such a file is read")
    return content


def read_text(path: str | Path, most: int = MOST_TEXT) -> str:
    """The text of a file in UTF-8, without a mark of byte order, with one sign at the end of each line."""
    content = read_bytes(path, most)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line}: this is not UTF-8 text; save the file in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_in(file: BinaryIO, path: str | Path, most: int = MOST_LINE) -> Iterator[tuple[int, bytes]]:
    """The lines of an open file as bytes, numbered from 1."""
    number, done = 0, 0
    try:
        while line := file.readline(most + 1):
            number, done = number + 1, done + len(line)
            if len(line) > most:
                raise UsageError(f"{path}, line {number}: a line has at most {_size(most)}, and this one has more")
            if done > MOST_DATA:
                raise UsageError(f"{path} has more than {_size(MOST_DATA)}, and no more of such a file is read")
            yield number, line
    except OSError as error:
        _refuse(path, error)


def read_lines(path: str | Path, most: int = MOST_LINE) -> Iterator[tuple[int, str]]:
    """The lines of a text in UTF-8 without their ends, numbered from 1."""
    with open_file(path) as file:
        for number, line in lines_in(file, path, most):
            yield number, line_text(line, number, path)


def line_text(line: bytes, number: int, path: str | Path) -> str:
    """A line as text, without its end; a mark of byte order before the first line is dropped."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise UsageError(f"{path}, line {number}: this is not UTF-8 text; save the file in UTF-8") from None


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds. A ValueError says in words what is wrong, for a caller that knows where it stands: also
    what is nested too deeply, whole numbers beyond 64 bits, numbers that are not finite, and halves of characters."""
    text = text if isinstance(text, str) else text.decode("utf-8-sig")
    hooks: dict[str, Any] = {"parse_int": _whole, "parse_float": _number} if _DIGITS.search(text) else {}
    try:
        found = json.loads(text, parse_constant=_constant, **hooks)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _HALF.search(text):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a text in it holds half of a character (a surrogate)") from None
    return found


def read_json_file(path: str | Path, most: int = MOST_WHOLE) -> Any:
    """The content of a JSON file; one that is missing or broken is a usage error that names it."""
    return _parsed(read_bytes(path, most), path)


def read_packed_json(path: str | Path) -> Any:
    """The content of a JSON file that was compressed with gzip, which may unpack to no more than one that was not."""
    packed = io.BytesIO(read_bytes(path))
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            content = file.read(MOST_WHOLE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be unpacked: {error}") from None
    if len(content) > MOST_WHOLE:
        raise UsageError(f"{path} unpacks to more than {_size(MOST_WHOLE)}, and no more of such a file is read")
    return _parsed(content, path)


def read_csv(path: str | Path) -> list[list[str]]:
    """The rows of a CSV file, without the empty ones."""
    text = read_text(path, MOST_WHOLE)
    before = csv.field_size_limit(MOST_FIELD)
    try:
        return [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as text with commas between: {error}") from None
    finally:
        csv.field_size_limit(before)


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The content of a TOML text; what is wrong with it is said with the file and the line."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{where} is not TOML: its lists are nested too deeply") from None
    except ValueError as error:
        said = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL)
        if not said:  # a number too long to read, for one
            raise UsageError(f"{where} is not TOML: {error}") from None
        line = said[2] or text.count("\n") + 1
        raise UsageError(f"{where}, line {line} is not TOML: {said[1]}") from None


def _parsed(content: bytes, path: str | Path) -> Any:
    try:
        return parse_json(content)
    except ValueError as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}") from None


def _check_regular(found: os.stat_result, path: str | Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a device")
        raise UsageError(f"{path} cannot be read: it is {kind}; give a file")


def _refuse(path: str | Path, error: OSError | ValueError) -> NoReturn:
    raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _size(most: int) -> str:
    return f"{most >> 30} GB" if most >= 1 << 30 else f"{most >> 20} MB" if most >= 1 << 20 else f"{most:,} bytes"


def _whole(text: str) -> int:
    if len(text) > 20 or abs(value := int(text)) > LARGEST:
        raise ValueError(f"a whole number must have at most 64 bits, not the {len(text)} digits of {text[:12]}…")
    return value


def _number(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:24]} is not a finite number of 64 bits")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")
