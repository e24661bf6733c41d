"""Files of sequences, one per line: JSONL with "tokens" or a text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.reading import line_text, lines_in, open_file, parse_json


def lines_of(path: Path, content: hashlib._Hash | None = None) -> Iterator[tuple[str, str]]:
    """Each line with its place in words, such as "x.jsonl, line 3"; `content` is fed the bytes that were read."""
    with open_file(path) as file:
        for number, line in lines_in(file, path):
            if content is not None:
                content.update(line)
            yield f"{path}, line {number}", line_text(line, number, path)


def object_in(line: str, where: str) -> dict[str, Any]:
    """The JSON object that a line holds."""
    try:
        found = parse_json(line)
    except ValueError as error:
        raise UsageError(f"{where}, is not JSON ({error}); a line is one object") from None
    if not isinstance(found, dict):
        raise UsageError(f'{where}: a line is {{"text": "…"}} or {{"tokens": [3, 1, 2]}}')
    return found


def whole_numbers(tokens: object, where: str) -> list[int]:
    """Tokens as they stand in a file."""
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        raise UsageError(f'{where}: "tokens" is a list of whole numbers, as in {{"tokens": [3, 1, 2]}}')
    return tokens
