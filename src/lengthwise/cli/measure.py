"""Measure a saved run again: at other sizes, on other items, or read with another encoding of the same parameters.

Extending a model's context is tried this way: train with rope, then measure with --position rope:scaling=yarn,factor=3.

With --recursive a model trained on the single steps of a formulation (as parity_columns) is run on its own output until
it says stop: at any size, without being told how many steps are right.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_task_options, add_trust, at_least, task_chosen, whole

if TYPE_CHECKING:
    from lengthwise.measurement.curve import Curve
    from lengthwise.runs.run import Run
    from lengthwise.tasks.task import Task


def add_options(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    add_task_options(parser, "measure on this task, which has the same symbols (the run's own)")
    add = parser.add_argument
    add("--test-size", type=whole, metavar="N", help="measure at every size up to this (the run's own test size)")
    add("--sizes", metavar="N,N,…", help="measure at these sizes instead, as 10,20,60")
    add("--items", type=whole, default=200, metavar="N", help="test items at each size (200)")
    add("--position", metavar="SPEC", help="read the model with this encoding instead of its own")
    add("--generate", action="store_true", help="also write answers token by token: do they agree?")
    add("--recursive", action="store_true", help="run a one-step model to the end of whole chains")
    add("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the test items (the run's own)"


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.figure import check_figure, draw
    from lengthwise.cli.output import warn, write_object
    from lengthwise.cli.progress import progress
    from lengthwise.cli.results import write_curve
    from lengthwise.measurement.standard import too_few_items
    from lengthwise.models.attention.settling import unsettled
    from lengthwise.runs.run import measure
    from lengthwise.tasks import tasks
    from lengthwise.tasks.sizes import check_reaches

    at_least(1, options.items, "--items")
    check_figure(options.figure)
    _check_options(options)
    spec = task_chosen(options)
    task = None if spec is None else tasks.make(spec)
    loaded = _load(options.run, task)
    task = task or loaded.plan.task
    at_least(1, options.test_size, "--test-size")
    warn(task.warnings(), options.quiet)
    chosen = _sizes(options.sizes)
    largest = max(chosen) if chosen else options.test_size or loaded.plan.test_size
    check_reaches(task, largest)
    if options.recursive:
        from lengthwise.cli.recursion import run_recursively

        return run_recursively(loaded, task, chosen or doubling(loaded.plan.train_size, largest, task), options)
    warn(too_few_items(options.items) if task.certain else [], options.quiet)
    sizes = chosen or task.sizes(1, largest)
    choice = {"sizes": sizes, "items": options.items, "seed": options.seed, "position": options.position}
    with unsettled() as errors:
        with progress(0, sizes, options.quiet) as listener:
            curve = measure(loaded, task=task, **choice, listener=listener)
        agreement = _generated(loaded, task, curve, options.position) if options.generate else None
    warn(_about_unsettled(errors), options.quiet)
    draw(options.figure, [curve.plain()], options.quiet)
    if options.json:
        found = {"run": str(options.run), "curve": curve.plain(), "generated": agreement}
        write_object("measure", {**found, "unsettled": max(errors, default=0.0)})
    else:
        write_curve(curve)
        if agreement:
            print(f"written token by token: {agreement['agree']} of {agreement['items']} items judged alike")
    return 0


def _about_unsettled(errors: list[float]) -> list[str]:
    """What is to be said of attention that is found by iteration and met its limit first."""
    if not errors:
        return []
    return [
        f"attention had not settled at its limit of iterations {len(errors):,} times (at worst {max(errors):.2g} of it "
        "in the wrong place)"
    ]


def _check_options(options: argparse.Namespace) -> None:
    """Refuse options that say two things, or that a recursive run has no use for."""
    from lengthwise.errors import UsageError

    if options.sizes is not None and options.test_size is not None:
        raise UsageError("--sizes and --test-size both say where to measure; give one of them")
    for name in ("generate", "figure"):
        if options.recursive and getattr(options, name):
            raise UsageError(f"--{name} goes with the curve of single answers, not with --recursive")


def _sizes(text: str | None) -> list[int]:
    """`10,20,60` → [10, 20, 60]; nothing where nothing is given."""
    from lengthwise.errors import UsageError

    if text is None:
        return []
    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"--sizes takes whole numbers with commas, as 10,20,60, not {text!r}") from None
    at_least(1, sizes[0], "each of --sizes")
    return sizes


def doubling(first: int, last: int, task: Task) -> list[int]:
    """The sizes first, 2 first, 4 first, … and last, as far as the task has them."""
    sizes = {last}
    while first < last:
        sizes.add(first)
        first *= 2
    return sorted(size for size in sizes if task.has(size))


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
            lost = f"the task of the run cannot be had: {error}"
            raise UsageError(f"{lost}; or name the task yourself, as in {again}") from error
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
        tasks.restore(spec)
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
