"""The plan of a run: everything that decides its outcome, as data that can be stored, compared and hashed."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.folder import architecture_config, architecture_from
from lengthwise.models.forms import Form, forms
from lengthwise.models.transformer import Architecture, Interface
from lengthwise.positions import Position, make_position
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.probe import Context, Probe, make_probes, probe_spec, probes, slug_of
from lengthwise.progress import Progress
from lengthwise.registry import Registry, format_spec, nearest
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import check_reaches, default_test_size, default_train_size, name_of
from lengthwise.tasks.task import Task
from lengthwise.training.lengths import SizeSchedule, schedules
from lengthwise.training.recipe import Recipe

SCHEMA = 1

S = TypeVar("S", Architecture, Recipe)

# Settings that are objects: a text names one of a registry.
_BY_NAME: dict[str, Registry[Any]] = {"attention": attentions, "sizes": schedules, "form": forms}


@dataclass(frozen=True)
class Plan:
    """A task, a model, a recipe, two sizes and a seed; and the probes that are put to the trained model. The curve,
    which every run is judged by, is always among them."""

    task: Task
    architecture: Architecture
    recipe: Recipe
    train_size: int
    test_size: int
    items: int = 200
    seed: int = 0
    probes: tuple[Probe, ...] = (CurveProbe(),)

    def __post_init__(self) -> None:
        if not any(isinstance(probe, CurveProbe) for probe in self.probes):
            object.__setattr__(self, "probes", (CurveProbe(), *self.probes))
        for name in ("train_size", "test_size", "items"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name.replace('_', '-')} is at least 1, not {getattr(self, name)}")
        if self.test_size < self.train_size:
            raise UsageError(f"the test size {self.test_size} is below the training size {self.train_size}")
        smallest = self.task.axes[0].smallest
        if not self.train_sizes:
            raise UsageError(
                f"the task {self.task_name} has no items of size 1 to {self.train_size}; its sizes begin at {smallest}"
            )
        check_reaches(self.task, self.test_size)
        for probe in self.probes:
            try:
                probe.passes(self.task, self.train_size, self.architecture.causal)
            except UsageError:
                raise
            except Exception:  # a user's task that breaks is the business of its run, which will say how
                continue

    @property
    def train_sizes(self) -> list[int]:
        return self.task.sizes(1, self.train_size)

    @property
    def test_sizes(self) -> list[int]:
        return self.task.sizes(1, self.test_size)

    @property
    def task_name(self) -> str:
        return name_of(self.task)

    @property
    def position_name(self) -> str:
        return architecture_config(self.architecture)["position"]

    def interface(self) -> Interface:
        """What the task fixes of the model; the rows reach as far as the test, and as any probe."""
        causal = self.architecture.causal
        trained, tested = (self.task.width(sizes[-1], causal) for sizes in (self.train_sizes, self.test_sizes))
        asked = [work.tokens for probe in self.probes for work in probe.passes(self.task, self.train_size, causal)]
        return Interface(len(self.task.vocabulary), self.task.outputs, max(trained, tested, *asked), trained)

    def context(self, probe: Probe, progress: Progress) -> Context:
        """What a probe is asked after training."""
        sizes = tuple(probe.sizes(self.task, self.train_size, self.test_size))
        return Context(self.task, self.train_size, sizes, self.items, self.seed, progress=progress)

    def asked(self) -> dict[str, dict[str, Any]]:
        """For each probe, by the name of its record, what its record depends on: equal entries have equal records."""
        how = {"test_size": self.test_size, "items": self.items}
        return {slug_of(probe): {"probe": probe_spec(probe), **how} for probe in self.probes}

    def plain(self) -> dict[str, Any]:
        """The plan as JSON-ready data; `Plan.from_plain` reads it back."""
        recipe = {f.name: getattr(self.recipe, f.name) for f in dataclasses.fields(self.recipe)}
        return {
            "schema": SCHEMA,
            "task": tasks.spec_of(self.task) or _unregistered(self.task),
            "model": architecture_config(self.architecture),
            "recipe": {
                **recipe,
                "sizes": _schedule_name(self.recipe.sizes),
                "form": _form_name(self.recipe.form),
            },
            "train_size": self.train_size,
            "test_size": self.test_size,
            "items": self.items,
            "seed": self.seed,
            "probes": [probe_spec(probe) for probe in self.probes],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], task: Task | None = None) -> Plan:
        """The plan of a run.json; a task that was never registered must be given again."""
        try:
            if task is None and data["task"].get("unregistered"):
                raise UsageError(
                    f"the run was made with a task object of class {data['task']['name']}, which no name leads to; "
                    "give the task again: measure(run, task=...)"
                )
            recipe = {**data["recipe"]}
            recipe["sizes"] = schedules.restore(recipe["sizes"])
            recipe["form"] = forms.restore(recipe["form"])
            return cls(
                task=tasks.restore(data["task"]) if task is None else task,
                architecture=architecture_from(data["model"]),
                recipe=Recipe(**recipe),
                **{name: data[name] for name in ("train_size", "test_size", "items", "seed")},
                probes=tuple(map(probes.restore, data["probes"])),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"the plan of the run is incomplete or of another version: {error}") from error

    def digest(self) -> str:
        """Eight characters that change when anything that decides the trained weights changes.

        What is measured is left out (probes, test size and items), except that the longest row that is asked decides
        how many positions the model has."""
        content = self.plain()
        for name in ("items", "test_size", "probes"):
            del content[name]
        content["rows"] = self.interface().rows
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def plan_for(
    task: str | Mapping[str, Any] | Task,
    position: str | Position,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seed: int = 0,
    model: Mapping[str, Any] = {},
    training: Mapping[str, Any] = {},
    probes: Sequence[str | Mapping[str, Any] | Probe] = (),
) -> Plan:
    """The plan of a task with an encoding: the task's preset with `model` (fields of Architecture but the position)
    and `training` (fields of Recipe) laid over it. Attentions, size schedules and forms may be given by their specs.
    The usual training size is 20, or less for a task that ends before 60; the usual test size is three times that."""
    for name, value in (("train-size", train_size), ("items", items), ("seed", seed), ("test-size", test_size)):
        if type(value) is not int and not (value is None and name in ("train-size", "test-size")):
            raise UsageError(f"{name} takes a whole number, not {value!r}")
    task = task if isinstance(task, Task) else tasks.make(task)
    train_size = default_train_size(task) if train_size is None else train_size
    architecture, recipe = preset(task)
    architecture = _laid_over(architecture, model, "the model")
    position = make_position(position) if isinstance(position, str) else position
    if not isinstance(position, Position):
        raise UsageError(f"an encoding is a text as learned+offset, or a Position, not {position!r}")
    return Plan(
        task=task,
        architecture=dataclasses.replace(architecture, position=position),
        recipe=_laid_over(recipe, training, "training"),
        train_size=train_size,
        test_size=default_test_size(task, train_size) if test_size is None else test_size,
        items=items,
        seed=seed,
        probes=make_probes(probes),
    )


def _laid_over(usual: S, given: Mapping[str, Any], what: str) -> S:
    """The usual settings with those given in their place; an unknown name or a wrong type is a usage error."""
    if not isinstance(given, Mapping):
        example = '{"depth": 4}' if isinstance(usual, Architecture) else '{"steps": 200}'
        raise UsageError(
            f"{what} takes settings by name, such as {example}, which change the task's preset, not {given!r}; "
            "to replace the preset altogether, give every field: vars(...) of that object"
        )
    kinds = _kinds(type(usual))
    known = [f.name for f in dataclasses.fields(usual) if f.name != "position"]
    for name in given:
        if name not in known:
            raise UsageError(f"{what} has no setting {name!r}; {nearest(str(name), known)}it has {', '.join(known)}")
    return dataclasses.replace(usual, **{name: _typed(name, kinds[name], value) for name, value in given.items()})


@functools.cache
def _kinds(settings: type) -> dict[str, Any]:
    """The types of the fields; looking them up takes longer than all the rest of a plan."""
    return typing.get_type_hints(settings)


def _typed(name: str, kind: Any, value: Any) -> Any:
    """A setting in the type of its field: a whole number serves as a number, a spec as what it describes."""
    if name in _BY_NAME and isinstance(value, str):
        return _BY_NAME[name].make(value)
    if typing.get_origin(kind) is types.UnionType:
        if value is None:
            return None
        kind = typing.get_args(kind)[0]
    kind = str if typing.get_origin(kind) is Literal else kind
    if kind is float and type(value) is int:
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        taken = {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a text")
        raise UsageError(f"{name.replace('_', '-')} takes {taken}, not {value!r}")
    return value


def _unregistered(task: Task) -> dict[str, Any]:
    """What stands for a task object that no name leads to; its settings are there to tell it from another."""
    settings = {"settings": repr(task)} if dataclasses.is_dataclass(task) else {}
    return {"name": type(task).__name__, "unregistered": True, **settings}


def _schedule_name(sizes: SizeSchedule) -> str:
    if not (spec := schedules.spec_of(sizes)):
        raise UsageError(
            f'a size schedule is stored by its name; register {type(sizes).__name__} with @schedules.register("name")'
        )
    return format_spec(spec)


def _form_name(form: Form) -> str:
    if not (spec := forms.spec_of(form)):
        raise UsageError(f'a form is stored by its name; register {type(form).__name__} with @forms.register("name")')
    return format_spec(spec)


def preset(task: Task) -> tuple[Architecture, Recipe]:
    """The model and the recipe a task is tried with unless the user says otherwise: defaults, with the task's own.

    A task names an attention or a size schedule by its spec, as it knows nothing of models."""
    own = {
        name: _BY_NAME[name].make(value) if name in _BY_NAME and isinstance(value, str) else value
        for name, value in task.preset.items()
    }
    shape = {f.name: own.pop(f.name) for f in dataclasses.fields(Architecture) if f.name in own}
    return Architecture(**shape), Recipe(**own)
