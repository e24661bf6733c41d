"""What `lengthwise forecast` does: before training, for a trained model, and over the whole atlas."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.commands.records import elsewhere, write_record
from lengthwise.cli.options import task_chosen, task_needed
from lengthwise.cli.output import write_object
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, load_atlas
from lengthwise.forecasts.checkpoint import forecast_subject
from lengthwise.forecasts.conformal import LEVEL
from lengthwise.forecasts.evaluate import evaluate
from lengthwise.forecasts.forecast import forecast
from lengthwise.forecasts.unlabelled import forecast_unlabelled
from lengthwise.integrity import RUN
from lengthwise.probes.probe import Context
from lengthwise.progress import shown
from lengthwise.records import Record
from lengthwise.reports.record_section import RecordPage, write_record_page
from lengthwise.tasks import tasks

_SUBJECT = ("seen", "check", "unlabelled", "items", "of_task")  # options of a trained model


def run(options: argparse.Namespace) -> int:
    level = LEVEL if options.level is None else options.level
    if not 0 < level < 1:
        raise UsageError(f"--level must lie between 0 and 1, not {level:g}")
    atlas = load_atlas(options.atlas)
    if options.evaluate:
        record = _evaluated(atlas, options)
    elif options.seen is not None:
        record = _of_subject(atlas, level, options)
    else:
        record = _before(atlas, level, options)
    if options.page is not None:
        write_record_page(RecordPage(record.title, record.text[:1], (), (record,)), Path(options.page))
    if options.json:
        write_object("forecast", record.plain())
    else:
        write_record(record, elsewhere(options), claims=options.evaluate)
    return 0


def _before(atlas: Atlas, level: float, options: argparse.Namespace) -> Record:
    for name in _SUBJECT[1:]:
        if getattr(options, name):
            option = "task" if name == "of_task" else name
            raise UsageError(f"--{option} goes with --seen N, the size that a trained model was measured to")
    if options.task is not None and Path(options.task, RUN).exists():
        raise UsageError(f"{options.task} is a run; say up to which size it is to be measured with --seen N")
    task = tasks.make(task_needed(options))
    how = {"model": options.model or "transformer", "train_size": options.train_size, "level": level}
    return forecast(task, options.position or "none", **how, atlas=atlas)


def _evaluated(atlas: Atlas, options: argparse.Namespace) -> Record:
    given = ("task", "regex", "dfa", "data", "position", "model", "train_size", "level", *_SUBJECT)
    if wrong := [name for name in given if getattr(options, name)]:
        raise UsageError(f"--evaluate forecasts the tasks of the atlas; leave {wrong[0].replace('_', '-')} out")
    with shown(quiet=options.quiet) as progress:
        return evaluate(atlas, progress)


def _of_subject(atlas: Atlas, level: float, options: argparse.Namespace) -> Record:
    """The forecast for a trained model."""
    if options.task is None:
        raise UsageError("say which model: the folder of a run, or my.py::build")
    if options.model is not None:
        raise UsageError("--model is for a forecast before training; with --seen the model is the first argument")
    spec = task_chosen(argparse.Namespace(**{**vars(options), "task": options.of_task}))
    task = None if spec is None else tasks.make(spec)
    from lengthwise.subjects.open import open_subject  # torch

    subject = open_subject(options.task)
    with shown(quiet=options.quiet) as progress:
        context = Context(task, options.train_size, (), options.items, options.seed or 0, progress=progress)
        if options.unlabelled is not None:
            return forecast_unlabelled(subject, options.unlabelled, context, seen=options.seen)
        how = {"position": options.position, "check": options.check, "level": level}
        return forecast_subject(subject, context, seen=options.seen, atlas=atlas, **how)
