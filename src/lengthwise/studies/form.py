"""The keys of a study and what they take. What may be written in several ways is kept in one, so that a study written
in Python equals the one written in TOML; a mistake is one sentence that names the key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SEEDS
from lengthwise.registry import nearest
from lengthwise.runs import plan

Scalar = str | int | float | bool
Values = tuple[Any, ...]
TestSize = int | tuple[int, ...] | None

# The settings of models and of training, in the order in which axes multiply, and the type of what is written for each.
MODEL: Mapping[str, type] = {name: one.kind for name, one in plan.MODEL.items()}
TRAINING: Mapping[str, type] = {name: one.kind for name, one in plan.TRAINING.items()}
# What says which run it is, apart from its settings.
PLACE = {"task": str, "position": str, "train_size": int, "test_size": int, "items": int, "seed": int}

_TAKEN = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_SLUG = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-])?")
_MATCHED = ("task", "position")
_REPLACED = ("train_size", "test_size", "items", "seeds", "probes", "model", "training")
_LISTS = ("tasks", "positions", "train_size", "test_size", "seeds", "probes", "analyses")  # written as lists


@dataclass(frozen=True)
class Budget:
    """The most a study may take: minutes of wall time, number of runs. None is no limit."""

    minutes: float | None = None
    runs: int | None = None


def in_one_form(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study from its arguments; whatever cannot be meant is a usage error that names its key."""
    tables = ("model", "training", "budget")
    form = {key: read(given[key], f"[{key}]" if key in tables else key) for key, read in _READERS.items()}
    if not 0 <= form["keep"] <= 1:
        raise UsageError(f"keep must be a share of items in [0, 1], not {form['keep']}")
    if form["threads"] < 1:
        raise UsageError(f"threads must be at least 1, not {form['threads']}")
    paired_test_sizes(form["train_size"], form["test_size"])
    return form


def plain_field(key: str, value: Any) -> Any:
    """A field of a study, an override or an exclusion as it is written in TOML."""
    if isinstance(value, Budget):
        return {name: limit for name, limit in vars(value).items() if limit is not None}
    if isinstance(value, Mapping):
        return {inner: plain_field(inner, one) for inner, one in value.items()}
    if key in ("exclude", "override"):
        return [plain_field("", one) for one in value]
    if not isinstance(value, tuple):
        return value
    return list(value) if key in _LISTS or len(value) != 1 else value[0]


def paired_test_sizes(train_size: tuple[int, ...], test_size: TestSize) -> tuple[int | None, ...]:
    """The test size of every training size; None stands for the usual one."""
    if not isinstance(test_size, tuple):
        return (test_size,) * len(train_size)
    if len(test_size) != len(train_size):
        raise UsageError(
            f"test_size is one number or one per training size, and there are {len(test_size)} test sizes for "
            f"{len(train_size)} training sizes"
        )
    return test_size


def only_known(given: Mapping[Any, Any], known: Iterable[str], where: str) -> None:
    """Refuse a key that nobody knows, and suggest the nearest."""
    known = list(known)
    for key in given:
        if key not in known:
            raise UsageError(f"{where} has no key {key!r}; {nearest(str(key), known)}it has {', '.join(known)}")


def table(given: Any, where: str) -> Mapping[str, Any]:
    """What was given, if it is a table."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{where} must be a table of keys and values, not {given!r}")
    return given


def _one(wanted: type) -> Callable[[Any, str], Any]:
    """A single value of a type; a whole number serves as a number."""

    def read(given: Any, key: str) -> Any:
        if wanted is float and type(given) is int:
            given = float(given) if abs(given) < 2**1000 else math.inf
        if type(given) is not wanted:
            raise UsageError(f"{key} takes {_TAKEN[wanted]}, not {given!r}")
        if wanted is float and not math.isfinite(given):
            raise UsageError(f"{key} takes a finite number, not {given!r}")
        if wanted is str:
            _check_text(given, key)
        return given

    return read


def _list_of(given: Any, wanted: type, key: str) -> Values:
    """At least one value, given alone or in a list."""
    entries = given if isinstance(given, list | tuple) else (given,)
    if not entries:
        raise UsageError(f"{key} is empty; it takes {_TAKEN[wanted]} or a list of them")
    return tuple(_one(wanted)(entry, key) for entry in entries)


def _several(wanted: type) -> Callable[[Any, str], Values]:
    """The values of an axis: at least one, each once."""

    def read(given: Any, key: str) -> Values:
        entries = _list_of(given, wanted, key)
        for place, entry in enumerate(entries):
            if entry in entries[:place]:
                raise UsageError(f"{key} has {entry!r} twice; every value counts once")
        return entries

    return read


def _seeds(given: Any, key: str) -> tuple[int, ...]:
    """`3` is the seeds 0, 1 and 2; a list names them."""
    if type(given) is not int:
        return _several(int)(given, key)
    if not 1 <= given <= MOST_SEEDS:
        raise UsageError(
            f"{key} = {given} asks for that many seeds, and 1 to {MOST_SEEDS} are possible; a list, [{given}], "
            "names the seeds themselves"
        )
    return tuple(range(given))


def _axes(known: Mapping[str, type]) -> Callable[[Any, str], dict[str, Values]]:
    """The axes of [model] or [training], in the order in which they multiply, or what an exclusion matches."""

    def read(given: Any, where: str) -> dict[str, Values]:
        content = table(given, where)
        only_known(content, known, where)
        return {name: _several(known[name])(content[name], f"{where} {name}") for name in known if name in content}

    return read


def _each(read: Callable[[Mapping[str, Any], str], dict[str, Any]]) -> Callable[[Any, str], tuple[dict[str, Any], ...]]:
    """A list of tables."""

    def read_all(given: Any, key: str) -> tuple[dict[str, Any], ...]:
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise UsageError(f"{key} must be a list of tables, each begun with [[{key}]], not {given!r}")
        numbered = ((one, f"[[{key}]] {number}") for number, one in enumerate(given, start=1))
        return tuple(read(table(one, where), where) for one, where in numbered)

    return read_all


def _slug(name: Any, key: str) -> str:
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise UsageError(
            f"the {key} of a study is also a folder name: up to 64 letters, digits and ._+-, such as my-study, "
            f"not {name!r}"
        )
    return name


def _test_size(given: Any, key: str) -> TestSize:
    if given is None:
        return None
    first, *more = _list_of(given, int, key)
    return (first, *more) if more else first


def _exclusion(given: Mapping[str, Any], where: str) -> dict[str, Values]:
    if not given:
        raise UsageError(
            f"{where} is empty and would leave out every run; it takes keys such as task, position or depth"
        )
    return _axes({**PLACE, **MODEL, **TRAINING})(given, where)


def _override(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    only_known(given, (*_MATCHED, *_REPLACED), where)
    if not any(key in given for key in _MATCHED):
        raise UsageError(f"{where} does not say which task or position it is for")
    if not any(key in given for key in _REPLACED):
        raise UsageError(f"{where} does not say what it replaces, such as training = {{ steps = 4000 }}")
    readers = {**dict.fromkeys(_MATCHED, _several(str)), **{key: _READERS[key] for key in _REPLACED}}
    return {key: read(given[key], f"{where} {key}") for key, read in readers.items() if key in given}


def _budget(given: Any, where: str) -> Budget:
    given = table(plain_field("", given), where)
    kinds = {"minutes": float, "runs": int}
    only_known(given, kinds, where)
    limits = {key: _one(kind)(given[key], f"{where} {key}") for key, kind in kinds.items() if key in given}
    for key, limit in limits.items():
        if not limit > 0:
            raise UsageError(f"{where} {key} must be above 0, not {limit}")
    return Budget(**limits)


def _check_text(text: str, key: str) -> None:
    """A text that UTF-8 cannot hold could not be written down again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{key} holds half a character, {text!r}; it takes text that UTF-8 can write") from None


# The keys of a study, and how the value of each is read.
_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "name": _slug,
    "question": _one(str),
    "tasks": _several(str),
    "positions": _several(str),
    "train_size": _several(int),
    "test_size": _test_size,
    "items": _one(int),
    "seeds": _seeds,
    "keep": _one(float),
    "threads": _one(int),
    "budget": _budget,
    "probes": _several(str),
    "analyses": lambda given, key: _several(str)(given, key) if given else (),
    "model": lambda given, key: _axes(MODEL)({"model": given} if isinstance(given, str | list | tuple) else given, key),
    "training": _axes(TRAINING),
    "exclude": _each(_exclusion),
    "override": _each(_override),
}
