"""What `lengthwise measure` does."""

from __future__ import annotations

import argparse
import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.commands.prompted import by_prompt, check_prompt_options, draw_prompted, with_options
from lengthwise.cli.commands.records import elsewhere
from lengthwise.cli.commands.results import draw_curves, write_records
from lengthwise.cli.commands.scaled import (
    OF_TEXTS,
    by_scaling,
    check_rope_options,
    draw_compared,
    of_one_length,
    of_text,
    scalings_of,
    shown_records,
    split,
    with_texts,
)
from lengthwise.cli.commands.tasks import first_line
from lengthwise.cli.options import task_chosen
from lengthwise.cli.output import narrate, warn, write_object, write_rows
from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import RUN
from lengthwise.limits import MOST_SIZE, whole_number
from lengthwise.models.attention import unsettled
from lengthwise.positions import positions
from lengthwise.positions.encodings import NoPosition
from lengthwise.positions.scaling import RopeScaling
from lengthwise.probes import probes
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.probes.probe import Context, Probe, ask, make_probes
from lengthwise.probes.prompted import PromptedProbe, doublings
from lengthwise.probes.scalings import SOURCE
from lengthwise.progress import Progress, shown
from lengthwise.records import Record
from lengthwise.reports.record_section import RecordPage, write_record_page
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

if TYPE_CHECKING:
    from lengthwise.runs.run import Run
    from lengthwise.subjects.subject import Subject

_ITEMS = 200  # per size


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
    _draw(records, options)
    if options.page is not None and not options.dry_run:
        write_record_page(_page(records, str(options.subject)), Path(options.page))
    if options.json:
        found = {"subject": str(options.subject), "records": [record.plain() for record in records]}
        write_object("measure", {**found, "unsettled": max(errors, default=0.0)})
    else:
        write_records(shown_records(records), elsewhere(options))
    return 0


def _draw(records: list[Record], options: argparse.Namespace) -> None:
    if options.figure and any(record.source == SOURCE for record in records):
        draw_compared(options.figure, records, options.quiet)
        return
    curves = [Curve.from_record(record) for record in records if record.source == "curve"]
    prompted = [record for record in records if record.source == "prompted"]
    if options.figure and not curves and not prompted:
        raise UsageError("--figure draws the curve; add --probe curve")
    if options.figure and prompted and not options.dry_run:
        draw_prompted(options.figure, prompted, options.quiet)
    elif curves:
        draw_curves(options.figure, curves, options.quiet)


def _page(records: list[Record], subject: str) -> RecordPage:
    """The records, a summary of them first. Its sentence is the head of the page; else the first one of each record."""
    ordered = sorted(records, key=lambda record: record.source not in ("prompted_tasks", SOURCE))
    summary = [text for record in records if record.source == "prompted_tasks" for text in record.text]
    each = (f"{record.title}: {record.text[0]}" for record in shown_records(records) if record.text)
    headline = tuple(summary or each)
    name = next((str(one.data["subject"]) for one in records if "subject" in one.data), Path(subject).name)
    return RecordPage(f"Measured: {name}", headline, (), tuple(ordered))


def _list(as_json: bool) -> int:
    lines = {name: first_line(probes.maker(name)) for name in probes.names()}
    if as_json:
        write_object("measure", {"probes": lines})
    else:
        write_rows(list(lines.items()))
    return 0


def _probes(options: argparse.Namespace) -> tuple[Probe, ...]:
    """The probes that were asked for; none where the subject decides."""
    asked = tuple(with_options(probe, options) for probe in make_probes(options.probe or ()))
    check_prompt_options(options, not asked or any(isinstance(probe, PromptedProbe) for probe in asked))
    check_rope_options(options, asked)
    if not options.generate:
        return asked
    asked = asked or (CurveProbe(),)
    if not any(isinstance(probe, CurveProbe) for probe in asked):
        raise UsageError("--generate goes with the curve of single answers; add --probe curve")
    return tuple(dataclasses.replace(one, generate=True) if isinstance(one, CurveProbe) else one for one in asked)


def _measured(asked: tuple[Probe, ...], options: argparse.Namespace) -> list[Record]:
    """The records of all tasks and probes, of a run or of another subject."""
    chosen = [tasks.make(spec) for spec in _task_specs(options)]
    if not Path(options.subject, RUN).exists() and not Path(options.subject, "plan.json").exists():
        return _of_stranger(asked, chosen, options)
    if options.train_size is not None:
        raise UsageError("a run knows its training size; leave --train-size out")
    if options.tokens is not None:
        raise UsageError("a run knows its own symbols; leave --tokens out")
    asked = with_texts(asked, CurveProbe(), options, tasks=True)
    check_prompt_options(options, any(isinstance(probe, PromptedProbe) for probe in asked))
    loaded = _load(options.subject, chosen[0] if chosen else None)
    if not options.rope:
        return _of_run(loaded, asked, chosen, options, options.position)

    own = getattr(loaded.plan.architecture, "position", NoPosition())

    def read_with(scaling: RopeScaling) -> list[Record]:
        position = None if scaling.kind == "own" else positions.text_of(scaling.position(own))
        return _of_run(loaded, asked, chosen, options, position)

    return by_scaling(loaded.folder.name, options, read_with)


def _of_run(
    loaded: Run, asked: tuple[Probe, ...], chosen: list[Task], options: argparse.Namespace, position: str | None
) -> list[Record]:
    """The records of a run, read with its own encoding or another."""
    from lengthwise.runs.run import ask_run  # torch: listing probes needs none of it

    found = []
    for task in chosen or [None]:
        own = task or loaded.plan.task
        quiet = options.quiet or vars(options).get("warned", False)
        warn(own.warnings(), quiet)
        judged = own.certain and any(isinstance(probe, CurveProbe) for probe in asked)
        items = options.items or _ITEMS
        warn(too_few_items(items) if judged else [], quiet)
        seed = loaded.plan.seed if options.seed is None else options.seed
        context = Context(task, None, _sizes(options.sizes, own), items, seed)
        with shown(quiet=options.quiet) as progress:
            for some, mine in split(asked, context, options, first=not found):
                found += ask_run(loaded, some, mine, options.test_size, position, progress)
    return found


def _task_specs(options: argparse.Namespace) -> list[str | dict[str, object]]:
    """The task of the options, and each --task in its place."""
    named = options.tasks or []
    if any(getattr(options, way) is not None for way in ("task", "regex", "dfa", "data")) or not named:
        first = task_chosen(options)
        return [*([] if first is None else [first]), *named]
    return [spec for one in named if (spec := task_chosen(_with_task(options, one))) is not None]


def _with_task(options: argparse.Namespace, task: str) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "task": task})


def _of_stranger(asked: tuple[Probe, ...], chosen: list[Task], options: argparse.Namespace) -> list[Record]:
    """The records of something that is no run of ours: sizes are those given, or chosen up to the test size."""
    if options.position is not None:
        raise UsageError("only a run can be read with another encoding; leave --position out")
    from lengthwise.subjects.open import open_subject  # torch

    subject = open_subject(options.subject, options.tokens)
    # A language model that gives no symbols is asked in words.
    in_words = not subject.offers("answers") and subject.offers("completions")
    if not asked:
        check_prompt_options(options, in_words and not options.conform)
    usual = with_options(PromptedProbe(), options) if in_words else CurveProbe()
    asked = with_texts(asked, usual, options, bool(chosen))
    if not options.rope:
        return _of_subject(subject, asked, chosen, options)
    from lengthwise.subjects.scaled import scaled  # torch

    room = max(one.factor for one in scalings_of(options))
    subjects = {one: scaled(subject, one, room) for one in scalings_of(options)}
    asked = of_one_length(asked, [*subjects.values()])
    return by_scaling(subject.name, options, lambda one: _of_subject(subjects[one], asked, chosen, options))


def _of_subject(
    subject: Subject, asked: tuple[Probe, ...], chosen: list[Task], options: argparse.Namespace
) -> list[Record]:
    """The records of all probes and tasks."""
    found = []
    for task in chosen:
        quiet = options.quiet or options.tokens is None or vars(options).get("warned", False)
        narrate(" ".join(subject.remarks(task)), quiet)
    with shown(quiet=options.quiet) as progress:
        for probe in asked:
            contexts = [_context(probe, task, options, progress) for task in chosen or [None]]
            if isinstance(probe, OF_TEXTS):
                found.append(ask(probe, subject, of_text(probe, contexts[0], options)))
            elif isinstance(probe, PromptedProbe):
                found += by_prompt(probe, subject, contexts, options)
            else:
                found += [ask(probe, subject, context) for context in contexts]
    return found


def _context(probe: Probe, task: Task | None, options: argparse.Namespace, progress: Progress) -> Context:
    """What a probe is to measure of something that is no run."""
    prompted = isinstance(probe, PromptedProbe)
    items = options.items or (None if prompted else _ITEMS)
    sizes = () if task is None else _sizes(options.sizes, task, prompted)
    context = Context(task, options.train_size, sizes, items, options.seed or 0, progress=progress)
    return context.sized(probe, options.test_size)


def _about_unsettled(errors: list[float]) -> list[str]:
    """What is to be said of attention that is found by iteration and met its limit first."""
    if not errors:
        return []
    return [
        f"attention had not settled at its limit of iterations {len(errors):,} times (at worst {max(errors):.2g} of it "
        "in the wrong place)"
    ]


def _sizes(text: str | None, task: Task, doubled: bool = False) -> tuple[int, ...]:
    """`10,20,60` → (10, 20, 60), `2-6` → all sizes of the task from 2 to 6, or those that double; nothing where nothing
    is given."""
    if text is None:
        return ()
    ends = [re.fullmatch(r"\s*(-?\d+)\s*(?:-\s*(\d+)\s*)?", part) for part in text.split(",")]
    if not all(ends):
        raise UsageError(f"--sizes takes whole numbers separated by commas, such as 10,20,60 or 2-64, not {text!r}")
    sizes: set[int] = set()
    for found in filter(None, ends):
        low, high = whole_number(found[1], "a size", MOST_SIZE), found[2]
        if low < 1:
            raise UsageError(f"each of --sizes must be at least 1, not {low}")
        if high is None:
            sizes.add(low)
            continue
        most = whole_number(high, "a size", MOST_SIZE)
        inside = doublings(task, low, most) if doubled else task.sizes(low, most)
        if not inside:
            raise UsageError(f"the task {name_of(task)} has no size from {low} to {high}")
        sizes.update(inside)
    return tuple(sorted(sizes))


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
            lost = f"the task of the run cannot be loaded: {error}"
            raise UsageError(f"{lost}; or name the task yourself, as in {again}") from error
        return load_run(folder, task)


def _task_is_lost(folder: str) -> bool:
    """Whether what the run says about its task leads to no task any more."""
    try:
        tasks.restore(read_json(Path(folder) / RUN)["plan"]["task"])
    except (UsageError, KeyError, TypeError):
        return (Path(folder) / RUN).exists()
    return False
