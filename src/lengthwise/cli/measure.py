"""Put probes to a trained model: accuracy by size unless --probe names others.

A saved run is measured at other sizes, on other items, on another task, or read with another encoding of the same
parameters. Extending a model's context is tried this way: train with rope, then measure with
--position rope:scaling=yarn,factor=3. `--list-probes` lists what can be measured.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.figure import check_figure, draw
from lengthwise.cli.options import Parser, add_task_options, add_trust, at_least, task_chosen, whole
from lengthwise.cli.output import warn, write_object, write_rows
from lengthwise.cli.results import write_curve
from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import RUN
from lengthwise.probes import probes
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.probes.probe import Context, ask, make_probes
from lengthwise.progress import shown

if TYPE_CHECKING:
    from lengthwise.probes.probe import Context, Probe
    from lengthwise.records import Record
    from lengthwise.runs.run import Run
    from lengthwise.tasks.task import Task


def add_options(parser: Parser) -> None:
    what = "the folder of a run, a Hub folder, a GGUF file, or my.py::build"
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=what)
    add_task_options(parser, "measure on this task, which has the same symbols (the run's own)")
    add = parser.add_argument
    add("--probe", action="append", metavar="SPEC", help="what to measure, as ladder:items=200; repeatable (curve)")
    add("--list-probes", action="store_true", help="list the probes")
    add("--test-size", type=whole, metavar="N", help="measure at every size up to this (the run's own test size)")
    add("--sizes", metavar="N,N,…", help="measure at these sizes instead, as 10,20,60")
    add("--items", type=whole, default=200, metavar="N", help="test items at each size (200)")
    add("--position", metavar="SPEC", help="read the model with this encoding instead of its own")
    add("--generate", action="store_true", help="also write answers token by token: do they agree?")
    add("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the test items (the run's own)"


def run(options: argparse.Namespace) -> int:
    from lengthwise.models.attention.settling import unsettled

    if options.list_probes:
        return _list(options.json)
    if options.subject is None:
        raise UsageError("say what to measure: the folder of a run, a Hub folder, a GGUF file, or my.py::build")
    at_least(1, options.items, "--items")
    at_least(1, options.test_size, "--test-size")
    check_figure(options.figure)
    if options.sizes is not None and options.test_size is not None:
        raise UsageError("--sizes and --test-size both say where to measure; give one of them")
    asked = _probes(options)
    with unsettled() as errors:
        records = _measured(asked, options)
    warn(_about_unsettled(errors), options.quiet)
    curves = [Curve.from_record(record) for record in records if record.source == "curve"]
    if options.figure and not curves:
        raise UsageError("--figure draws the curve; add --probe curve")
    draw(options.figure, [curve.plain() for curve in curves], options.quiet)
    if options.json:
        found = {"subject": str(options.subject), "records": [record.plain() for record in records]}
        write_object("measure", {**found, "unsettled": max(errors, default=0.0)})
    else:
        write_records(records)
    return 0


def write_records(records: list[Record]) -> None:
    """Curves as a picture in letters, every other record as the one writer prints it."""
    from lengthwise.cli.records import write_record

    for record in records:
        if record.source != "curve":
            write_record(record)
            continue
        write_curve(Curve.from_record(record))
        for claim in record.claims:
            if claim.key == "curve.generated":
                print(f"written token by token: {claim.evidence['agree']} of {claim.evidence['items']} items agree")


def probe_lines() -> dict[str, str]:
    """The probes, each with the first line of its description."""

    return {name: (probes.maker(name).__doc__ or "").strip().partition("\n")[0] for name in probes.names()}


def _list(as_json: bool) -> int:

    if as_json:
        write_object("measure", {"probes": probe_lines()})
    else:
        write_rows(list(probe_lines().items()))
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
    from lengthwise.runs.run import ask_run
    from lengthwise.tasks import tasks

    spec = task_chosen(options)
    task = None if spec is None else tasks.make(spec)
    context = Context(task, None, _sizes(options.sizes), options.items, options.seed or 0)
    if not Path(options.subject, RUN).exists() and not Path(options.subject, "plan.json").exists():
        return _of_stranger(asked, context, options)
    loaded = _load(options.subject, task)
    own = task or loaded.plan.task
    warn(own.warnings(), options.quiet)
    judged = own.certain and any(isinstance(probe, CurveProbe) for probe in asked)
    warn(too_few_items(options.items) if judged else [], options.quiet)
    if options.seed is None:
        context = Context(task, None, context.sizes, options.items, loaded.plan.seed)
    with shown(quiet=options.quiet) as progress:
        return ask_run(loaded, asked, context, options.test_size, options.position, progress)


def _of_stranger(asked: tuple[Probe, ...], context: Context, options: argparse.Namespace) -> list[Record]:
    """The records of something that is no run of ours: sizes are those given, or chosen up to the test size."""

    from lengthwise.subjects.open import open_subject
    from lengthwise.tasks.sizes import default_test_size, default_train_size

    if options.position is not None:
        raise UsageError("only a run can be read with another encoding; leave --position out")
    subject, task, found = open_subject(options.subject), context.task, []
    with shown(quiet=options.quiet) as progress:
        for probe in asked:
            sizes = context.sizes
            if task is not None and not sizes:
                trained = default_train_size(task)
                sizes = tuple(probe.sizes(task, trained, options.test_size or default_test_size(task, trained)))
            found.append(ask(probe, subject, dataclasses.replace(context, sizes=sizes, progress=progress)))
    return found


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
    at_least(1, sizes[0], "each of --sizes")
    return sizes


def _load(folder: str, task: Task | None) -> Run:
    """The run in a folder; a task that is given stands in for one whose file is no longer where it was."""
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

    from lengthwise.tasks import tasks

    try:
        tasks.restore(read_json(Path(folder) / RUN)["plan"]["task"])
    except (UsageError, KeyError, TypeError):
        return (Path(folder) / RUN).exists()
    return False
