"""The plan of a run: everything that decides its outcome, as data that can be stored, compared and hashed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.hardware import Precision
from lengthwise.integrity import CONFIG
from lengthwise.limits import LARGEST, MOST_COUNT, MOST_SIZE, check_count
from lengthwise.messages import sentence
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.attention import Attention
from lengthwise.models.forms import Form, Full
from lengthwise.models.model import BuiltModel, Model
from lengthwise.models.named import MODEL_WORDS, model_of, models, not_a_config, plain_model, restored_model
from lengthwise.oracle.locality.trainable import layout_model
from lengthwise.positions import Position, Shape, positions
from lengthwise.positions.encodings import NoPosition
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.probe import Context, Probe, called, make_probes, probe_spec, probes, slug_of
from lengthwise.progress import Progress
from lengthwise.registry import SettingField, nearest, plain_settings, restored_settings, settings_of
from lengthwise.subjects.subject import OF_TRANSFORMERS
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_ids
from lengthwise.tasks.formulations.own import OwnLayout
from lengthwise.tasks.sizes import check_reaches, default_test_size, default_train_size, name_of
from lengthwise.tasks.task import Task
from lengthwise.training.lengths import SizeSchedule
from lengthwise.training.recipe import START_WORDS, Decay, Recipe

SCHEMA = 1

# The settings of models and of training by their names; the position is an argument of its own everywhere. All but the
# first of a model are those of our Transformer, some of which other models share.
SHAPE: Mapping[str, SettingField] = {n: one for n, one in settings_of(Architecture).items() if n != "position"}
_MODEL = SettingField("model", Model | Callable[..., Any], MODEL_WORDS, registry=models)
MODEL: Mapping[str, SettingField] = {"model": _MODEL, **SHAPE}
TRAINING: Mapping[str, SettingField] = settings_of(Recipe)
_START = SettingField("start", str, START_WORDS)
SETTINGS: Mapping[str, SettingField] = {**MODEL, **TRAINING, "start": _START}


class Settings(TypedDict, total=False):
    """The settings of models and of training as keyword arguments, for editors and type checkers."""

    model: str | Model | Callable[..., Any]  # a class of torch.nn.Module, or a network, can be called
    depth: int
    width: int
    heads: int
    mlp_ratio: int
    causal: bool
    attention: str | Attention
    gain: float
    steps: int
    batch: int
    rate: float
    warmup: float
    decay: Decay
    weight_decay: float
    clip: float
    sizes: str | SizeSchedule
    stop_at: float | None
    check_every: int
    pool: int
    form: str | Form
    precision: Precision
    start: str


@dataclass(frozen=True)
class Start:
    """The run whose weights training begins with: its folder, and the SHA-256 of the weights, which decide."""

    folder: str
    weights: str

    @classmethod
    def of(cls, folder: str) -> tuple[Start, Architecture]:
        """What is known of a folder, and the shape of the model in it."""
        path = Path(folder)
        if not (path / CONFIG).exists():
            raise UsageError(f"there is no trained model in {folder}; give the folder of a finished run")
        config = read_json(path / CONFIG)
        if not isinstance(config, dict) or "weights_sha256" not in config or "model" in config:
            raise UsageError(f"the model in {folder} is not our Transformer, so no training can begin with its weights")
        try:
            shape = restored_settings(Architecture, config)
        except (KeyError, TypeError, AttributeError) as error:
            raise not_a_config(path / CONFIG, error) from error
        return cls(folder, str(config["weights_sha256"])), shape


@dataclass(frozen=True)
class Plan:
    """A task, a model, a recipe, two sizes and a seed; and the probes that are put to the trained model. The curve,
    which every run is judged by, is always among them."""

    task: Task
    architecture: Model
    recipe: Recipe
    train_size: int
    test_size: int
    items: int = 200
    seed: int = 0
    probes: tuple[Probe, ...] = (CurveProbe(),)
    start: Start | None = None

    def __post_init__(self) -> None:
        if self.start is not None and (not isinstance(self.architecture, Architecture) or self.recipe.form != Full()):
            raise UsageError("training begins with the weights of a run only for our Transformer, in the form full")
        if not any(isinstance(probe, CurveProbe) for probe in self.probes):
            object.__setattr__(self, "probes", (CurveProbe(), *self.probes))
        for name in ("train_size", "test_size", "items"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
            check_count(getattr(self, name), name, MOST_COUNT if name == "items" else MOST_SIZE)
        if self.test_size < self.train_size:
            raise UsageError(f"the test size {self.test_size} is below the training size {self.train_size}")
        smallest = self.task.axes[0].smallest
        if not self.train_sizes:
            raise UsageError(
                f"the task {self.task_name} has no items of size 1 to {self.train_size}; its sizes begin at {smallest}"
            )
        check_reaches(self.task, self.test_size)
        if not isinstance(self.architecture, Architecture):
            self._check_other()
        elif self.architecture.position.from_task:
            self._check_ids(self.architecture)
        for probe in self.probes:
            try:
                probe.passes(self.task, self.train_size, self.architecture.causal)
            except UsageError:
                raise
            except Exception:  # a user's task that breaks is the business of its run, which will say how
                continue

    def _check_other(self) -> None:
        """Refuse, before training, what only our Transformer can do."""
        if self.recipe.form != Full():
            raise UsageError(f"only our Transformer is trained in a form, and {self.model_name} is another network")
        for probe in self.probes:
            if lacking := [need for need in probe.needs if need in OF_TRANSFORMERS]:
                raise UsageError(
                    f"the probe {called(probe_spec(probe)['name'])} needs {sentence(f'capability.{lacking[0]}')}, and "
                    f"{self.model_name} is another network"
                )

    def _check_ids(self, architecture: Architecture) -> None:
        """Refuse, before training, a task without ids for an encoding that needs them, and too few positions."""
        largest = self.test_sizes[-1]
        check_ids(self.task, (self.train_sizes[0], largest))
        tokens, interface = self.task.batch(largest, 0, range(32), causal=architecture.causal).inputs, self.interface()
        shape = Shape(architecture.width, architecture.heads, interface.rows, interface.trained, architecture.causal)
        architecture.position.place(self.task.ids_of(tokens), shape, None, False)

    @property
    def train_sizes(self) -> list[int]:
        return self.task.sizes(1, self.train_size)

    @property
    def test_sizes(self) -> list[int]:
        return self.task.sizes(1, self.test_size)

    @property
    def measured_sizes(self) -> Sequence[int]:
        """The sizes of the curve."""
        curve = next(probe for probe in self.probes if isinstance(probe, CurveProbe))
        return curve.sizes(self.task, self.train_size, self.test_size)

    @property
    def task_name(self) -> str:
        return name_of(self.task)

    @property
    def position_name(self) -> str:
        return positions.text_of(getattr(self.architecture, "position", NoPosition()))

    @property
    def model_name(self) -> str:
        """What distinguishes the runs of one task: the encoding of our Transformer, or the spec of another model."""
        return self.position_name if isinstance(self.architecture, Architecture) else models.text_of(self.architecture)

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
        return {
            "schema": SCHEMA,
            "task": tasks.spec_of(self.task) or _unregistered(self.task),
            "model": plain_model(self.architecture),
            "recipe": plain_settings(self.recipe),
            "train_size": self.train_size,
            "test_size": self.test_size,
            "items": self.items,
            "seed": self.seed,
            "probes": [probe_spec(probe) for probe in self.probes],
            **({} if self.start is None else {"start": vars(self.start)}),
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any], task: Task | None = None, model: Model | None = None) -> Plan:
        """The plan of a run.json; a task or a model that was never registered must be given again."""
        try:
            if task is None and data["task"].get("unregistered"):
                raise UsageError(
                    f"the run was made with a task object of class {data['task']['name']}, which cannot be found by "
                    "name; pass the task again: measure(run, task=...)"
                )
            return cls(
                task=tasks.restore(data["task"]) if task is None else task,
                architecture=restored_model(data["model"], model),
                recipe=restored_settings(Recipe, data["recipe"]),
                **{name: data[name] for name in ("train_size", "test_size", "items", "seed")},
                probes=tuple(map(probes.restore, data["probes"])),
                start=Start(**data["start"]) if "start" in data else None,
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
        if self.start is not None:
            content["start"] = self.start.weights
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def plan_for(
    task: str | Mapping[str, Any] | Task,
    position: str | Position | None = None,
    settings: Mapping[str, Any] = {},
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seed: int = 0,
    probes: Sequence[str | Mapping[str, Any] | Probe] = (),
) -> Plan:
    """The plan of a task with an encoding, for the command line, Python and studies alike.

    `settings` are fields of `Architecture` (except the position) and of `Recipe`; they replace those of the task's
    preset. An attention rule, a size schedule and a form may be given by their specs, which then count as written by
    the user: whoever reads specs from a file restores the objects first. The default training size is 20, or less for a
    task that ends before 60; the default test size is three times that. The default position is none, and rope for a
    layout of the user's own, whose attention is limited to the windows that settle its steps.

    With `start`, the folder of a run, training begins with its weights. The shape of its model takes the place of the
    task's preset; the position encoding is that of the arguments, and must have the same parameters.
    """
    for name, value in (("train_size", train_size), ("items", items), ("seed", seed), ("test_size", test_size)):
        if type(value) is not int and not (value is None and name in ("train_size", "test_size")):
            raise UsageError(f"{name} takes a whole number, not {value!r}")
        if value is not None:
            check_count(value, name, {"items": MOST_COUNT, "seed": LARGEST}.get(name, MOST_SIZE))
    for name in settings:
        if name not in SETTINGS:
            near, known = nearest(str(name), SETTINGS), ", ".join(SETTINGS)
            raise UsageError(f"there is no setting {name!r} of models or training; {near}they have {known}")
    task = task if isinstance(task, Task) else tasks.make(task)
    if isinstance(task, OwnLayout) and not task.side:
        task = dataclasses.replace(task, side=layout_model(task).side)
    if position is None:
        position = "rope" if isinstance(task, OwnLayout) and "model" not in settings else "none"
    train_size = default_train_size(task) if train_size is None else train_size
    position = positions.make(position) if isinstance(position, str) else position
    if not isinstance(position, Position):
        raise UsageError(f"position takes a text such as learned+offset, or a Position, not {position!r}")
    given = {n: model_of(value) if n == "model" else SETTINGS[n].typed(value) for n, value in settings.items()}
    begun = str(given.pop("start", ""))
    start, shape = Start.of(begun) if begun else (None, None)
    chosen = {**preset_settings(task), **({} if shape is None else _fields_in(Architecture, vars(shape))), **given}
    return Plan(
        task=task,
        architecture=_architecture(given, chosen, position),
        recipe=Recipe(**_fields_in(Recipe, chosen)),
        train_size=train_size,
        test_size=default_test_size(task, train_size) if test_size is None else test_size,
        items=items,
        seed=seed,
        probes=make_probes(probes),
        start=start,
    )


def _architecture(given: Mapping[str, Any], chosen: Mapping[str, Any], position: Position) -> Model:
    """The model of a plan. What the user says of our Transformer, in whatever way, comes before the task's preset."""
    model = given.get("model", Architecture())
    if not isinstance(model, Architecture):
        own = {name: value for name, value in given.items() if name in SHAPE}
        return _with_settings(model, own | ({} if position == NoPosition() else {"position": position}))
    stated = getattr(model, "_spec", settings_of(Architecture) if "model" in given else {})  # an object states it all
    own = {name: getattr(model, name) for name in settings_of(Architecture) if name in stated}
    if position != NoPosition() or "position" not in own:
        own["position"] = position
    return Architecture(**{**_fields_in(Architecture, chosen), **own, **_fields_in(Architecture, given)})


def _with_settings(model: Model, own: Mapping[str, Any]) -> Model:
    """Another model than our Transformer, with those of its settings that are given apart from its name."""
    known = settings_of(type(model)) if isinstance(model, BuiltModel) else {}
    for name in own:
        if name not in known:
            what = "position encoding of ours" if name == "position" else f"setting {name} of our Transformer"
            raise UsageError(f"{models.text_of(model)} is another network and takes no {what}")
    return dataclasses.replace(model, **own) if own else model  # pyright: ignore[reportArgumentType]


def default_folder(plan: Plan) -> Path:
    """runs/<task>-<position>-<digest>, or with the model where that is another: the same plan has the same folder."""
    name = re.sub(r"^.*[\\/](?=[^\\/]*\.py(::|$))", "", plan.model_name)
    slug = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", f"{plan.task_name}-{name}").strip("-")[:60]
    return Path("runs") / f"{slug}-s{plan.seed}-{plan.digest()}"


def folder_of_seed(folder: str | Path, plan: Plan) -> Path:
    """Where one of several seeds is kept inside a folder."""
    return Path(folder) / f"seed-{plan.seed}"


def preset_settings(task: Task) -> dict[str, Any]:
    """The settings a task is tried with unless the user says otherwise, where they are not the defaults.

    A task names an attention rule or a size schedule by its spec, as it knows nothing of models. Those of a layout of
    the user's own follow from its windows."""
    found = layout_model(task).settings if isinstance(task, OwnLayout) else {}
    return {name: SETTINGS[name].restored(value) for name, value in {**task.preset, **found}.items()}


def preset(task: Task) -> tuple[Architecture, Recipe]:
    """The model and the recipe a task is tried with unless the user says otherwise."""
    own = preset_settings(task)
    return Architecture(**_fields_in(Architecture, own)), Recipe(**_fields_in(Recipe, own))


def _fields_in(cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in settings_of(cls) if name in given}


def _unregistered(task: Task) -> dict[str, Any]:
    """What stands for a task object that no name leads to; its settings are there to tell it from another."""
    settings = {"settings": repr(task)} if dataclasses.is_dataclass(task) else {}
    return {"name": type(task).__name__, "unregistered": True, **settings}
