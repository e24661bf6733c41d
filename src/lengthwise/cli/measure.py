"""Measure a saved run again: at other sizes, on other items, or read with another encoding of the same parameters.

Extending a model's context is tried this way: train with rope, then measure with --position rope:scaling=yarn,factor=3.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lengthwise.cli.options import add_task_options, task_chosen, whole


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    add_task_options(parser)
    parser.add_argument("--test-size", type=whole, help="measure at every size up to this (the run's own test size)")
    parser.add_argument("--items", type=whole, default=200, help="test items at each size (200)")
    parser.add_argument("--position", help="read the model with this encoding instead of its own")
    parser.add_argument(
        "--generate", action="store_true", help="write answers token by token, and say whether all agree"
    )
    parser.add_argument("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_curve, write_object
    from lengthwise.cli.train import draw
    from lengthwise.errors import UsageError
    from lengthwise.runs.run import load_run, measure
    from lengthwise.tasks import tasks

    if options.test_size is not None and options.test_size < 1:
        raise UsageError(f"test-size is at least 1, not {options.test_size}")
    spec = task_chosen(options)
    loaded = load_run(options.run)
    task = None if spec is None else tasks.make(spec)
    curve = measure(
        loaded,
        task=task,
        test_size=options.test_size,
        items=options.items,
        seed=options.seed,
        position=options.position,
    )
    agreement = _generated(loaded, task, curve, options) if options.generate else None
    if options.figure:
        draw(Path(options.figure), [curve.plain()], options.quiet)
    if options.json:
        write_object("measure", {"run": str(options.run), "curve": curve.plain(), "generated": agreement})
    else:
        write_curve(curve)
        if agreement:
            print(f"written token by token: {agreement['agree']} of {agreement['items']} items judged alike")
    return 0


def _generated(run, task, curve, options: argparse.Namespace) -> dict[str, int]:
    """Greedy decoding on the same items; the count of right answers must be that of the curve at every size."""
    from lengthwise.measurement.greedy import greedy_right

    model, alike = run.model(options.position), 0
    for point in curve.points:
        right = int(
            greedy_right(model, (task or run.plan.task).part("test"), point.size, point.items, curve.seed).sum()
        )
        alike += point.items - abs(right - point.right)
    if not options.quiet:
        print(f"generated at {len(curve.points)} sizes", file=sys.stderr)
    return {"agree": alike, "items": sum(point.items for point in curve.points)}
