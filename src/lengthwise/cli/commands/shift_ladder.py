"""`shift TASK --ladder`: how far every level of a task's ladder is from training, as a table."""

from __future__ import annotations

import argparse

from lengthwise.cli.output import wrapped, write_object
from lengthwise.errors import UsageError
from lengthwise.shift.ladder import NULLS, LadderShift, measure_ladder
from lengthwise.shift.level_shift import LevelShift
from lengthwise.shift.samples import ITEMS
from lengthwise.tasks import tasks

_OTHERS = ("second", "from_sizes", "to_sizes", "resamples", "figure", "method")

_NAMES = {"second": "a second file", "from_sizes": "--from", "to_sizes": "--to"}


def run_ladder(options: argparse.Namespace) -> int:
    """Measure the ladder in one metric and print it."""
    for name in _OTHERS:
        if getattr(options, name) is not None:
            raise UsageError(f"--ladder draws all its samples itself, so {_NAMES.get(name, f'--{name}')} is not taken")
    if options.train_size is None:
        raise UsageError("--ladder needs --train-size, the largest size of training, as in `--ladder --train-size 3`")
    task, items = tasks.make(options.first), ITEMS if options.items is None else options.items
    found = measure_ladder(task, options.train_size, (options.metric,), items, options.seed or 0)
    if options.json:
        claims = [claim.plain() for claim in found.claims()]
        write_object("shift", {"train_size": options.train_size, "levels": found.plain(), "claims": claims})
    else:
        _write(found, NULLS)
    return 0


def _write(found: LadderShift, pairs: int) -> None:
    training = found.levels[0]
    beside = f"where two samples of training are {training.null:.4g} apart"
    print(wrapped(f"{training.task}: {training.items} items per level, metric {training.metric}, {beside}."))
    print(f"\n{'level':<16}{'W1':>9}{'null':>9}{'W1/null':>10}  {'95 % interval':^21}".rstrip())
    axis = training.axis
    for level in found.levels:
        if level.axis != axis:
            axis = level.axis
            print()
        print(_row(level))
    print()
    notes = [
        f"W1 in {training.unit}: certified distance of two samples",
        f"null: measured, the mean of {pairs} pairs of samples of training; it falls as items grow, so ratios are for "
        f"{training.items} items",
        "interval: measured, of the W1 of the distributions, which is smaller than that of samples on average",
    ]
    for note in notes:
        print(wrapped(note, "- ", "  "))


def _row(level: LevelShift) -> str:
    ratio = f"{level.ratio:.2f}" if level.null > 0 else "–"  # nothing to be measured in
    ends = f"{level.low:.4g} to {level.high:.4g}"
    return f"{level.name:<16}{level.w1:>9.4g}{level.null:>9.4g}{ratio:>10}  {ends:^21}".rstrip()
