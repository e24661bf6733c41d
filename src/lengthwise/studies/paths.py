"""Paths in a study file: relative to the folder of the file, wherever the study is started from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.positions import parts_of
from lengthwise.registry import parse_spec, with_commas
from lengthwise.runs.plan import SETTINGS

# The setting of a task that is a path.
_FILES = {"jsonl": "path", "regular": "dfa", "regular_member": "dfa", "prose": "path"}


# The keys of a study whose values are specs, wherever in it they stand.
_SPECS = {"tasks", "positions", "task", "position", "probes", "analyses"}
_SPECS |= {name for name, one in SETTINGS.items() if one.registry is not None}


def anchored_study(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content of a study file with the paths in its specs made absolute; wrong types are left for others to say."""
    return {key: _anchored_in(key, value, folder) for key, value in data.items()}


def _anchored_in(key: str, value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_anchored_in(key, one, folder) for one in value]
    if isinstance(value, dict):
        return {inner: _anchored_in(inner, one, folder) for inner, one in value.items()}
    if not (isinstance(value, str) and key in _SPECS):
        return value
    parts = parts_of(value) if key.startswith("position") else [value]
    return "+".join(anchored(part, folder) for part in parts)


def anchored(spec: str, folder: Path) -> str:
    """A spec with its path, if it has one, made absolute: `mytask.py::Repeat`, `jsonl:path=items.jsonl`."""
    try:
        name, settings = parse_spec(spec)
    except UsageError:  # told when the object is made, with a better sentence
        return spec
    file, colons, wanted = name.partition("::")
    changed = dict(settings)
    if file.endswith(".py"):
        name = f"{_absolute(file, folder)}{colons}{wanted}"
    elif name == "along" and "task" in settings:  # its base is a spec in which semicolons separate the settings
        base = anchored(with_commas(settings["task"]), folder)
        changed["task"] = re.sub(r",(?=\s*\w+=)", ";", base)
    elif settings.get(_FILES.get(name, "")):
        key = _FILES[name]
        changed[key] = _absolute(settings[key], folder)
    else:
        return spec
    return f"{name}:{','.join(f'{key}={value}' for key, value in changed.items())}" if changed else name


def _absolute(path: str, folder: Path) -> str:
    return os.path.normpath(folder / path)
