"""A study file: TOML, read with a sentence that names file and line and written so that it reads back equal; presets;
and paths, which are relative to the folder of the file.

The standard library reads TOML and does not write it. What is written here is what a study needs: texts, numbers,
truth values, lists of these, tables, and lists of tables.

Presets of a study: the same question asked in minutes or overnight.

    tasks = ["subset_sum"]
    seeds = 1

    [preset.small]                        # the first one is taken unless another is named
    training = { steps = 2000 }

    [preset.full]
    seeds = 3
    training = { steps = 20000 }          # also as a table [preset.full.training]

A preset holds keys of a study and is laid over them: tables are merged key by key, all else is replaced. What comes
out is a study without presets, named STUDY for the first and STUDY-PRESET for any other, so that they have folders of
their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UnknownName, UsageError
from lengthwise.positions import parts_of
from lengthwise.reading import parse_toml, read_text
from lengthwise.registry import nearest, parse_spec, with_commas
from lengthwise.runs.plan import SETTINGS
from lengthwise.studies.form import table

_WIDTH = 100  # a list that is longer than this is written one entry a line
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
KEY = "preset"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
# The setting of a task that is a path.
_FILES = {"jsonl": "path", "layout": "path", "regular": "dfa", "regular_member": "dfa", "prose": "path"}
# The keys of a study whose values are specs, wherever in it they stand.
_SPECS = {"tasks", "positions", "task", "position", "probes", "analyses"}
_SPECS |= {name for name, one in SETTINGS.items() if one.registry is not None}


def read_toml_file(path: Path) -> dict[str, Any]:
    """The content of a TOML file; what is wrong with it is said with the file and the line."""
    return parse_toml(read_text(path), str(path))


def write_toml(content: Mapping[str, Any]) -> str:
    """The text of a table: plain values first, then tables, then lists of tables, each in the order given."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping) and not _is_tables(value)}
    parts = [_lines(plain)] if plain else []
    for key, value in content.items():
        if isinstance(value, Mapping):
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
    if isinstance(value, Mapping):
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
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\]', lambda m: _SHORT.get(m[0]) or f"\\u{ord(m[0]):04X}", text) + '"'


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, Mapping) for one in value)


def preset_names(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The presets of a study file, in their order."""
    return tuple(_presets(content))


def with_preset(content: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """The content of a study file with a preset laid over it, the first unless named; it holds no presets any more."""
    presets, study = _presets(content), content.get("name")
    plain = {key: value for key, value in content.items() if key != KEY}
    if not presets:
        if name is not None:
            raise UsageError(f"the study {study} has no presets, so the preset {name} chooses nothing; leave it out")
        return plain
    first = next(iter(presets))
    chosen = first if name is None else name
    if chosen not in presets:
        known = ", ".join(presets)
        raise UnknownName(f"the study {study} has no preset {chosen!r}; {nearest(chosen, presets)}it has {known}")
    merged = dict(plain)
    for key, given in presets[chosen].items():
        both = isinstance(plain.get(key), Mapping) and isinstance(given, Mapping)
        merged[key] = {**plain[key], **given} if both else given
    return merged if chosen == first else {**merged, "name": f"{study}-{chosen}"}


def _presets(content: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    given = table(content.get(KEY, {}), f"[{KEY}]")
    for name, keys in given.items():
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"the name of a preset ends that of a folder: up to 32 letters, digits, _ and -, not {name!r}"
            )
        for key in table(keys, f"[{KEY}.{name}]"):
            if key in ("name", KEY):
                raise UsageError(
                    f"[{KEY}.{name}] has a key {key!r}; it takes the other keys of a study, such as seeds or training"
                )
    return dict(given)


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
    elif name in ("along", "hinted") and "task" in settings:  # a spec in which semicolons separate the settings
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
