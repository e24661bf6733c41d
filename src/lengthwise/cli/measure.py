"""Measure a saved run again: at other sizes, on other items, or read with another encoding of the same parameters.

Extending a model's context is tried this way: train with rope, then measure with --position rope:scaling=yarn,factor=3.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_task_options, at_least, task_chosen, whole

if TYPE_CHECKING:
    from lengthwise.measurement.curve import Curve
    from lengthwise.runs.run import Run
    from lengthwise.tasks.task import Task


def add_options(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    add_task_options(parser, "measure on this task, which has the same symbols (the run's own)")
    add = parser.add_argument
    add("--test-size", type=whole, metavar="N", help="measure at every size up to this (the run's own test size)")
    add("--items", type=whole, default=200, metavar="N", help="test items at each size (200)")
    add("--position", metavar="SPEC", help="read the model with this encoding instead of its own")
    add("--generate", action="store_true", help="also write answers token by token: do they agree?")
    add("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    parser.seed_help = "the seed of the test items (the run's own)"


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.figure import check_figure, draw
    from lengthwise.cli.output import warn, write_object
    from lengthwise.cli.progress import progress
    from lengthwise.cli.results import write_curve
    from lengthwise.runs.run import measure
    from lengthwise.tasks import tasks
    from lengthwise.tasks.sizes import check_reaches

    at_least(1, options.items, "--items")
    check_figure(options.figure)
    spec = task_chosen(options)
    task = None if spec is None else tasks.make(spec)
    loaded = _load(options.run, task)
    task = task or loaded.plan.task
    at_least(1, options.test_size, "--test-size")
    warn(task.warnings(), options.quiet)
    largest = options.test_size or loaded.plan.test_size
    check_reaches(task, largest)
    sizes = task.sizes(1, largest)
    choice = {"sizes": sizes, "items": options.items, "seed": options.seed, "position": options.position}
    with progress(0, sizes, options.quiet) as listener:
        curve = measure(loaded, task=task, **choice, listener=listener)
    agreement = _generated(loaded, task, curve, options.position) if options.generate else None
    draw(options.figure, [curve.plain()], options.quiet)
    if options.json:
        write_object("measure", {"run": str(options.run), "curve": curve.plain(), "generated": agreement})
    else:
        write_curve(curve)
        if agreement:
            print(f"written token by token: {agreement['agree']} of {agreement['items']} items judged alike")
    return 0


def _load(folder: str, task: Task | None) -> Run:
    """The run in a folder; a task that is given stands in for one whose file is no longer where it was."""
    from lengthwise.errors import UsageError
    from lengthwise.runs.run import load_run

    try:
        return load_run(folder)
    except UsageError as error:
        if not _task_is_lost(folder):
            raise
        if task is None:
            again = f"`lengthwise measure {folder} NEW_PLACE.py::Task`, or --data FILE"
            raise UsageError(f"the task of the run is not found: {error}; give it again, as in {again}") from error
        return load_run(folder, task)


def _task_is_lost(folder: str) -> bool:
    """Whether what the run says about its task leads to no task any more."""
    from lengthwise.errors import UsageError
    from lengthwise.files import read_json
    from lengthwise.runs.run import RUN
    from lengthwise.tasks import tasks

    try:
        spec = read_json(Path(folder) / RUN)["plan"]["task"]
    except (UsageError, KeyError, TypeError):
        return False
    try:
        tasks.make(spec)
    except (UsageError, KeyError, TypeError):
        return True
    return False


def _generated(run: Run, task: Task, curve: Curve, position: str | None) -> dict[str, int]:
    """Greedy decoding of the items of the curve: of how many it says what the one forward pass said."""
    import torch

    from lengthwise.measurement.evaluate import measured_batches
    from lengthwise.measurement.greedy import greedy_right
    from lengthwise.models.batches import right_on

    model, task, alike, items = run.model(position), task.part("test"), 0, 0
    for point in curve.points:
        choice = (model, task, point.size, point.items, curve.seed)
        at_once = torch.cat([right_on(model, task, batch, seeds).items for batch, seeds in measured_batches(*choice)])
        alike += int((at_once.numpy() == greedy_right(*choice)).sum())
        items += point.items
    return {"agree": alike, "items": items}
