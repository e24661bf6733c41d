"""Measure how far test trajectories are from training ones: two files, a task at two sizes, or a task's ladder.

The distance is Wasserstein-1 with a certificate, compared with the noise between two samples of one distribution, and
explained: which numbers and which trajectories account for it. A file holds one JSON object per line, such as
{"text": "3 1 2"} or {"input": ..., "answer": ...}, optionally with "weight", "depth" and "features". The first sample
is training.

Metrics: features (length, depth, backtracks ...), contour (the depth profile), edit, ngrams:n=2, and
hidden:model=FOLDER (mean hidden states of a frozen model).

With --ladder the levels of a task (deeper, wider, other values) are measured one by one, each against training.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_trust, at_least, whole
from lengthwise.errors import CertificateRefused, UsageError

if TYPE_CHECKING:
    from lengthwise.shift.result import Shift


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("first", metavar="FIRST", help="the training file; or a task with --from and --to, or --ladder")
    add("second", nargs="?", metavar="SECOND", help="the file to compare with it")
    add("--from", dest="from_sizes", metavar="SIZES", help="with a task: the training size or sizes, such as 5-10")
    add("--to", dest="to_sizes", metavar="SIZES", help="with a task: the size or sizes to compare with")
    add("--ladder", action="store_true", help="with a task: every level of its ladder, each against training")
    add("--train-size", type=whole, metavar="N", help="with --ladder: the largest size of training")
    add("--metric", default="features", metavar="SPEC", help="how far apart two trajectories are (features)")
    add("--method", metavar="NAME", help="how the distance is computed (auto: chosen and reported)")
    add("--items", type=whole, metavar="N", help="with a task: trajectories at each end or level (200)")
    add("--resamples", type=whole, metavar="N", help="splits and permutations for the noise (100)")
    add("--picture", metavar="FILE", help="draw it into this .svg, .png or .html file")
    add("--require-certificate", action="store_true", help="exit with 3 if the distance is not certified")
    add_trust(parser, "the run of hidden:model=RUN")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.figure import check_figure
    from lengthwise.cli.output import narrate, write_object

    at_least(20, options.resamples, "--resamples")
    at_least(2, options.items, "--items")
    check_figure(options.picture, "--picture")
    if options.ladder:
        from lengthwise.cli.shift_ladder import run_ladder

        return run_ladder(options)
    if options.train_size is not None:
        raise UsageError("--train-size goes with --ladder; a task at two sizes takes --from and --to")
    shift = _measured(options)
    if options.picture is not None:
        from lengthwise.shift.picture import save_picture

        try:
            save_picture(options.picture, shift)
        except OSError as error:
            raise UsageError(f"cannot write the picture {options.picture}: {error.strerror or error}") from error
        narrate(f"picture in {options.picture}", options.quiet)
    if options.json:
        write_object("shift", shift.plain())
    else:
        from lengthwise.cli.shift_table import write_shift

        write_shift(shift)
    if options.require_certificate and shift.transported.certificate.status == "refused":
        raise CertificateRefused(f"the distance was not certified: {shift.transported.certificate.why}")
    return 0


def _measured(options: argparse.Namespace) -> Shift:
    from lengthwise.shift.compare import measure_shift
    from lengthwise.shift.noise import RESAMPLES

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
    from lengthwise.shift.samples import ITEMS, task_sample
    from lengthwise.tasks import tasks

    task, items, seed = tasks.make(options.first), options.items or ITEMS, options.seed or 0
    first, second, fit_on = (
        task_sample(task, at, items, seed, role)
        for at, role in ((sizes[0], "first"), (sizes[1], "second"), (sizes[0], "fit"))
    )
    return measure_shift(first, second, **choice, fit_on=fit_on)
