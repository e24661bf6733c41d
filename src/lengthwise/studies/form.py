"""The parts of a study in one form: what may be written in several ways is kept in one, and written back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.studies.axes import (
    MODEL,
    PLACE,
    TRAINING,
    Values,
    axes,
    list_of,
    one_or_list,
    one_value,
    only_known,
    seeds,
    table,
    tables,
    values,
)

TestSize = int | tuple[int, ...] | None

_SLUG = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-])?")
_REPLACED = ("train_size", "test_size", "items", "seeds", "probes", "model", "training")


@dataclass(frozen=True)
class Budget:
    """The most a study may take: minutes of wall time, number of runs. None is no limit."""

    minutes: float | None = None
    runs: int | None = None

    def plain(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


def in_one_form(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study from its arguments; whatever cannot be meant is a usage error that names its key."""
    form = {
        "name": _slug(given["name"]),
        "question": one_value(given["question"], str, "question"),
        "tasks": values(given["tasks"], str, "tasks"),
        "positions": values(given["positions"], str, "positions"),
        "train_size": values(given["train_size"], int, "train_size"),
        "test_size": _test_size(given["test_size"], "test_size"),
        "items": one_value(given["items"], int, "items"),
        "seeds": seeds(given["seeds"], "seeds"),
        "keep": one_value(given["keep"], float, "keep"),
        "model": axes(given["model"], MODEL, "[model]"),
        "training": axes(given["training"], TRAINING, "[training]"),
        "exclude": tuple(_exclusion(*one) for one in _numbered(given["exclude"], "exclude")),
        "override": tuple(_override(*one) for one in _numbered(given["override"], "override")),
        "budget": _budget(given["budget"]),
        "plateau": one_value(given["plateau"], bool, "plateau"),
        "probes": values(given["probes"], str, "probes"),
        "analyses": values(given["analyses"], str, "analyses") if given["analyses"] else (),
        "threads": one_value(given["threads"], int, "threads"),
    }
    if not 0 <= form["keep"] <= 1:
        raise UsageError(f"keep is a share of items in [0, 1], not {form['keep']}")
    if form["threads"] < 1:
        raise UsageError(f"threads is at least 1, not {form['threads']}")
    paired_test_sizes(form["train_size"], form["test_size"])
    return form


def paired_test_sizes(train_size: tuple[int, ...], test_size: TestSize) -> tuple[int | None, ...]:
    """The test size of every training size; None stands for the usual one."""
    if not isinstance(test_size, tuple):
        return (test_size,) * len(train_size)
    if len(test_size) != len(train_size):
        raise UsageError(
            f"test_size is one number or one a training size, and there are {len(test_size)} test sizes for "
            f"{len(train_size)} training sizes"
        )
    return test_size


def plain_test_size(test_size: TestSize) -> int | list[int] | None:
    return list(test_size) if isinstance(test_size, tuple) else test_size


def plain_override(override: Mapping[str, Any]) -> dict[str, Any]:
    """An override as it is written in TOML."""
    plain: dict[str, Any] = {}
    for key, value in override.items():
        if key in ("model", "training"):
            plain[key] = {name: one_or_list(entries) for name, entries in value.items()}
        elif key in ("seeds", "probes"):
            plain[key] = list(value)
        else:
            plain[key] = one_or_list(value) if isinstance(value, tuple) else value
    return plain


def _slug(name: Any) -> str:
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise UsageError(
            f"the name of a study is also a folder name: up to 64 letters, digits and ._+-, as my-study, not {name!r}"
        )
    return name


def _test_size(given: Any, key: str) -> TestSize:
    if given is None:
        return None
    first, *more = list_of(given, int, key)
    return (first, *more) if more else first


def _numbered(given: Any, key: str) -> list[tuple[Mapping[str, Any], str]]:
    """The tables of a list, each with the name a sentence calls it by."""
    return [(one, f"[[{key}]] {number}") for number, one in enumerate(tables(given, key), start=1)]


def _exclusion(given: Mapping[str, Any], where: str) -> dict[str, Values]:
    known = {**PLACE, **MODEL, **TRAINING}
    if not given:
        raise UsageError(f"{where} is empty and would leave out every run; it takes keys as task, position or depth")
    return axes(given, known, where)


def _override(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    only_known(given, ("task", "position", *_REPLACED), where)
    matched = [key for key in ("task", "position") if key in given]
    replaced = [key for key in _REPLACED if key in given]
    if not matched or not replaced:
        what = "which task or position it is for" if not matched else "what it replaces, as training = { steps = 4000 }"
        raise UsageError(f"{where} does not say {what}")
    form: dict[str, Any] = {key: values(given[key], str, f"{where} {key}") for key in matched}
    for key in replaced:
        form[key] = _replacement(key, given[key], f"{where} {key}")
    return form


def _replacement(key: str, given: Any, where: str) -> Any:
    if key in ("model", "training"):
        return axes(given, MODEL if key == "model" else TRAINING, where)
    if key == "seeds":
        return seeds(given, where)
    if key == "probes":
        return values(given, str, where)
    if key == "train_size":
        return values(given, int, where)
    return one_value(given, int, where) if key == "items" else _test_size(list_of(given, int, where), where)


def _budget(given: Any) -> Budget:
    if isinstance(given, Budget):
        given = given.plain()
    given = table(given, "[budget]")
    only_known(given, ("minutes", "runs"), "[budget]")
    limits = {
        key: one_value(given[key], kind, f"[budget] {key}")
        for key, kind in (("minutes", float), ("runs", int))
        if key in given
    }
    for key, limit in limits.items():
        if not limit > 0:
            raise UsageError(f"[budget] {key} is above 0, not {limit}")
    return Budget(**limits)
