"""What a sound index holds: each value of the type that the coordinator wrote. An index may be damaged, or come from
elsewhere with the study; what is wrong with it is a ValueError here, which the index turns into its sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from lengthwise.studies.record import State

_NUMBER = (int, float)
_MAYBE = (*_NUMBER, type(None))
_RUN: dict[Any, tuple[str, ...]] = {
    str: ("key", "task", "position", "variant", "state", "reason", "ended"),
    int: ("seed", "train_size", "test_size", "items", "attempts"),
    _MAYBE: ("seconds",),
}
_DONE: dict[Any, tuple[str, ...]] = {int: ("reach",), _MAYBE: ("in_range", "twice", "thrice"), _NUMBER: ("chance",)}
_FACTS: dict[str, Any] = {
    **dict.fromkeys(("study", "tasks", "environment", "shifts_failed", "progress"), dict),
    **dict.fromkeys(("toml", "command", "executor"), str),
    "shifts": list,
    "seconds": _NUMBER,
}
_SHOWN = 40  # characters of a wrong value


def fact(name: str, content: str) -> Any:
    """A fact about a study."""
    found = json.loads(content)
    if found is not None and not isinstance(found, _FACTS.get(name, object)):
        raise ValueError(f"what it says of {name} is {str(found)[:_SHOWN]!r}")
    return found


def check_run_values(values: Mapping[str, Any], summed: Mapping[str, Any]) -> None:
    """Check the columns of a run, and those of its summary where it is done."""
    _check_types(values, _RUN)
    if values["state"] not in get_args(State):
        raise ValueError(f"the state of a run is {values['state'][:_SHOWN]!r}")
    if values["state"] == "done":
        _check_types(summed, _DONE)


def check_stored(stored: Mapping[str, str]) -> Mapping[str, str]:
    """The records of a run: texts by names."""
    for slug, content in stored.items():
        if not (isinstance(slug, str) and isinstance(content, str)):
            raise ValueError(f"a record of a run is {str(slug)[:_SHOWN]!r}: {str(content)[:_SHOWN]!r}")
    return stored


def mapping(text: str) -> dict[str, Any]:
    """The settings or the results of a run."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"the settings or results of a run are {text[:_SHOWN]!r}")
    return found


def _check_types(values: Mapping[str, Any], types: Mapping[Any, tuple[str, ...]]) -> None:
    wrong = next((name for kind, names in types.items() for name in names if not isinstance(values[name], kind)), None)
    if wrong is not None:
        raise ValueError(f"the {wrong.replace('_', ' ')} of a run is {str(values[wrong])[:_SHOWN]!r}")
