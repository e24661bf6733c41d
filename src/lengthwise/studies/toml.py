"""TOML as studies are written in: read with a sentence that names file and line, written so that it reads back equal.

The standard library reads TOML and does not write it. What is written here is what a study needs: texts, numbers,
truth values, lists of these, tables, and lists of tables.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError

_WIDTH = 100  # a list that is longer than this is written one entry a line
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def read_toml(text: str, where: str) -> dict[str, Any]:
    """The content of a TOML text; what is wrong with it is said with the file and the line."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{where} is not a study: its lists are nested too deeply") from None
    except ValueError as error:
        said = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL)
        if not said:  # a number too long to read, for one
            raise UsageError(f"{where} is not TOML: {error}") from None
        line = said[2] or text.count("\n") + 1
        raise UsageError(f"{where}, line {line} is not TOML: {said[1]}") from None


def read_toml_file(path: Path) -> dict[str, Any]:
    """The same of a file."""
    try:
        return read_toml(path.read_text(encoding="utf-8-sig"), str(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line} is not TOML: it holds a byte that is not UTF-8") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def write_toml(content: Mapping[str, Any]) -> str:
    """The text of a table: plain values first, then tables, then lists of tables, each in the order given."""
    plain = {key: value for key, value in content.items() if not _is_table(value) and not _is_tables(value)}
    parts = [_lines(plain)] if plain else []
    for key, value in content.items():
        if _is_table(value):
            parts.append(f"[{_key(key)}]\n{_lines(value)}")
        elif _is_tables(value):
            parts.extend(f"[[{_key(key)}]]\n{_lines(one)}" for one in value)
    return "\n".join(parts)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return repr(value)
    if _is_table(value):
        return "{ " + ", ".join(f"{_key(key)} = {_flat(one)}" for key, one in value.items()) + " }" if value else "{}"
    flat = _flat(value)
    if len(flat) <= _WIDTH:
        return flat
    return "[\n" + "".join(f"    {_flat(one)},\n" for one in value) + "]"


def _flat(value: Any) -> str:
    """A value on one line, as it must be inside an inline table."""
    return "[" + ", ".join(map(_flat, value)) + "]" if isinstance(value, list | tuple) else _value(value)


def _text(text: str) -> str:
    """A basic string: quotes, backslashes and control characters are escaped, all else stands as it is."""
    return '"' + "".join(_SHORT.get(char) or (char if _stands(char) else f"\\u{ord(char):04X}") for char in text) + '"'


def _stands(char: str) -> bool:
    return ord(char) >= 0x20 and ord(char) != 0x7F


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_table(one) for one in value)
