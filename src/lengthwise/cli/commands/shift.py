"""What `lengthwise shift` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.figure import check_figure
from lengthwise.cli.commands.shift_ladder import run_ladder
from lengthwise.cli.commands.shift_table import write_shift
from lengthwise.cli.options import at_least
from lengthwise.cli.output import narrate, write_object
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.noise import RESAMPLES
from lengthwise.shift.result import Shift
from lengthwise.shift.samples import ITEMS, task_sample
from lengthwise.tasks import tasks


def run(options: argparse.Namespace) -> int:
    at_least(20, options.resamples, "--resamples")
    at_least(2, options.items, "--items")
    check_figure(options.figure, "--figure")
    if options.ladder:
        return run_ladder(options)
    if options.train_size is not None:
        raise UsageError("--train-size goes with --ladder; a task at two sizes takes --from and --to")
    shift = _measured(options)
    if options.figure is not None:
        from lengthwise.shift.picture import save_picture  # altair

        try:
            save_picture(options.figure, shift)
        except OSError as error:
            raise UsageError(f"cannot write the figure {options.figure}: {error.strerror or error}") from error
        narrate(f"figure in {options.figure}", options.quiet)
    if options.json:
        write_object("shift", shift.plain())
    else:
        write_shift(shift)
    if options.require and shift.transported.certificate.status == "refused":
        raise CertificateRefused(f"the distance was not certified: {shift.transported.certificate.why}")
    return 0


def _measured(options: argparse.Namespace) -> Shift:
    choice = {
        "metric": options.metric,
        "method": "auto" if options.method is None else options.method,
        "resamples": RESAMPLES if options.resamples is None else options.resamples,
        "seed": options.seed or 0,
    }
    sizes = (options.from_sizes, options.to_sizes)
    if options.second is not None:
        if sizes != (None, None) or options.items is not None:
            raise UsageError("--from, --to and --items go with a task, not with two files")
        return measure_shift(options.first, options.second, **choice)
    if None in sizes:
        raise UsageError(
            "give two files, or a task at two sizes as in `lengthwise shift sort --from 10 --to 40`; "
            f"{options.first} is given alone"
        )

    task, items, seed = tasks.make(options.first), options.items or ITEMS, options.seed or 0
    first, second, fit_on = (
        task_sample(task, at, items, seed, role)
        for at, role in ((sizes[0], "first"), (sizes[1], "second"), (sizes[0], "fit"))
    )
    return measure_shift(first, second, **choice, fit_on=fit_on)
