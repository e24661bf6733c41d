"""Files of sequences, one per line: JSONL with "tokens" or a text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError


def lines_of(path: Path, content: hashlib._Hash | None = None) -> Iterator[tuple[str, str]]:
    """Each line with its place in words, such as "x.jsonl, line 3"; `content` is fed the bytes that were read."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if content is not None:
                    content.update(line)
                yield f"{path}, line {number}", line.decode("utf-8").strip("\r\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a text in UTF-8: {error}; save it as such") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def object_in(line: str, where: str) -> dict[str, Any]:
    """The JSON object that a line holds."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"{where}, is not JSON ({error.msg}); a line is one object") from None
    if not isinstance(found, dict):
        raise UsageError(f'{where}: a line is {{"text": "…"}} or {{"tokens": [3, 1, 2]}}')
    return found


def whole_numbers(tokens: object, where: str) -> list[int]:
    """Tokens as they stand in a file."""
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        raise UsageError(f'{where}: "tokens" is a list of whole numbers, as in {{"tokens": [3, 1, 2]}}')
    return tokens
