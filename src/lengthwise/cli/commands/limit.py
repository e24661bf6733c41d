"""What `lengthwise limit` does."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import get_args

from lengthwise.cli.commands.records import elsewhere, write_record
from lengthwise.cli.commands.tasks import first_line
from lengthwise.cli.output import write_object, write_rows
from lengthwise.errors import UsageError
from lengthwise.integrity import RUN
from lengthwise.limits import MOST_SIZE, whole_number
from lengthwise.oracle.limit.examples import EXAMPLES, opened
from lengthwise.oracle.limit.found import described
from lengthwise.oracle.limit.transformer import LimitTransformer, Mode
from lengthwise.probes.hardness import HardnessProbe
from lengthwise.probes.probe import Context
from lengthwise.progress import shown
from lengthwise.records import Record
from lengthwise.reports.record_section import RecordPage, write_record_page
from lengthwise.tasks.task import Task

_OF_RUN = ("sizes", "items")


def run(options: argparse.Namespace) -> int:
    if options.model is None:
        return _list(options.json)
    record = _of_model(options) if Path(options.model).is_dir() else _of_limit(options)
    if options.page is not None:
        write_record_page(RecordPage(record.title, record.text[:1], (), (record,)), Path(options.page))
    if options.json:
        write_object("limit", record.plain())
    else:
        write_record(record, elsewhere(options))
    return 0


def _list(as_json: bool) -> int:
    lines = {name: first_line(make) for name, make in EXAMPLES.items()}
    if as_json:
        write_object("limit", {"examples": lines})
    else:
        write_rows(list(lines.items()))
    return 0


def _of_limit(options: argparse.Namespace) -> Record:
    for name in _OF_RUN:
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} goes with the folder of a run, and {options.model} is a limit transformer")
    return described(in_mode(opened(options.model), options.mode, options.bits), options.model)


def in_mode(model: LimitTransformer, mode: str | None, bits: int | None) -> LimitTransformer:
    """The model as it is read: bits are a matter of the mode finite, which is then meant."""
    for known in get_args(Mode):
        if mode == known:
            model = model.in_mode(known)
    if mode not in (None, *get_args(Mode)):
        raise UsageError(f"--mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
    if bits is not None and model.mode == "infinite":
        raise UsageError("the mode infinite does not round, so --bits has no effect; add --mode finite")
    return model if bits is None else model.in_mode("finite", bits)


def _of_model(options: argparse.Namespace) -> Record:
    """The margins of a trained model, which must be a run: its record says what it was trained on."""
    if options.mode is not None:
        raise UsageError(f"--mode goes with a limit transformer, and {options.model} is a trained model")
    if not Path(options.model, RUN).exists():
        raise UsageError(
            f"{options.model} has no {RUN}: margins are measured only for runs; give the folder of one, or a .json file"
        )
    from lengthwise.runs.run import ask_run, load_run  # torch

    probe = HardnessProbe(items=options.items or 32, bits=options.bits or 0)
    with shown(quiet=options.quiet, title="margins") as progress:
        loaded = load_run(options.model)
        seed = loaded.plan.seed if options.seed is None else options.seed
        context = Context(None, None, _sizes(options.sizes, loaded.plan.task), seed=seed)
        (record,) = ask_run(loaded, [probe], context, progress=progress)
    return record


def _sizes(text: str | None, task: Task) -> tuple[int, ...]:
    """`10,20,60`, or all sizes of the task from 2 to 6 for `2-6`."""
    sizes: set[int] = set()
    for part in (text or "").split(",") if text is not None else ():
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if not found:
            raise UsageError(f"--sizes takes whole numbers separated by commas, such as 10,20,60 or 2-64, not {text!r}")
        low, high = (whole_number(end, "a size", MOST_SIZE) for end in (found[1], found[2] or found[1]))
        sizes.update(task.sizes(low, high))
    if text is not None and not sizes:
        raise UsageError(f"the task has none of the sizes {text}")
    return tuple(sorted(sizes))
