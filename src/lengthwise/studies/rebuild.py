"""Rebuild the index of a study from its run folders, which are the truth.

What is planned comes from the study.toml next to the runs, or where that is gone from the finished runs themselves.
What no folder can tell (why a run failed, what was mirrored to a tracker, the command) is taken over from an old index,
if that is whole. The new index is written next to the old one and replaces it atomically.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.files import replace_file, writing
from lengthwise.integrity import RUN
from lengthwise.studies.lock import locked
from lengthwise.studies.record import RunRecord, named_variants, read_finished
from lengthwise.studies.store import INDEX, RUNS, Store

SPECIFICATION, OLD = "study.toml", f"{INDEX}.damaged"
_PLACE = ".rebuild-"
_AGAIN = "delete the folder to have the run trained again"
_JOURNAL = "-journal"  # what SQLite leaves beside a file whose writer was killed


@dataclass(frozen=True)
class Rebuilt:
    """What came of a rebuild: runs by state, the damaged folders with what is wrong, and what is worth saying."""

    counts: Mapping[str, int]
    damaged: Mapping[str, str]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class _Old:
    """What an old index knows and no folder does."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, RunRecord] = field(default_factory=dict)
    tracked: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False


def rebuild(folder: Path) -> Rebuilt:
    """Rebuild the index. Damaged run folders are named and left as they are; their runs count as failed."""
    if not (folder / RUNS).is_dir():
        raise UsageError(f"there are no run folders in {folder / RUNS}, from which an index could be made")
    with locked(folder, "the study"), _beside(folder) as place:
        old = _old_index(folder)
        facts, planned, remarks = _planned(folder)
        planned = planned or list(old.runs.values())
        finished, damaged = _finished(folder, {run.key: run for run in planned})
        made = {"environment": next(iter(finished.values())).detail["environment"]} if finished else {}
        with Store.open(place, write=True) as store:
            for name, content in {**facts, **made, **old.facts}.items():
                store.note(name, content)
            _enter(store, planned or named_variants(finished.values()), finished)
            _take_over(store, old, damaged)
            counts = store.counts()
        with writing(folder):
            _put(place / INDEX, folder / INDEX, keep_old=not old.whole)
    return Rebuilt(counts, damaged, tuple(remarks))


def check_run(folder: Path, planned: RunRecord | None = None) -> RunRecord:
    """The record of a finished run whose folder is whole, and that is the run that was planned. Otherwise a usage
    error says what is wrong."""
    record = read_finished(folder)
    for name in ("task", "position", "seed", "train_size", "settings") if planned else ():
        if getattr(record, name) != getattr(planned, name):
            what = name.replace("_", " ")
            raise UsageError(f"{folder} holds another run than its name says (its {what} differs); {_AGAIN}")
    return record


def _finished(folder: Path, planned: Mapping[str, RunRecord]) -> tuple[dict[str, RunRecord], dict[str, str]]:
    """The finished runs by key, and the damaged ones with what is wrong."""
    finished, damaged = {}, {}
    for place in sorted((folder / RUNS).iterdir()):
        try:
            if (place / RUN).exists():  # else it is not finished, and the study goes on with it
                finished[place.name] = check_run(place, planned.get(place.name))
        except (UsageError, OSError) as error:
            damaged[place.name] = str(error)
    return finished, damaged


def _planned(folder: Path) -> tuple[dict[str, Any], list[RunRecord], list[str]]:
    """What the specification next to the runs says: facts, runs that were planned, and why there are none."""
    path = folder / SPECIFICATION
    if not path.is_file():
        return {}, [], [f"there is no {path}; only finished runs are taken in"]
    try:
        from lengthwise.studies.grid import planned_records, plans, study_facts
        from lengthwise.studies.spec import Study

        study = Study.read(path)
        todo = plans(study)
        facts = {**study_facts(todo), "study": study.plain(), "toml": study.toml()}
        facts["command"] = shlex.join(["lengthwise", "study", str(path), "--folder", str(folder)])
        return facts, planned_records(todo), []
    except LengthwiseError as error:
        return {}, [], [f"{path} cannot be used ({error}); only finished runs are taken in"]


def _enter(store: Store, planned: list[RunRecord], finished: Mapping[str, RunRecord]) -> None:
    """Runs that were planned, done where their folder is finished and measured as asked; then those no longer asked
    for, which are kept apart."""
    asked = {run.key: run for run in planned}
    others = [run for key, run in finished.items() if key not in asked]
    store.plan([*planned, *others])
    done = [run for key, run in finished.items() if key not in asked or run.answers(asked[key].asked)]
    store.finish_all(done)
    store.plan(planned)


def _take_over(store: Store, old: _Old, damaged: Mapping[str, str]) -> None:
    """What the old index knew of the runs as they are now, and the damage that was found."""
    for run in store.runs(detail=False):
        before = old.runs.get(run.key)
        if run.key in damaged:
            store.mark(run.key, "failed", damaged[run.key], before.attempts if before else 0)
        elif before and run.state == "waiting" and before.state == "failed":
            store.mark(run.key, "failed", before.reason, before.attempts)
        elif before and before.state == run.state:
            store.mark(run.key, run.state, before.reason, before.attempts)
        for tracker in old.tracked.get(run.key, "").strip("[]").split("]["):
            if tracker and run.state == "done":
                store.mark_tracked(run.key, tracker)


def _old_index(folder: Path) -> _Old:
    """What the index that is there says, if it is whole and of this version."""
    if not (folder / INDEX).is_file():
        return _Old(whole=True)
    try:
        with Store.open(folder) as store:
            facts = store.facts()
            store.check()
            runs = {run.key: run for run in store.runs(detail=False)}
            return _Old(facts, runs, store.tracked(), whole=True)
    except LengthwiseError:
        return _Old()


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder on the same disk to make the new index in. Nobody else has one, as we hold the lock."""
    with writing(folder):
        for left in folder.glob(f"{_PLACE}*"):
            shutil.rmtree(left, ignore_errors=True)
        made = TemporaryDirectory(prefix=_PLACE, dir=folder)
    with made as name:
        yield Path(name)


def _put(new: Path, index: Path, keep_old: bool) -> None:
    """Move the new index into its place. What a killed writer left next to the old one is removed with it: SQLite
    would undo the work of that writer in the new."""
    journal, old = Path(f"{index}{_JOURNAL}"), index.with_name(OLD)
    if keep_old:
        with replace_file(old) as part:
            shutil.copyfile(index, part)
    if journal.exists():
        os.replace(journal, f"{old}{_JOURNAL}")
    os.replace(new, index)
