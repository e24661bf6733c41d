"""What `lengthwise study` does."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, TextColumn

from lengthwise.analyses.words import duration
from lengthwise.cli.commands.study_show import write_results
from lengthwise.cli.output import complain, warn, write_field, write_object, write_rows
from lengthwise.errors import RunsFailed, UsageError
from lengthwise.executors import executors
from lengthwise.executors.executor import Executor
from lengthwise.outputs import check_output
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.reports.page import REPORT, write_report
from lengthwise.studies.coordinator import StudyProgress, carry_out_study, default_folder
from lengthwise.studies.estimate import estimate
from lengthwise.studies.grid import planned_records, plans
from lengthwise.studies.reach import check_plans
from lengthwise.studies.record import RunRecord
from lengthwise.studies.spec import Study, builtin_presets, builtin_questions
from lengthwise.studies.store import Store
from lengthwise.studies.track import check_tracker, mirror_all
from lengthwise.terminal import live_bars, visible

_FIRST = 4  # runs that a dry run prints


def run(options: argparse.Namespace) -> int:
    if options.list:
        return _list(options.json)
    if options.study is None:
        raise UsageError("say which study: a TOML file, or a name from `lengthwise study --list`")
    study = Study.read(options.study, options.preset)
    if options.seeds is not None:
        study = study.with_seeds(options.seeds)
    study = study.with_seeds_from(options.seed or 0)
    if options.precision is not None:
        study = study.with_training(precision=options.precision)
    if options.dry_run:
        return _dry_run(study, options)
    _warn_of_few_items(study, options.quiet)
    folder = Path(options.folder) if options.folder else None
    progress, folder = _carry_out(study, folder, options)
    report = None if options.no_report or not progress.done else str(write_report(folder))
    if options.json:
        counts = {name: getattr(progress, name) for name in ("total", "done", "failed", "waiting")}
        write_object("study", {"name": study.name, "folder": str(folder), "report": report, **counts})
    else:
        _tell_results(progress, folder, report)
    if progress.failed:
        many = "1 run" if progress.failed == 1 else f"{progress.failed} runs"
        raise RunsFailed(
            f"{many} of {progress.total} failed; `lengthwise study status {folder}` says why, and the same command "
            "tries them again"
        )
    return 0


def _warn_of_few_items(study: Study, quiet: bool) -> None:
    """Say once where runs are measured on too few items to establish what they are judged by."""
    fewest = min((plan.items for plan in plans(study) if plan.task.certain), default=None)
    warn([] if fewest is None else too_few_items(fewest), quiet)


def _carry_out(study: Study, folder: Path | None, options: argparse.Namespace) -> tuple[StudyProgress, Path]:
    if options.track:
        check_tracker(options.track)
    folder = folder or default_folder(study)
    if not options.no_report:
        check_output(folder / REPORT)
    with progress_shown(options.quiet) as listener:
        executor = _executor(options)
        progress = carry_out_study(study, folder, executor, listener, command=_command(options))
    if options.track:
        mirror_all(folder, options.track)
    return progress, folder


def _executor(options: argparse.Namespace) -> Executor:
    executor = executors.make(options.executor)
    executor.silence = options.silence
    return executor


def _command(options: argparse.Namespace) -> str:
    """The command that does it again."""
    words = ["lengthwise", "study", options.study]
    for name in ("preset", "seeds", "folder", "seed", "device", "precision"):
        value = getattr(options, name)
        words += [f"--{name}", str(value)] if value is not None else []
    words += [f"--{name}" for name in ("compile", "trust") if getattr(options, name)]
    return shlex.join(words)


def _tell_results(progress: StudyProgress, folder: Path, report: str | None) -> None:
    with Store.open(folder) as store:
        write_results(store)
        unknown = store.fact("shifts_failed") or {}
    for task, why in unknown.items():
        complain(f"warning: how far the levels of {task} are from training is not known: {why}")
    if progress.waiting:
        left = f"{progress.waiting} of {progress.total} runs wait"
        print(f"\n{left}: the budget is spent; run the command again to resume")
    if report:
        print(f"\nreport: {report}")


def _list(as_json: bool) -> int:
    questions, presets = builtin_questions(), builtin_presets()
    if as_json:
        write_object("study", {"studies": questions, "presets": {name: list(own) for name, own in presets.items()}})
        return 0
    rows = []
    for name, question in questions.items():
        rows.append((name, question))
        if name in presets:
            first, *others = presets[name]
            rows.append(("  --preset", ", ".join([f"{first} (unless another is named)", *others])))
    write_rows(rows)
    return 0


def _dry_run(study: Study, options: argparse.Namespace) -> int:
    todo = plans(study)
    with _executor(options) as executor:
        workers = executor.slots
    check_plans(todo, f"the study {study.name}", workers)
    guess = estimate(todo, workers=workers)
    records = planned_records(todo)
    if options.json:
        content: dict[str, Any] = {"runs": len(todo), "seconds": guess.seconds, "workers": workers}
        write_object("study", {"dry_run": True, "name": study.name, **content, "plans": [p.plain() for p in todo]})
        return 0
    write_field("study", f"{study.name}: {study.question}" if study.question else study.name)
    write_field("runs", str(len(todo)))
    write_field("time", f"about {duration(guess.seconds)} with {workers} workers, from a calibration of two seconds")
    for record, seconds in zip(records[:_FIRST], guess.per_plan, strict=False):
        what = ", ".join(part for part in (record.task, f"position {record.position}", record.variant) if part)
        write_field("", f"{what}, trained to {record.train_size}, seed {record.seed}: {duration(seconds)}")
    if len(todo) > _FIRST:
        write_field("", f"… and {len(todo) - _FIRST} more")
    return 0


@contextlib.contextmanager
def progress_shown(quiet: bool) -> Iterator[Callable[[StudyProgress], None]]:
    """A listener of a coordinator that draws or prints."""
    if quiet:
        yield lambda _: None
    elif not sys.stderr.isatty():
        yield _print_progress
    else:
        with _bar() as listener:
            yield listener


def _print_progress(progress: StudyProgress) -> None:
    if progress.newest is not None:
        print(f"{_counts(progress)}; {_ended(progress.newest)}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[StudyProgress], None]]:
    with live_bars(BarColumn(bar_width=16), TextColumn("{task.fields[note]}", markup=False)) as bars:
        bar = bars.add_task("study", total=None, note="")

        def listen(progress: StudyProgress) -> None:
            bars.update(bar, total=progress.total, completed=progress.done + progress.failed, note=_counts(progress))
            if progress.newest is not None and progress.newest.state == "failed":
                bars.print(visible(_ended(progress.newest)), markup=False, highlight=False)

        yield listen


def _counts(progress: StudyProgress) -> str:
    parts = [f"{progress.done} of {progress.total} runs done", f"{progress.running} running"]
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.seconds_left is not None and progress.done + progress.failed < progress.total:
        parts.append(f"{duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _ended(run: RunRecord) -> str:
    design = str(run.settings.get("model") or run.position)
    name = ", ".join(part for part in (run.task, design, run.variant, f"seed {run.seed}") if part)
    if run.summary is None:
        again = "; it is tried once more" if run.attempts < 2 else ""
        return f"{name} failed: {run.reason}{again}"
    at_least = "at least " if run.summary.censored else ""
    learned = "not learned in range, " if run.summary.learned is False else ""
    return f"{name}: {learned}reach {at_least}{run.summary.reach} in {duration(run.seconds or 0.0)}"
