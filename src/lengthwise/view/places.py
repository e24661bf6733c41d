"""The folders that are watched: what kind each is, and the folder of one run.

A place is looked at again and again. It notes its rows in a ledger, reads a file only if that may have changed, and
raises `FolderMoved` when its folder has become something else or is gone.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import CHECKPOINT, JOURNAL, PLAN, RECORDS, RUN, WEIGHTS
from lengthwise.messages import explain, sentence
from lengthwise.registry import format_spec
from lengthwise.studies.lock import BEAT
from lengthwise.studies.record import RunRecord, glance_at_finished, planned_run
from lengthwise.studies.store import INDEX, RUNS, SPECIFICATION
from lengthwise.training.journal import JournalReader
from lengthwise.view.ledger import Ledger
from lengthwise.view.rows import damaged_row, live_part, run_row, stopped
from lengthwise.view.stamps import Watched

QUIET = 120.0  # seconds without a change after which nobody is taken to work in a folder by itself
_SIGNS = {RUN, PLAN, CHECKPOINT, JOURNAL, WEIGHTS, RECORDS, BEAT, "error.txt"}  # names that only a run's folder has

FolderKind = Literal["run", "study", "home"]

explain(
    {
        "view.half_written": "This folder has no plan yet.",
        "view.no_plan": "The plan of this run cannot be read: {why}",
    }
)


class FolderMoved(Exception):
    """A folder is gone, or is no longer what it was."""


def kind_of(folder: Path) -> FolderKind:
    """What a folder holds: one run, a study, or perhaps folders that do."""
    try:
        names = set(os.listdir(folder))
    except PermissionError:
        return "run"  # which says that it cannot be read
    except OSError as error:
        raise FolderMoved from error
    if not names & {RUN, PLAN} and (INDEX in names or names >= {RUNS, SPECIFICATION}):
        return "study"
    return "run" if names & _SIGNS else "home"


class WatchedPlace(ABC):
    """A folder that is watched. `path` is its name on the page; what is `urgent` may change at any moment, and `unread`
    counts the runs that the next looks will read."""

    urgent = True
    unread = 0

    def __init__(self, folder: Path, path: str) -> None:
        self.folder, self.path = folder, path

    @abstractmethod
    def look(self, ledger: Ledger) -> None:
        """Note what changed since the last look."""

    @abstractmethod
    def leave(self, ledger: Ledger) -> None:
        """Take back what was noted."""

    def journal(self, name: str) -> JournalReader | None:  # noqa: ARG002
        """The journal of the run with this name, while it is in training."""
        return None


class HomePlace(WatchedPlace):
    """A folder of folders; `found` is called with each of them."""

    def __init__(self, folder: Path, path: str, found: Callable[[Path, str], None]) -> None:
        super().__init__(folder, path)
        self._found, self._watched = found, Watched(folder)

    def look(self, ledger: Ledger) -> None:  # noqa: ARG002
        try:
            if not self._watched.changed():
                return
            with os.scandir(self.folder) as entries:
                inside = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
        except OSError as error:
            raise FolderMoved from error
        if kind_of(self.folder) != "home":
            raise FolderMoved
        for name in sorted(inside):
            self._found(self.folder / name, f"{self.path}/{name}" if self.path else name)

    def leave(self, ledger: Ledger) -> None:
        pass


class RunPlace(WatchedPlace):
    """The folder of one run that belongs to no study."""

    def __init__(self, folder: Path, path: str) -> None:
        super().__init__(folder, path)
        self._watched, self._journal = Watched(folder), JournalReader(folder / JOURNAL)
        self._row: dict[str, Any] = {}
        self._steps: int | None = None

    def look(self, ledger: Ledger) -> None:
        try:
            changed = self._watched.changed()
        except OSError as error:
            raise FolderMoved from error
        if changed:
            if kind_of(self.folder) != "run":
                raise FolderMoved
            self._row = self._read()
            self.urgent = self._row["state"] == "running"
        if changed or self.urgent:
            ledger.put(self.path, self._live() if self.urgent else self._row)

    def leave(self, ledger: Ledger) -> None:
        ledger.put(self.path, None)

    def journal(self, name: str) -> JournalReader | None:
        return self._journal if self.urgent and name == self.path else None

    def _read(self) -> dict[str, Any]:
        try:
            if not (self.folder / RUN).exists() and not (self.folder / PLAN).exists():
                return damaged_row(self.path, sentence("view.half_written"))
            run = glance_at_run(self.folder)
        except (UsageError, OSError) as error:
            return damaged_row(self.path, str(error))
        self._steps = run.settings.get("steps")
        return run_row(run, path=self.path)

    def _live(self) -> dict[str, Any]:
        self._journal.look()
        last = self._journal.entries[-1] if self._journal.entries else None
        row = {**self._row, **live_part({"steps": self._steps} if self._steps else None, last)}
        quiet = time.time() - max(self._watched.seconds, self._journal.seconds)
        return row if quiet < QUIET else stopped(row, "view.quiet")


def glance_at_run(folder: Path) -> RunRecord:
    """The run in a folder, finished or not, without its records; a damaged one is a usage error."""
    if (folder / RUN).exists():
        return glance_at_finished(folder)
    try:
        plan = read_json(folder / PLAN)["plan"]
        run = planned_run(folder.name, format_spec(plan["task"]), str(plan["model"].get("position", "")), plan, {})
        return replace(run, state="running")
    except UsageError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UsageError(sentence("view.no_plan", {"why": f"{type(error).__name__}: {error}"})) from error
