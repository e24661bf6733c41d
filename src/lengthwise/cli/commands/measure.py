"""What `lengthwise measure` does."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.commands.results import draw_curves, write_records
from lengthwise.cli.commands.tasks import first_line
from lengthwise.cli.options import task_chosen
from lengthwise.cli.output import warn, write_object, write_rows
from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import RUN
from lengthwise.models.attention import unsettled
from lengthwise.probes import probes
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.probes.probe import Context, Probe, make_probes
from lengthwise.progress import shown
from lengthwise.records import Record
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

if TYPE_CHECKING:
    from lengthwise.runs.run import Run


def run(options: argparse.Namespace) -> int:
    if options.list_probes:
        return _list(options.json)
    if options.subject is None:
        raise UsageError("say what to measure: the folder of a run, a Hub folder, a GGUF file, or my.py::build")
    if options.sizes is not None and options.test_size is not None:
        raise UsageError("--sizes and --test-size both say where to measure; give one of them")
    asked = _probes(options)
    with unsettled() as errors:
        records = _measured(asked, options)
    warn(_about_unsettled(errors), options.quiet)
    curves = [Curve.from_record(record) for record in records if record.source == "curve"]
    if options.figure and not curves:
        raise UsageError("--figure draws the curve; add --probe curve")
    draw_curves(options.figure, curves, options.quiet)
    if options.json:
        found = {"subject": str(options.subject), "records": [record.plain() for record in records]}
        write_object("measure", {**found, "unsettled": max(errors, default=0.0)})
    else:
        write_records(records)
    return 0


def _list(as_json: bool) -> int:
    lines = {name: first_line(probes.maker(name)) for name in probes.names()}
    if as_json:
        write_object("measure", {"probes": lines})
    else:
        write_rows(list(lines.items()))
    return 0


def _probes(options: argparse.Namespace) -> tuple[Probe, ...]:
    asked = make_probes(options.probe or ["curve"])
    if not options.generate:
        return asked
    if not any(isinstance(probe, CurveProbe) for probe in asked):
        raise UsageError("--generate goes with the curve of single answers; add --probe curve")
    return tuple(dataclasses.replace(one, generate=True) if isinstance(one, CurveProbe) else one for one in asked)


def _measured(asked: tuple[Probe, ...], options: argparse.Namespace) -> list[Record]:
    """The records of all probes, of a run or of another subject."""
    if options.task is not None and options.named is not None:
        raise UsageError("the task is given twice, by TASK and --task; give one of them")
    options.task = options.task or options.named
    spec = task_chosen(options)
    task = None if spec is None else tasks.make(spec)
    context = Context(task, options.train_size, _sizes(options.sizes), options.items, options.seed or 0)
    if not Path(options.subject, RUN).exists() and not Path(options.subject, "plan.json").exists():
        return _of_stranger(asked, context, options)
    if options.train_size is not None:
        raise UsageError("a run knows its training size; leave --train-size out")
    loaded = _load(options.subject, task)
    own = task or loaded.plan.task
    warn(own.warnings(), options.quiet)
    judged = own.certain and any(isinstance(probe, CurveProbe) for probe in asked)
    warn(too_few_items(options.items) if judged else [], options.quiet)
    if options.seed is None:
        context = Context(task, None, context.sizes, options.items, loaded.plan.seed)
    from lengthwise.runs.run import ask_run  # torch: listing probes needs none of it

    with shown(quiet=options.quiet) as progress:
        return ask_run(loaded, asked, context, options.test_size, options.position, progress)


def _of_stranger(asked: tuple[Probe, ...], context: Context, options: argparse.Namespace) -> list[Record]:
    """The records of something that is no run of ours: sizes are those given, or chosen up to the test size."""
    if options.position is not None:
        raise UsageError("only a run can be read with another encoding; leave --position out")
    from lengthwise.runs.run import ask_other, open_subject  # torch

    subject = open_subject(options.subject)
    with shown(quiet=options.quiet) as progress:
        return ask_other(subject, asked, context, options.test_size, progress)


def _about_unsettled(errors: list[float]) -> list[str]:
    """What is to be said of attention that is found by iteration and met its limit first."""
    if not errors:
        return []
    return [
        f"attention had not settled at its limit of iterations {len(errors):,} times (at worst {max(errors):.2g} of it "
        "in the wrong place)"
    ]


def _sizes(text: str | None) -> tuple[int, ...]:
    """`10,20,60` → (10, 20, 60); nothing where nothing is given."""
    if text is None:
        return ()
    try:
        sizes = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise UsageError(f"--sizes takes whole numbers with commas, as 10,20,60, not {text!r}") from None
    if sizes[0] < 1:
        raise UsageError(f"each of --sizes is at least 1, not {sizes[0]}")
    return sizes


def _load(folder: str, task: Task | None) -> Run:
    """The run in a folder; a task that is given stands in for one whose file is no longer where it was."""
    from lengthwise.runs.run import load_run  # torch

    try:
        return load_run(folder)
    except UsageError as error:
        if not _task_is_lost(folder):
            raise
        if task is None:
            again = f"`lengthwise measure {folder} NEW_PLACE.py::Task`, or --data FILE"
            lost = f"the task of the run cannot be had: {error}"
            raise UsageError(f"{lost}; or name the task yourself, as in {again}") from error
        return load_run(folder, task)


def _task_is_lost(folder: str) -> bool:
    """Whether what the run says about its task leads to no task any more."""
    try:
        tasks.restore(read_json(Path(folder) / RUN)["plan"]["task"])
    except (UsageError, KeyError, TypeError):
        return (Path(folder) / RUN).exists()
    return False
