"""Presets of a study: the same question asked in minutes or overnight.

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

import re
from collections.abc import Mapping
from typing import Any

from lengthwise.errors import UnknownName, UsageError
from lengthwise.registry import nearest
from lengthwise.studies.axes import table

KEY = "preset"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


def preset_names(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The presets of a study file, in their order."""
    return tuple(_presets(content))


def with_preset(content: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """The content of a study file with a preset laid over it, the first unless named; it holds no presets any more."""
    presets, study = _presets(content), content.get("name")
    plain = {key: value for key, value in content.items() if key != KEY}
    if not presets:
        if name is not None:
            raise UsageError(f"the study {study} has no presets, so --preset {name} chooses nothing; leave it out")
        return plain
    first = next(iter(presets))
    chosen = first if name is None else name
    if chosen not in presets:
        known = ", ".join(presets)
        raise UnknownName(f"the study {study} has no preset {chosen!r}; {nearest(chosen, presets)}it has {known}")
    merged = {**plain, **{key: _laid_over(plain.get(key), value) for key, value in presets[chosen].items()}}
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
                    f"[{KEY}.{name}] has a key {key!r}; it takes the other keys of a study, as seeds or training"
                )
    return dict(given)


def _laid_over(held: Any, given: Any) -> Any:
    """Tables are merged key by key."""
    return {**held, **given} if isinstance(held, Mapping) and isinstance(given, Mapping) else given
