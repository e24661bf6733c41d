"""Train and measure: the two verbs, and the `Run` they give.

A run is a folder: `run.json` (plan, history, environment, and the sparsity of attention where it was asked for),
`curve.json`, `ladder.json` where a ladder of shifts was asked for, a model folder's `config.json`, `model.safetensors`
and `README.md`, and `form.safetensors`, the coordinates, where the weights were trained in a form. `run.json` is
written last, so its presence means completeness, and holds the SHA-256 of the other files, which are compared whenever
the run is used again. Until then there is a `plan.json`, which also holds the history once the model is trained, and
during training a `checkpoint.safetensors`: from these the same call goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json, write_json, writing
from lengthwise.integrity import CURVE, LADDER, MODEL, RUN, check_files, check_run, digests, read_record, sealed
from lengthwise.measurement.curve import Curve, Point
from lengthwise.measurement.evaluate import measure_model
from lengthwise.measurement.ladder import Ladder, LevelPoint
from lengthwise.measurement.sparsity import Sparsity, looked_at
from lengthwise.models.folder import load_model, save_model, write_card
from lengthwise.models.formed import Formed, in_form, save_coordinates
from lengthwise.models.transformer import Transformer, fresh_model
from lengthwise.positions import positions
from lengthwise.runs.card import model_card
from lengthwise.runs.environment import environment, threads
from lengthwise.runs.ladder_file import holds_ladder, write_ladder
from lengthwise.runs.plan import SCHEMA, Plan, default_folder
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.sizes import check_reaches, name_of
from lengthwise.tasks.task import Task
from lengthwise.training.loop import History, train_model
from lengthwise.trust import trusting

PLAN, CHECKPOINT = "plan.json", "checkpoint.safetensors"
_OF_A_WORKER = ("beat.json", "error.txt")  # what may lie in a folder before its plan does, beside hidden files


@dataclass(frozen=True)
class Run:
    """A trained model with its plan, its history and its curve."""

    folder: Path
    plan: Plan
    history: History
    curve: Curve
    environment: dict[str, Any] = field(default_factory=dict)
    sparsity: tuple[Sparsity, ...] = ()

    @property
    def reach(self) -> int:
        """The largest size up to which exact match stays at or above 95 %."""
        return int(self.curve.reach().value or 0)

    @property
    def learned(self) -> bool | None:
        """Whether exact match is at least 95 % at every size of the training range; None where that means nothing."""
        return self.curve.standing(self.plan.test_size).learned

    @property
    def holds(self) -> bool | None:
        """Whether it stays so up to three times the training size, or as far as was measured; None unless learned."""
        return self.curve.standing(self.plan.test_size).holds

    def model(self, position: str | None = None) -> Transformer:
        """The trained model, loaded from the folder; `position` reads it with another encoding, if that fits."""
        return load_model(self.folder, position)

    def _repr_html_(self) -> str:
        return self.curve._repr_html_()


@dataclass(frozen=True)
class Listener:
    """Who is told how the work goes: before it starts, after every check of training, after every size measured and
    after every level of a ladder."""

    planned: Callable[[Plan, Path], None] = lambda *_: None
    trained: Callable[[History], None] = lambda *_: None
    measured: Callable[[Point], None] = lambda *_: None
    climbed: Callable[[LevelPoint], None] = lambda *_: None


def carry_out(
    plan: Plan, folder: str | Path | None = None, listener: Listener | None = None, thread_count: int = 1
) -> Run:
    """Do what a plan says: train, save, measure, and write the record. What is on disk already is not done again."""
    listener = listener or Listener()
    check_own(plan.task, (plan.train_sizes[-1], plan.test_sizes[-1]))
    folder = Path(folder) if folder else default_folder(plan)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    listener.planned(plan, folder)
    _check_folder(folder, plan)
    if (folder / RUN).exists():
        stored = load_run(folder, plan.task)
        if _has_what_is_asked(stored, plan):
            return dataclasses.replace(stored, plan=plan)
    with threads(thread_count):
        begun = _trained(plan, folder, listener)
        model = load_model(folder)
        points = measure_model(model, plan.task.part("test"), plan.test_sizes, plan.items, plan.seed, listener.measured)
        ladder = _climb(model, plan, listener)
        sparsity = _sparsity(model, plan)
    curve = Curve(plan.task_name, plan.position_name, plan.train_size, plan.seed, points, plan.task.certain)
    history = History(**begun["history"])
    with writing(folder):
        if (folder / RUN).exists():  # from here on, and until all is written, the run is not finished
            write_json(folder / PLAN, begun)
            (folder / RUN).unlink()
        write_card(folder, model_card(plan, history, curve))
        write_json(folder / CURVE, curve.plain())
        if ladder is not None:
            write_ladder(folder, ladder)
        sparse = {"sparsity": [one.plain() for one in sparsity]} if plan.sparsity else {}
        files = {**begun["files"], **digests(folder, (CURVE, LADDER))}
        write_json(folder / RUN, sealed({"schema": SCHEMA, **begun, "plan": plan.plain(), "files": files, **sparse}))
        for name in (PLAN, CHECKPOINT):
            (folder / name).unlink(missing_ok=True)
    return Run(folder, plan, history, curve, begun["environment"], sparsity)


def measure(
    run: str | Path | Run,
    *,
    task: str | Task | None = None,
    test_size: int | None = None,
    sizes: list[int] | None = None,
    items: int = 200,
    seed: int | None = None,
    position: str | None = None,
    listener: Listener | None = None,
) -> Curve:
    """Measure a saved run again: at other sizes, on other items (`seed`), on another task with the same vocabulary, or
    read with another encoding that has the same parameters (`position="rope:scaling=yarn,factor=3"`)."""
    asked = tasks.make(task) if isinstance(task, str) else task
    run = run if isinstance(run, Run) else _load_for(run, asked)
    plan = run.plan
    asked = plan.task if asked is None else asked
    model = run.model(position)
    reads = (model.interface.vocabulary, model.interface.outputs)
    if (len(asked.vocabulary), asked.outputs) != reads or asked.vocabulary != plan.task.vocabulary:
        raise UsageError(
            f"the model was trained on other symbols than those of the task {name_of(asked)}; "
            "measure with the task it was trained on, or one with the same symbols and readout"
        )
    if sizes is None:
        largest = plan.test_size if test_size is None else test_size
        check_reaches(asked, largest)
        sizes = asked.sizes(1, largest)
    sizes = sorted(set(sizes))
    check_own(asked, sizes[-1:])
    seed = plan.seed if seed is None else seed
    with threads(1):
        points = measure_model(model, asked.part("test"), sizes, items, seed, (listener or Listener()).measured)
    read_with = positions.text_of(model.architecture.position)
    return Curve(name_of(asked), read_with, plan.train_size, seed, points, asked.certain)


def load_run(folder: str | Path, task: Task | None = None, trust: bool = False) -> Run:
    """The run kept in a folder. Its task may be a Python file, which runs only with `trust`; a `task` that is given
    stands in for the run's own."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `lengthwise train` writes one and prints its name")
    if not (folder / RUN).exists() and ((folder / PLAN).exists() or (folder / CHECKPOINT).exists()):
        raise UsageError(f"the run in {folder} is not finished; the command that began it goes on with it")
    record = read_json(folder / RUN)
    try:
        with trusting(trust):
            plan = Plan.from_plain(record["plan"], task)  # first, as a task that is gone can be given by the user
        check_run(folder)
        curve = Curve.from_plain(read_json(folder / CURVE))
        sparsity = tuple(Sparsity.from_plain(one) for one in record.get("sparsity", ()))
        return Run(folder, plan, History(**record["history"]), curve, record["environment"], sparsity)
    except (KeyError, TypeError) as error:
        raise UsageError(f"{folder / RUN} or {CURVE} is incomplete: {error} is missing or wrong") from error


def build_model(plan: Plan) -> Transformer:
    """The untrained model of a plan, in the form that its recipe asks for."""
    return in_form(fresh_model(plan.architecture, plan.interface(), plan.seed), plan.recipe.form, plan.seed)


def _trained(plan: Plan, folder: Path, listener: Listener) -> dict[str, Any]:
    """The record of the trained model in a folder, which is trained if it is not there: digest and plan, history,
    environment, and the files that were saved. It is kept in plan.json, so that what comes after can be begun again."""
    if (folder / RUN).exists():
        found = read_record(folder)
    elif "history" in _begun(folder):
        found = read_record(folder, PLAN)
        check_files(folder, found, MODEL)
    else:
        found = _train(plan, folder, listener)
    kept = {name: found[name] for name in ("digest", "plan", "history", "environment")}
    return sealed({**kept, "files": {name: found["files"][name] for name in MODEL if name in found["files"]}})


def _train(plan: Plan, folder: Path, listener: Listener) -> dict[str, Any]:
    """Train and save the model."""
    begun = {"digest": plan.digest(), "plan": plan.plain()}
    with writing(folder):
        write_json(folder / PLAN, begun)
    model = build_model(plan)
    history = train_model(
        model, plan.task.part("train"), plan.recipe, plan.train_size, plan.seed, folder / CHECKPOINT, listener.trained
    )
    if isinstance(model, Formed):
        save_coordinates(folder, model)
        model = model.settled()
    save_model(folder, model, model_card(plan, history))
    with writing(folder):
        found = {**begun, "history": vars(history), "environment": environment(), "files": digests(folder, MODEL)}
        write_json(folder / PLAN, sealed(found))
    return found


def _climb(model: Transformer, plan: Plan, listener: Listener) -> Ladder | None:
    if plan.ladder is None:
        return None
    from lengthwise.runs.climb import climb_run  # what it looks at inside a model takes long to load

    return climb_run(model, plan, listener.climbed)


def _sparsity(model: Transformer, plan: Plan) -> tuple[Sparsity, ...]:
    if not plan.sparsity:
        return ()
    from lengthwise.measurement.attention_rows import measure_sparsity  # taking a model apart is for those who ask

    return measure_sparsity(model, plan.task.part("test"), looked_at(plan.test_sizes, plan.train_size), plan.seed)


def _begun(folder: Path) -> dict[str, Any]:
    return read_json(folder / PLAN) if (folder / PLAN).exists() else {}


def _check_folder(folder: Path, plan: Plan) -> None:
    """Refuse to mix two plans in one folder, or a run with files of somebody else."""
    name = RUN if (folder / RUN).exists() else PLAN
    if not (folder / name).exists():
        others = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
        if strange := sorted(set(others) - set(_OF_A_WORKER)):
            raise UsageError(f"{folder} holds other files ({strange[0]} is one); give --folder a new or empty folder")
        return
    record = read_json(folder / name)
    if not (isinstance(record, dict) and isinstance(record.get("plan"), dict)):
        raise UsageError(f"{folder / name} is not the record of a run; give another --folder")
    begun = name == RUN or (folder / CHECKPOINT).exists() or "history" in record
    if begun and record.get("digest") != plan.digest():
        raise UsageError(f"{folder} holds another run ({_difference(record['plan'], plan)}); give another --folder")


def _difference(stored: dict[str, Any], plan: Plan) -> str:
    asked = plan.plain()
    for key in ("task", "model", "recipe", "train_size", "test_size", "seed"):
        if stored.get(key) != asked[key]:
            return f"its {key.replace('_', ' ')} differs"
    return "it was made by another version"


def _has_what_is_asked(stored: Run, plan: Plan) -> bool:
    """Whether what is on disk is of the sizes, number of items, ladder and sparsity that the plan asks for."""
    points = stored.curve.points
    curve = [point.size for point in points] == plan.test_sizes and {point.items for point in points} == {plan.items}
    sparse = bool(stored.sparsity) or not plan.sparsity
    return curve and sparse and (plan.ladder is None or holds_ladder(stored.folder, plan.ladder, stored.plan.ladder))


def _load_for(folder: str | Path, task: Task | None) -> Run:
    """The run of a folder with the task it was made with; with `task` in its place where no name leads to that one."""
    try:
        return load_run(folder)
    except UsageError:
        if task is None:
            raise
        return load_run(folder, task)
