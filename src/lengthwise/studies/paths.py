"""Paths in a study file: relative to the folder of the file, wherever the study is started from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.registry import parse_spec, with_commas

# The setting of a task that is a path.
_FILES = {"jsonl": "path", "regular": "dfa", "regular_member": "dfa", "prose": "path"}


def anchored_study(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content of a study file with the paths in its tasks made absolute; wrong types are left for others to say."""
    content = {**data, "tasks": _anchored_all(data["tasks"], folder)} if "tasks" in data else dict(data)
    for key in ("exclude", "override"):
        if isinstance(content.get(key), list):
            content[key] = [
                {**one, "task": _anchored_all(one["task"], folder)} if isinstance(one, dict) and "task" in one else one
                for one in content[key]
            ]
    return content


def anchored(spec: str, folder: Path) -> str:
    """A task spec with its path, if it has one, made absolute: `mytask.py::Repeat`, `jsonl:path=items.jsonl`."""
    try:
        name, settings = parse_spec(spec)
    except UsageError:  # told when the task is made, with a better sentence
        return spec
    file, colons, wanted = name.partition("::")
    changed = dict(settings)
    if file.endswith(".py"):
        name = f"{_absolute(file, folder)}{colons}{wanted}"
    elif name == "along" and "task" in settings:  # its base is a spec in which semicolons part the settings
        base = anchored(with_commas(settings["task"]), folder)
        changed["task"] = re.sub(r",(?=\s*\w+=)", ";", base)
    elif settings.get(_FILES.get(name, "")):
        key = _FILES[name]
        changed[key] = _absolute(settings[key], folder)
    else:
        return spec
    return f"{name}:{','.join(f'{key}={value}' for key, value in changed.items())}" if changed else name


def _anchored_all(given: Any, folder: Path) -> Any:
    if isinstance(given, list):
        return [_anchored_all(one, folder) for one in given]
    return anchored(given, folder) if isinstance(given, str) else given


def _absolute(path: str, folder: Path) -> str:
    return os.path.normpath(folder / path)
