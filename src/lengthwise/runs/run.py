"""Train and measure: the two verbs, and the `Run` they give.

A run is a folder: `run.json` (plan, history, environment, and what was asked of the trained model), `records/`, which
holds one file for each probe, a model folder's `config.json`, `model.safetensors` and `README.md`, and
`form.safetensors`, the coordinates, where the weights were trained in a form. `run.json` is written once everything is
measured, so its presence means completeness, and holds the SHA-256 of the other files, which are compared whenever the
run is used again. Until then there is a `plan.json`, which also holds the history once the model is trained and then
each record that is finished, and during training a `checkpoint.safetensors`: from these the same call resumes. A
`journal.jsonl` lets others follow the training. A probe that a finished run lacks is measured alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256, write_json, writing
from lengthwise.hardware import computing, current
from lengthwise.integrity import (
    CHECKPOINT,
    JOURNAL,
    MODEL,
    PLAN,
    RUN,
    check_files,
    check_run,
    damage,
    digests,
    read_record,
    sealed,
)
from lengthwise.models.folder import load_model, load_weights, save_model, write_card
from lengthwise.models.formed import Formed, in_form, save_coordinates
from lengthwise.models.model import BuiltModel
from lengthwise.models.named import model_of
from lengthwise.models.network import ModuleNetwork, Network, check_network, fresh_network
from lengthwise.models.placed import device_of, home, placed
from lengthwise.positions import Position
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.spread import Spread, over_seeds
from lengthwise.probes.probe import Context, Probe, ask, called, make_probes, named, slug_of
from lengthwise.progress import Progress, shown, silent
from lengthwise.records import Record
from lengthwise.runs.answers import Failure, answer_of, failures_of
from lengthwise.runs.card import model_card
from lengthwise.runs.environment import environment, threads
from lengthwise.runs.plan import SCHEMA, Plan, Settings, default_folder, folder_of_seed, plan_for
from lengthwise.runs.stored import read_records, write_record
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.python import is_python
from lengthwise.subjects.run import OwnSubject, StoredRun, is_own
from lengthwise.subjects.symbols import Tokens
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.sizes import check_reaches, name_of
from lengthwise.tasks.task import Task
from lengthwise.training.loop import History, train_model
from lengthwise.trust import trusting

_OF_A_WORKER = ("beat.json", "error.txt")  # what may lie in a folder before its plan does, apart from hidden files


@dataclass(frozen=True, repr=False)
class Run:
    """A trained model with its plan, its history and what was measured of it: `records`, by the name of their file."""

    folder: Path
    plan: Plan
    history: History
    records: Mapping[str, Record] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)

    def record(self, name: str) -> Record:
        """What a probe found, by the probe's name: `run.record("ladder")`."""
        found = self.records.get(name) or named(self.records.values(), name)
        if found is None:
            known = ", ".join(self.records)
            raise UsageError(f"the run in {self.folder} has no record of {called(name)!r}; it has {known}")
        return found

    @cached_property
    def curve(self) -> Curve:
        return Curve.from_record(self.record("curve"))

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

    def model(self, position: str | None = None) -> Network:
        """The trained model, loaded from the folder; `position` reads it with another encoding, if that fits. Of a
        network of yours, `run.model().module` is the module itself."""
        return load_model(self.folder, position, self.plan.architecture)

    def subject(self, position: str | None = None) -> OwnSubject:
        """The run as something that probes can be put to."""
        record = {"plan": self.plan.plain(), "digest": self.plan.digest(), "history": vars(self.history)}
        return _subject(self.folder, self.plan, self.model(position), record)

    def answer(self, prompt: str) -> str:
        """What the model answers to a prompt, symbols with spaces between: `run.answer("9 3 41 7")`."""
        return " ".join(answer_of(self.model(), self.plan.task, prompt.split(), self.plan.seed))

    def failures(self, size: int, count: int = 5, items: int = 1000) -> list[Failure]:
        """The first wrongly answered test items of one size, among the first `items`."""
        return failures_of(self.model(), self.plan.task, size, count, items, self.plan.seed)

    def __repr__(self) -> str:
        return f"Run({self.folder}: {self.curve!r}; records: {', '.join(self.records)})"

    def _repr_html_(self) -> str:
        return self.curve._repr_html_()


def carry_out(plan: Plan, folder: str | Path | None = None, progress: Progress = silent, thread_count: int = 1) -> Run:
    """Do what a plan says: train, save, ask its probes, and write the record. What is on disk is not done again."""
    how = current()
    device_of(how.device or "cpu")  # one that is not here is said before anything is written
    check_own(plan.task, (plan.train_sizes[-1], plan.test_sizes[-1]))
    folder = Path(folder) if folder else default_folder(plan)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    _check_folder(folder, plan)
    with threads(thread_count), computing(how.device, compile=how.compile):  # what a run keeps is in float32
        record = _measured(plan, folder, _trained(plan, folder, progress), progress)
    return Run(folder, plan, History(**record["history"]), read_records(folder, record), record["environment"])


@overload
def train(
    task: str | Task,
    position: str | Position | None = None,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: Literal[1] = 1,
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run: ...


@overload
def train(
    task: str | Task,
    position: str | Position | None = None,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: int | Sequence[int],
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run | Spread: ...


def train(
    task: str | Task,
    position: str | Position | None = None,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: int | Sequence[int] = 1,
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run | Spread:
    """Train a model on sizes up to `train_size` (by default 20, or less for a task that ends before 60) and measure it
    at every size up to `test_size` (by default three times the training size), on `items` items per size. The run is
    kept in `folder`. If a finished run with the same plan is there, it is returned; an interrupted one is resumed.

    `seeds` is a number of seeds, from 0 on, or a list of them. One seed gives a `Run`; several give a `Spread` of their
    curves, and each run has a folder of its own inside `folder`. `probes` are put to the trained model in addition to
    the curve, as in probes=["ladder:items=200"]. `progress` is called with what is being done; by default a terminal
    and a notebook show a bar.

    `model` is what is trained, our Transformer unless another is given: a name such as lstm:width=64, a class in a
    file ("my.py::Net"), a class of `torch.nn.Module`, or a network, whose weights are then where training begins. With
    `start`, the folder of a run, it begins with the weights of that run, whose shape is taken over: `start=folder` and
    position "none" drops the positions of a trained model and recalibrates it.

    A layout of your own is the task "layout:path=layout.py": rope unless given, and the windows that `check` finds.

    All other arguments are settings of our Transformer and of training, the fields of `Architecture` and `Recipe`. They
    replace those of the task's preset, exactly as the options of the same names do on the command line: a setting that
    you do not give keeps the preset's value. The names and types are those of `lengthwise.runs.plan.Settings`, which
    editors and type checkers know.

    >>> run = lw.train("sort", "learned+offset", train_size=20, test_size=60)    # doctest: +SKIP
    >>> run.reach, run.curve.bins()[-1].exact                                     # doctest: +SKIP
    >>> lw.train("sort", "rope", depth=4, steps=200, seeds=3)                     # doctest: +SKIP
    >>> lw.train("parity", model="my.py::Net:hidden=32", test_size=200)           # doctest: +SKIP
    """
    given = {"train_size": train_size, "test_size": test_size, "items": items, "probes": make_probes(probes)}
    plans = [plan_for(task, position, settings, seed=seed, **given) for seed in seeds_of(seeds)]
    with shown(progress) as told:
        if len(plans) == 1:
            return carry_out(plans[0], folder, told)
        runs = [carry_out(plan, folder and folder_of_seed(folder, plan), told) for plan in plans]
    return over_seeds([run.curve for run in runs])


def seeds_of(given: int | Sequence[int]) -> tuple[int, ...]:
    """`3` is the seeds 0, 1 and 2; a list names them."""
    if type(given) is int and given >= 1:
        return tuple(range(given))
    named = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if not named or any(type(seed) is not int for seed in named) or len(set(named)) < len(named):
        raise UsageError(f"seeds is a number of seeds, 1 or more, or a list of different seeds, not {given!r}")
    return named


class Reading(TypedDict, total=False):
    """How `measure` reads a model that is no run, as keyword arguments."""

    tokens: Tokens | None


def measure(
    run: str | Path | Run | Any,
    task: str | Task | None = None,
    *,
    test_size: int | None = None,
    sizes: Sequence[int] | None = None,
    items: int = 200,
    seed: int | None = None,
    position: str | None = None,
    train_size: int | None = None,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> Curve:
    """Measure a saved run again: at other sizes, on other items (`seed`), on another task with the same vocabulary, or
    read with another encoding that has the same parameters (`position="rope:scaling=yarn,factor=3"`).

    Anything else that answers is measured on a `task`: a network that was trained elsewhere, which takes tokens [items,
    tokens], numbered as in `task.vocabulary`, and gives [items, tokens, task.outputs]; an object with
    `answer(prompts)`; or a file that makes one, "my.py::build". `train_size` is the size it was trained to, by which it
    is judged whether it has learned.

    A model of `transformers`, as an object or a folder, needs `tokens`: which of its tokens the symbols of the task are
    (docs/how-to/hub-models.md)."""
    if unknown := set(reading) - set(Reading.__annotations__):
        raise TypeError(f"measure() got an unexpected keyword argument {min(unknown)!r}")
    tokens = reading.get("tokens")
    if sizes is not None and not sizes:
        raise UsageError("no items in the range of sizes asked for: the list of sizes is empty")
    asked = tasks.make(task) if isinstance(task, str) else task
    is_run = isinstance(run, Run | Path) or (isinstance(run, str) and not is_python(run))
    if is_run and tokens is not None and not isinstance(run, Run):
        is_run = is_own(Path(run))
    if not is_run:
        if position is not None:
            raise UsageError("only a run can be read with another encoding; leave the position out")
        context = Context(asked, train_size, tuple(sizes or ()), items, seed or 0)
        with shown(progress) as told:
            context = dataclasses.replace(context, progress=told).sized(CurveProbe(), test_size)
            return Curve.from_record(ask(CurveProbe(), open_subject(run, tokens), context))
    if tokens is not None:
        raise UsageError("a run knows its own symbols; leave the token map out")
    if train_size is not None:
        raise UsageError("a run knows its training size; leave train_size out")
    run = run if isinstance(run, Run) else _load_for(run, asked)
    context = Context(asked, None, tuple(sizes or ()), items, run.plan.seed if seed is None else seed)
    with shown(progress) as told:
        return Curve.from_record(ask_run(run, [CurveProbe()], context, test_size, position, told)[0])


def ask_run(
    run: Run,
    asked: Sequence[Probe],
    context: Context,
    test_size: int | None = None,
    position: str | None = None,
    progress: Progress = silent,
) -> list[Record]:
    """Put probes to a finished run, on its own task unless the context has another, at the sizes of the context or, if
    it has none, at those that each probe chooses up to the test size. Nothing is stored."""
    plan = run.plan
    task = plan.task if context.task is None else context.task
    if task.vocabulary != plan.task.vocabulary or task.outputs != plan.task.outputs:
        raise UsageError(
            f"the model was trained on other symbols than those of the task {name_of(task)}; "
            "measure with the task it was trained on, or one with the same symbols and readout"
        )
    largest = max(context.sizes) if context.sizes else plan.test_size if test_size is None else test_size
    check_reaches(task, largest)
    check_own(task, task.sizes(1, largest)[-1:] or [largest])
    context = dataclasses.replace(context, task=task, train_size=plan.train_size, progress=progress)
    subject, found = run.subject(position), []
    with threads(1):
        for probe in asked:
            sizes = context.sizes or tuple(probe.sizes(task, plan.train_size, largest))
            found.append(ask(probe, subject, dataclasses.replace(context, sizes=sizes)))
    return found


def load_run(folder: str | Path, task: Task | None = None, trust: bool = False, model: Any = None) -> Run:
    """The run kept in a folder. Its task or its model may be a Python file, which runs only with `trust`; a `task` that
    is given stands in for the run's own, and so does a `model`, which must be the one it was trained with."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `lengthwise train` writes one and prints its name")
    if not (folder / RUN).exists() and ((folder / PLAN).exists() or (folder / CHECKPOINT).exists()):
        raise UsageError(f"the run in {folder} is not finished; run its command again to resume")
    record = read_json(folder / RUN)
    try:
        with trusting(trust):
            given = None if model is None else model_of(model)
            plan = Plan.from_plain(
                record["plan"], task, given
            )  # first, as a task that is gone can be given by the user
        record = check_run(folder)
        history = History(**record["history"])
        return Run(folder, plan, history, read_records(folder, record), record["environment"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"{folder / RUN} is incomplete: {error} is missing or wrong") from error


def build_model(plan: Plan) -> Network:
    """The untrained model of a plan, where it is to be trained and in the form that its recipe asks for; a network of
    the user's is tried first."""
    model = fresh_network(plan.architecture, plan.interface(), plan.seed)
    if plan.start is not None:
        load_weights(model, Path(plan.start.folder), plan.start.weights)
    model = placed(model, dataclasses.replace(current(), precision=plan.recipe.precision))
    if not isinstance(model, ModuleNetwork):
        return in_form(model, plan.recipe.form, plan.seed)
    if not isinstance(plan.architecture, BuiltModel):
        check_network(model, f"the model {plan.model_name}", plan.interface().trained)
    return model


def _trained(plan: Plan, folder: Path, progress: Progress) -> dict[str, Any]:
    """The record of the trained model in a folder, which is trained if it is not there: digest and plan, history,
    environment, and the files that were saved. It is kept in plan.json, so that what comes after can be begun again."""
    if (folder / RUN).exists():
        found = read_record(folder)
    elif "history" in _begun(folder):
        found = read_record(folder, PLAN)
    else:
        found = _train(plan, folder, progress)
    check_files(folder, found, MODEL)
    return found


def _train(plan: Plan, folder: Path, progress: Progress) -> dict[str, Any]:
    """Train and save the model."""
    begun = {"schema": SCHEMA, "digest": plan.digest(), "plan": plan.plain()}
    with writing(folder):
        write_json(folder / PLAN, begun)

    model, task = build_model(plan), plan.task.part("train")
    made = {**environment(), "device": str(home(model)), "compiled": current().compile}
    places = {"checkpoint": folder / CHECKPOINT, "journal": folder / JOURNAL}
    history = train_model(model, task, plan.recipe, plan.train_size, plan.seed, progress=progress, **places)
    if isinstance(model, Formed):
        save_coordinates(folder, model)
        model = model.settled()
    save_model(folder, model, model_card(plan, history))
    with writing(folder):
        found = {**begun, "history": vars(history), "environment": made, "files": digests(folder, MODEL)}
        write_json(folder / PLAN, sealed(found))
    return found


def _measured(plan: Plan, folder: Path, found: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """The record of a run after the probes of its plan were asked. A record that is there, whole and of the same sizes
    and items stays; the others are written one by one, each noted as soon as it is."""
    finished, asked = (folder / RUN).exists(), plan.asked()
    found = {"records": {}, **found}
    subject: OwnSubject | None = None
    for probe in plan.probes:
        slug = slug_of(probe)
        if found["records"].get(slug) == asked[slug] and not damage(folder, found, slug):
            continue
        subject = subject or _subject(folder, plan, load_model(folder, given=plan.architecture), found)
        record = ask(probe, subject, plan.context(probe, progress))
        with writing(folder):
            name = write_record(folder, slug, record)
            if isinstance(probe, CurveProbe):
                write_card(folder, model_card(plan, History(**found["history"]), Curve.from_record(record)))
            found = {
                **found,
                "plan": plan.plain(),
                "files": {**found["files"], name: sha256(folder / name)},
                "records": {**found["records"], slug: asked[slug]},
            }
            write_json(folder / (RUN if finished else PLAN), sealed(found))
    if not finished:
        with writing(folder):
            write_json(folder / RUN, sealed(found))
            for name in (PLAN, CHECKPOINT, JOURNAL):
                (folder / name).unlink(missing_ok=True)
    return found


def _subject(folder: Path, plan: Plan, model: Network, record: Mapping[str, Any]) -> OwnSubject:
    return OwnSubject(folder.name, model, folder, StoredRun(folder, record, plan.task))


def _begun(folder: Path) -> dict[str, Any]:
    return read_json(folder / PLAN) if (folder / PLAN).exists() else {}


def _check_folder(folder: Path, plan: Plan) -> None:
    """Refuse to mix two plans in one folder, or a run with files of somebody else."""
    name = RUN if (folder / RUN).exists() else PLAN
    if not (folder / name).exists():
        others = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
        if strange := sorted(set(others) - set(_OF_A_WORKER)):
            raise UsageError(f"{folder} holds other files ({strange[0]} is one); give a new or empty folder")
        return
    record = read_json(folder / name)
    if not (isinstance(record, dict) and isinstance(record.get("plan"), dict)):
        raise UsageError(f"{folder / name} is not the record of a run; give another folder")
    begun = name == RUN or (folder / CHECKPOINT).exists() or "history" in record
    if begun and record.get("digest") != plan.digest():
        raise UsageError(f"{folder} holds another run ({_difference(record['plan'], plan)}); give another folder")


def _difference(stored: dict[str, Any], plan: Plan) -> str:
    asked = plan.plain()
    for key in ("task", "model", "recipe", "train_size", "test_size", "seed"):
        if stored.get(key) != asked[key]:
            return f"its {key.replace('_', ' ')} differs"
    return "it was made by another version"


def _load_for(folder: str | Path, task: Task | None) -> Run:
    """The run of a folder with the task it was made with; with `task` in its place where no name leads to that one."""
    try:
        return load_run(folder)
    except UsageError:
        if task is None:
            raise
        return load_run(folder, task)
