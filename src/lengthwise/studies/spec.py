"""A study as it is written down: a TOML file, or the same as a Python object.

    name = "depths"                       # the file's stem unless given
    question = "Does depth help sorting?"
    tasks = ["sort", "copy_repeat"]       # any task specs
    positions = ["none", "learned+offset"]
    train_size = 20                       # or a list; test_size is three times that unless given
    seeds = 3                             # 0, 1 and 2; or a list

    [model]                               # axes multiply; what is not named is the task's preset
    depth = [1, 2, 4]

    [[exclude]]                           # runs that match all keys are left out
    task = "sort"
    depth = 4

    [[override]]                          # axes replaced for some tasks or encodings; later ones win
    task = "copy_repeat"
    training = { steps = 4000 }

A key `probes` names what is measured after training besides the curve (`lengthwise measure --list-probes`), as in
probes = ["ladder:items=200", "my.py::MyProbe"]; `analyses` names what is computed from the results. Tables
[preset.NAME] hold variants of the whole study.
Only the form is checked here, so that a study can be read where its tasks are not at hand; `grid` makes the plans and
finds names that do not exist. This module does not import torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from lengthwise.errors import UnknownName, UsageError
from lengthwise.reading import parse_toml
from lengthwise.registry import nearest
from lengthwise.studies.form import Budget, TestSize, Values, in_one_form, only_known, plain_field, table
from lengthwise.studies.study_file import (
    anchored_study,
    preset_names,
    read_toml_file,
    with_preset,
    write_toml,
)

__all__ = ["Budget", "Study", "builtin_names", "builtin_presets", "builtin_questions"]

_ENDING = ".toml"
_NO_LIMIT = Budget()


@dataclass(frozen=True, init=False)
class Study:
    """What is asked of which tasks with which encodings: axes that multiply, and where they do not.

    Every argument takes what TOML takes: a value alone or a list of values for an axis, a number of seeds or a list of
    them, one test size for all or one per training size. The fields are the same in one form. `keep` is the share of
    in-range items that a seed must get right to be kept in summaries, `threads` is the number of torch threads per run.
    `probes` are put to every trained model, in addition to the curve; `analyses` are made of the results, those that
    suit every study where none is named.
    """

    name: str
    question: str
    tasks: tuple[str, ...]
    positions: tuple[str, ...]
    train_size: tuple[int, ...]
    test_size: TestSize
    items: int
    seeds: tuple[int, ...]
    keep: float
    threads: int
    budget: Budget
    probes: tuple[str, ...]
    analyses: tuple[str, ...]
    model: Mapping[str, Values] = field(hash=False)
    training: Mapping[str, Values] = field(hash=False)
    exclude: tuple[Mapping[str, Values], ...] = field(hash=False)
    override: tuple[Mapping[str, Any], ...] = field(hash=False)

    def __init__(
        self,
        name: str,
        tasks: str | Sequence[str],
        positions: str | Sequence[str] = "none",
        *,
        question: str = "",
        train_size: int | Sequence[int] = 20,
        test_size: int | Sequence[int] | None = None,
        items: int = 200,
        seeds: int | Sequence[int] = 1,
        keep: float = 0.0,
        threads: int = 1,
        budget: Budget | Mapping[str, Any] = _NO_LIMIT,
        probes: str | Sequence[str] = ("curve",),
        analyses: str | Sequence[str] = (),
        model: Mapping[str, Any] = {},
        training: Mapping[str, Any] = {},
        exclude: Sequence[Mapping[str, Any]] = (),
        override: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        given = locals()  # every argument is a field of the same name
        for key, value in in_one_form(given).items():
            object.__setattr__(self, key, value)

    @classmethod
    def read(cls, source: str | Path, preset: str | None = None) -> Study:
        """The study of a built-in name (`quick`) or of a TOML file. Paths in a file are relative to its folder. Of a
        study with presets the first is taken unless another is named, which then ends the name of the study."""
        if source in builtin_names():
            content = {"name": source, **_builtin_content(str(source))}
            return cls.from_plain(with_preset(content, preset))
        path = Path(source)
        if isinstance(source, str) and not path.suffix and len(path.parts) < 2 and not path.is_file():
            near, known = nearest(source, builtin_names()), ", ".join(builtin_names())
            raise UnknownName(f"unknown study {source!r}; {near}it is one of {known}, or a file as my-study.toml")
        content = {"name": path.stem, **read_toml_file(path)}
        try:
            return cls.from_plain(anchored_study(with_preset(content, preset), path.absolute().parent))
        except UsageError as error:
            raise type(error)(f"{path}: {error}") from None

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Study:
        """The study that `plain` or a TOML file describes."""
        only_known(table(data, "a study"), [f.name for f in fields(cls)], "a study")
        for key, example in (("name", '"depths"'), ("tasks", '["sort"]')):
            if key not in data:
                raise UsageError(f"a study needs {key}, as in {key} = {example}")
        return cls(**data)

    def plain(self) -> dict[str, Any]:
        """The study as data for JSON or TOML; `from_plain` reads it back."""
        content = {f.name: plain_field(f.name, getattr(self, f.name)) for f in fields(self)}
        return {key: value for key, value in content.items() if value not in (None, {}, [])}

    def with_seeds_from(self, first: int) -> Study:
        """The same study with a number added to every seed, in overrides and exclusions too."""
        moved = self.plain()
        moved["seeds"] = [first + seed for seed in self.seeds]
        for key, inner in (("exclude", "seed"), ("override", "seeds")):
            for own, plain in zip(getattr(self, key), moved.get(key, []), strict=True):
                if inner in own:
                    plain[inner] = [first + seed for seed in own[inner]]
        return Study.from_plain(moved)

    def with_training(self, **settings: Any) -> Study:
        """The same study with these settings of training, in overrides too."""
        moved = self.plain()
        for place in (moved, *(one for one in moved.get("override", []) if "training" in one)):
            place["training"] = {**place.get("training", {}), **settings}
        return Study.from_plain(moved)

    def with_seeds(self, count: int) -> Study:
        """The same study with the seeds 0, 1, ... `count` - 1, in overrides too."""
        if count < 1:
            raise UsageError(f"a study must have 1 seed or more, not {count}")
        changed = self.plain()
        changed["seeds"] = count
        for override in changed.get("override", []):
            override.pop("seeds", None)
        changed["override"] = [one for one in changed.get("override", []) if set(one) - {"task", "position"}]
        return Study.from_plain(changed)

    def toml(self) -> str:
        """The TOML text that reads back to an equal study."""
        return write_toml(self.plain())


def builtin_names() -> tuple[str, ...]:
    """The studies that come with the package."""
    files = [file.name for file in _builtin().iterdir() if file.name.endswith(_ENDING)]
    return tuple(sorted(name.removesuffix(_ENDING) for name in files))


def builtin_questions() -> dict[str, str]:
    """The built-in studies, each with the question it asks."""
    return {name: Study.read(name).question for name in builtin_names()}


def builtin_presets() -> dict[str, tuple[str, ...]]:
    """The presets of the built-in studies that have any; the first is the one taken unless another is named."""
    found = {name: preset_names(_builtin_content(name)) for name in builtin_names()}
    return {name: presets for name, presets in found.items() if presets}


def _builtin_content(name: str) -> dict[str, Any]:
    return parse_toml((_builtin() / f"{name}{_ENDING}").read_text(encoding="utf-8"), name)


def _builtin() -> Traversable:
    return resources.files("lengthwise.studies") / "builtin"
