"""The axes of a study and the values they take: which keys there are, of which type, and how a value is written.

A value may be given alone or in a list; either way it is kept as a tuple, so that what was written in Python and what
was written in TOML are equal. A mistake is one sentence that names the key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.registry import nearest
from lengthwise.runs import plan

Scalar = str | int | float | bool
Values = tuple[Any, ...]

# The settings of models and of training, in the order in which axes multiply, and the type of what is written for each.
MODEL: Mapping[str, type] = {name: one.kind for name, one in plan.MODEL.items()}
TRAINING: Mapping[str, type] = {name: one.kind for name, one in plan.TRAINING.items()}
# What says which run it is, apart from its settings.
PLACE: Mapping[str, type] = {
    "task": str,
    "position": str,
    "train_size": int,
    "test_size": int,
    "items": int,
    "seed": int,
}
MOST_SEEDS = 1000

_TAKEN = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def only_known(given: Mapping[Any, Any], known: Iterable[str], where: str) -> None:
    """Refuse a key that nobody knows, and suggest the nearest."""
    known = list(known)
    for key in given:
        if key not in known:
            raise UsageError(f"{where} has no key {key!r}; {nearest(str(key), known)}it has {', '.join(known)}")


def table(given: Any, where: str) -> Mapping[str, Any]:
    """What was given, if it is a table."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{where} is a table of keys and values, not {given!r}")
    return given


def tables(given: Any, where: str) -> list[Mapping[str, Any]]:
    """What was given, if it is a list of tables, each with at least one key."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"{where} is a list of tables, each begun with [[{where}]], not {given!r}")
    return [table(one, f"[[{where}]] {number}") for number, one in enumerate(given, start=1)]


def one_value(given: Any, wanted: type, key: str) -> Any:
    """A single value of the type the key has; a whole number serves as a number."""
    if wanted is float and type(given) is int:
        given = _as_float(given)
    if type(given) is not wanted:
        raise UsageError(f"{key} takes {_TAKEN[wanted]}, not {given!r}")
    if wanted is float and not math.isfinite(given):
        raise UsageError(f"{key} takes a finite number, not {given!r}")
    if wanted is str:
        _check_text(given, key)
    return given


def values(given: Any, wanted: type, key: str) -> Values:
    """The values of an axis: at least one, each once."""
    entries = list_of(given, wanted, key)
    for place, entry in enumerate(entries):
        if entry in entries[:place]:
            raise UsageError(f"{key} has {entry!r} twice; every value counts once")
    return entries


def list_of(given: Any, wanted: type, key: str) -> Values:
    """At least one value, given alone or in a list."""
    entries = given if isinstance(given, list | tuple) else (given,)
    if not entries:
        raise UsageError(f"{key} is empty; it takes {_TAKEN[wanted]} or a list of them")
    return tuple(one_value(entry, wanted, key) for entry in entries)


def seeds(given: Any, key: str) -> tuple[int, ...]:
    """`3` is the seeds 0, 1 and 2; a list names them."""
    if type(given) is not int:
        return values(given, int, key)
    if not 1 <= given <= MOST_SEEDS:
        raise UsageError(
            f"{key} = {given} asks for that many seeds, and 1 to {MOST_SEEDS} are possible; a list, [{given}], "
            "names the seeds themselves"
        )
    return tuple(range(given))


def axes(given: Any, known: Mapping[str, type], where: str) -> dict[str, Values]:
    """The axes of [model] or [training], in the order in which they multiply."""
    content = table(given, where)
    only_known(content, known, where)
    return {name: values(content[name], known[name], f"{where} {name}") for name in known if name in content}


def one_or_list(entries: Values) -> Any:
    """An axis as it is written: a value alone where there is only one."""
    return entries[0] if len(entries) == 1 else list(entries)


def _as_float(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return math.inf


def _check_text(text: str, key: str) -> None:
    """A text that UTF-8 cannot hold could not be written down again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{key} holds half a character, {text!r}; it takes text that UTF-8 can write") from None
