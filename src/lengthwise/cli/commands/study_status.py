"""What `lengthwise study status` does."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from lengthwise.analyses.words import duration
from lengthwise.cli.commands.study_show import write_failures, write_some
from lengthwise.cli.output import write_field, write_object
from lengthwise.studies.lock import holder, read_beat
from lengthwise.studies.record import RunRecord, identified, plain_failure, printable, run_title
from lengthwise.studies.store import RUNS, Store, study_folder


def run(options: argparse.Namespace) -> int:
    folder = study_folder(options.name)
    with Store.open(folder) as store:
        content = _status(store, folder)
        running, failed = store.runs("running", detail=False), store.runs("failed", detail=False)
    beats = [read_beat(folder / RUNS / run.key) for run in running]
    if options.json:
        now = [{**identified(run), "beat": beat} for run, beat in zip(running, beats, strict=True)]
        write_object("study status", {**content, "runs": now, "failures": [plain_failure(run) for run in failed]})
    else:
        told = [f"{run_title(run)}: {_words(beat)}" for run, beat in zip(running, beats, strict=True)]
        _write(content, told, failed)
    return 0


def _status(store: Store, folder: Path) -> dict[str, Any]:
    """The study as a whole; the time left is told only while somebody works on it."""
    counts, coordinator = store.counts(), holder(folder)
    return {
        "name": (store.fact("study") or {}).get("name") or folder.absolute().name,
        "folder": str(folder),
        "total": sum(counts.values()),
        **counts,
        "coordinator": coordinator,
        "seconds_left": _seconds_left(store.fact("progress")) if coordinator else None,
    }


def _seconds_left(progress: Any) -> float | None:
    """What the coordinator estimated, less the time that has gone by since."""
    try:
        return max(0.0, progress["seconds_left"] - max(0.0, time.time() - progress["at"]))
    except (TypeError, KeyError):
        return None


def _write(content: dict[str, Any], running: list[str], failed: list[RunRecord]) -> None:
    write_field("study", printable(f"{content['name']} in {content['folder']}"))
    others = ", ".join(f"{content[state]} {state}" for state in ("running", "failed", "waiting"))
    write_field("runs", f"{content['done']} of {content['total']} done, {others}")
    write_field("coordinator", _coordinator(content))
    if content["seconds_left"] is not None:
        write_field("time left", f"about {duration(content['seconds_left'])}")
    if running:
        print(f"\nrunning: {len(running)}")
    write_some(running)
    write_failures(failed)


def _coordinator(content: dict[str, Any]) -> str:
    if content["coordinator"]:
        return f"at work: {content['coordinator']}"
    if content["running"]:
        return "none is at work: the last one ended during runs; run the same `lengthwise study` again to resume"
    if content["waiting"]:
        return "none is at work; run the same `lengthwise study` again to resume"
    return "none is at work"


def _words(beat: dict[str, Any] | None) -> str:
    """A sign of life in words."""
    if beat is None:
        return "no sign of life yet"
    parts = [f"step {beat['step']:g}" + (f" of {beat['steps']:g}" if "steps" in beat else "")] if "step" in beat else []
    return ", ".join(filter(None, [beat.get("done", ""), *parts])) or "alive"
