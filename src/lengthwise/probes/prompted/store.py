"""Prompts and answers on disk, one line per item, so that a measurement can be stopped and resumed at any item.

A folder holds `request.json`, which says what was asked, and `items.jsonl`, to which every answer is appended as soon
as it is there, in one write. An answer is used again if its prompt is still the same and it was not cut by a smaller
budget; it is scored again every time. An incomplete line, as a crash leaves it, is ignored.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lengthwise.files import write_json, writing
from lengthwise.reading import lines_in, open_file, parse_json
from lengthwise.subjects.completion import Completion

REQUEST, ITEMS, RECORD = "request.json", "items.jsonl", "record.json"
_MOST_NAME = 60
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC  # a link is not written through


def folder_of(parent: str, request: Mapping[str, Any]) -> Path:
    """Where the answers to a request are kept: a folder that is named after it, below `parent`."""
    digest = hashlib.blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=4).hexdigest()
    parts = (re.sub(r"[^A-Za-z0-9_.=+-]+", "-", str(request[name])).strip("-.") for name in ("subject", "task"))
    subject, task = (part[:_MOST_NAME] for part in parts)
    return Path(parent, subject, f"{task}-{digest}")


def stored_items(folder: str | Path) -> dict[tuple[int, int], dict[str, Any]]:
    """The lines of a folder by size and number of the item, the last one of each."""
    return {(line["size"], line["item"]): line for line in _lines(Path(folder, ITEMS))}


class ItemStore:
    """The answers to one request. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None, request: Mapping[str, Any]) -> None:
        self.folder, self._request = folder, dict(request)
        self._known = {} if folder is None else stored_items(folder)

    def find(self, size: int, item: int, prompt: object, budget: int) -> Completion | None:
        """The answer to an item if it is there; None where it must be asked, as after a failure of the server."""
        line = self._known.get((size, item))
        if line is None or line["prompt"] != prompt or line["ending"] == "failed":
            return None
        if line["ending"] in ("length", "overlong") and line["budget"] != budget:
            return None
        return Completion(**{field.name: line[field.name] for field in dataclasses.fields(Completion)})

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line, whole."""
        if self.folder is None:
            return
        with writing(self.folder):
            if not (self.folder / REQUEST).exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                write_json(self.folder / REQUEST, self._request)
            file = os.open(self.folder / ITEMS, _APPEND, 0o666)
            try:
                end = os.lseek(file, 0, os.SEEK_END)
                torn = end > 0 and os.pread(file, 1, end - 1) != b"\n"
                os.write(file, (b"\n" if torn else b"") + json.dumps(dict(line)).encode() + b"\n")
            finally:
                os.close(file)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines that are whole. A later line of an item replaces an earlier one."""
    if not path.exists():
        return
    needed = {"size": int, "item": int, "budget": int, "ending": str, "text": str, "reasoning": str, "said": str}
    with open_file(path) as file:
        for _, text in lines_in(file, path):
            try:
                line = parse_json(text)
            except ValueError:
                continue
            whole = isinstance(line, dict) and all(isinstance(line.get(key), kind) for key, kind in needed.items())
            if whole and {"prompt", "right", "depth", "prompt_tokens", "tokens", "seconds"} <= line.keys():
                yield line
