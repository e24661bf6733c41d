"""What `lengthwise train-length` does."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path

from lengthwise.analyses.analysis import analyse, analyses_of
from lengthwise.analyses.content import read_content
from lengthwise.analyses.plateau.levels import plateau_cells
from lengthwise.analyses.plateau.series import reached
from lengthwise.analyses.words import duration
from lengthwise.cli.commands.study import progress_shown
from lengthwise.cli.commands.study_show import write_shortened
from lengthwise.cli.output import narrate, write_field, write_object
from lengthwise.errors import RunsFailed, UsageError
from lengthwise.executors import executors
from lengthwise.messages import explain, sentence
from lengthwise.outputs import check_output
from lengthwise.records import Record
from lengthwise.reports.page import REPORT, write_report
from lengthwise.studies.coordinator import StudyProgress, carry_out_study, default_folder
from lengthwise.studies.estimate import estimate
from lengthwise.studies.grid import plans
from lengthwise.studies.lengths import LengthQuestion, family_of, next_lengths, read_sizes
from lengthwise.studies.reach import check_plans

explain(
    {
        "lengths.round": "training lengths {sizes}: {runs} runs",
        "lengths.budget_spent": "the budget of {minutes:g} minutes is spent: {done} of {total} runs are done; run the "
        "same command again to resume",
        "lengths.say_task": (
            "name a task: simple_task, modp_task, kgram_law, or a task of your own whose answers are real numbers"
        ),
    }
)


def run(options: argparse.Namespace) -> int:
    question = _question(options)
    folder = Path(options.folder) if options.folder else default_folder(question.study(question.first(), 1.0))
    if options.dry_run:
        return _dry_run(question, folder, options)
    check_output(folder / REPORT)
    progress = _carry_out(question, folder, options)
    record = _answer(folder)
    report = None if options.no_report or not progress.done else str(write_report(folder))
    if options.json:
        counts = {name: getattr(progress, name) for name in ("total", "done", "failed", "waiting")}
        write_object("train-length", {"folder": str(folder), "report": report, **counts, "record": record.plain()})
    else:
        write_shortened(record)
        _tell_rest(question, progress, report)
    if progress.failed:
        raise RunsFailed(
            f"{progress.failed} of {progress.total} runs failed; `lengthwise study status {folder}` says why"
        )
    return 0


def _question(options: argparse.Namespace) -> LengthQuestion:
    if options.task is None:
        raise UsageError(sentence("lengths.say_task"))
    family, specs = family_of(options.task, options.vary)
    first = options.seed or 0
    return LengthQuestion(
        family,
        specs,
        options.error,
        options.measure,
        read_sizes(options.sizes),
        tuple(range(first, first + options.seeds)),
        options.minutes,
        options.position or "",
        options.steps,
    )


def _carry_out(question: LengthQuestion, folder: Path, options: argparse.Namespace) -> StudyProgress:
    """Round after round: three training lengths for every task, then one more for those whose plateau is too high."""
    lengths, began = question.first(), time.monotonic()
    executor = executors.make(options.executor)
    while True:
        left = question.minutes - (time.monotonic() - began) / 60
        study = question.study(lengths, max(left, 0.01))
        sizes = ", ".join(map(str, question.sizes[: max(lengths.values())]))
        narrate(sentence("lengths.round", {"sizes": sizes, "runs": len(plans(study))}), options.quiet)
        with progress_shown(options.quiet) as listener:
            progress = carry_out_study(study, folder, executor, listener, command=_command(options))
        following = next_lengths(lengths, _enough(question, folder), len(question.sizes))
        if progress.waiting or following == lengths:
            return progress
        lengths = following


def _enough(question: LengthQuestion, folder: Path) -> list[str]:
    """The tasks that have a plateau below the error at some training length."""
    found = plateau_cells(read_content(folder).cells, question.measure)  # pyright: ignore[reportArgumentType]
    return [cell.cell.task for cell in found if reached(cell, question.error)]


def _answer(folder: Path) -> Record:
    """The record that answers the question, without figures."""
    content = read_content(folder)
    (record,) = analyse(content, analyses_of(content)[:1])
    return record


def _tell_rest(question: LengthQuestion, progress: StudyProgress, report: str | None) -> None:
    if progress.waiting:
        counts = {"minutes": question.minutes, "done": progress.done, "total": progress.total}
        print("\n" + sentence("lengths.budget_spent", counts))
    if report:
        print(f"\nreport: {report}")


def _dry_run(question: LengthQuestion, folder: Path, options: argparse.Namespace) -> int:
    every = dict.fromkeys(question.tasks, len(question.sizes))
    todo = plans(question.study(every, question.minutes))
    with executors.make(options.executor) as executor:
        workers = executor.slots
    check_plans(todo, "this question", workers)
    guess = estimate(todo, workers=workers)
    if options.json:
        content = {"dry_run": True, "runs": len(todo), "seconds": guess.seconds, "workers": workers}
        write_object("train-length", {**content, "folder": str(folder), "tasks": list(question.tasks)})
        return 0
    write_field("tasks", ", ".join(question.tasks))
    write_field("lengths", ", ".join(map(str, question.sizes)))
    write_field("runs", f"at most {len(todo)}")
    write_field(
        "time", f"at most about {duration(guess.seconds)} with {workers} workers, from a calibration of two seconds"
    )
    write_field("folder", str(folder))
    return 0


def _command(options: argparse.Namespace) -> str:
    """The command that does it again."""
    words = ["lengthwise", "train-length", options.task, "--error", f"{options.error:g}"]
    for name in ("vary", "measure", "sizes", "seeds", "minutes", "position", "steps", "folder", "seed"):
        value = getattr(options, name)
        words += [f"--{name}", str(value)] if value is not None else []
    return shlex.join(words)
