"""A study that is watched: the changes in its index, and the signs of life of its running runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from lengthwise.analyses.words import cut
from lengthwise.errors import UsageError
from lengthwise.integrity import JOURNAL
from lengthwise.messages import explain, sentence
from lengthwise.studies.lock import BEAT, holder, read_beat
from lengthwise.studies.store import RUNS, Store, index_stamp
from lengthwise.training.journal import JournalReader
from lengthwise.view.ledger import Ledger
from lengthwise.view.places import FolderMoved, WatchedPlace, kind_of
from lengthwise.view.rows import LONGEST, compact, live_part, run_row, stopped
from lengthwise.view.stamps import Watched

_STATE = 1  # where `Store.states` has the state
PART = 2000  # runs that one look reads, so that the first of ten thousand are shown at once

explain(
    {"view.no_index": "This study has no index; `lengthwise study rebuild {folder}` rebuilds it from its run folders."}
)


class StudyPlace(WatchedPlace):
    """The folder of a study. Whether somebody works on it is known from its lock; a run that the index calls running
    while nobody does was stopped."""

    def __init__(self, folder: Path, path: str) -> None:
        super().__init__(folder, path)
        self._stamp: tuple[int, ...] | None = None
        self._states: dict[str, tuple[Any, ...]] = {}  # as the index has them
        self._known: dict[str, tuple[Any, ...]] = {}  # as they were when the runs were read
        self._rows: dict[str, dict[str, Any]] = {}
        self._running: dict[str, LiveRun] = {}
        self._facts: dict[str, Any] = {}
        self._at_work = False

    def look(self, ledger: Ledger) -> None:
        if not self.folder.is_dir():
            raise FolderMoved
        at_work, stamp = holder(self.folder) is not None, index_stamp(self.folder)
        if stamp is None:
            if kind_of(self.folder) != "study":
                raise FolderMoved
            self._tell_damage(ledger, sentence("view.no_index", {"folder": self.folder}))
            return
        turned, self._at_work = at_work != self._at_work, at_work
        if stamp != self._stamp or self.unread:
            try:
                self._read(ledger)
            except UsageError as error:
                self.unread = 0
                self._tell_damage(ledger, str(error))
                return
            self._stamp = stamp
        for key, live in self._running.items():
            if live.look() or turned:
                ledger.put(self._name(key), self._shown(key))
        ledger.put(self.path, self._row())

    def leave(self, ledger: Ledger) -> None:
        for key in self._known:
            ledger.put(self._name(key), None)
        ledger.put(self.path, None)

    def journal(self, name: str) -> JournalReader | None:
        live = self._running.get(name.removeprefix(f"{self.path}/{RUNS}/"))
        return None if live is None else live.journal

    def _read(self, ledger: Ledger) -> None:
        """Take in the runs that changed, or a part of them where they are many."""
        with Store.open(self.folder) as store:
            self._states = states = store.states()
            changed = [key for key, state in states.items() if self._known.get(key) != state]
            runs = store.some(changed[:PART])
            self._facts = {name: store.fact(name) for name in ("study", "progress")}
        for key in self._known.keys() - states.keys():
            ledger.put(self._name(key), None)
            self._running.pop(key, None)
            del self._known[key]
        self.unread = len(changed[PART:])
        for run in runs:
            self._known[run.key] = states[run.key]
            self._rows[run.key] = run_row(run, self.path, self._name(run.key))
            if run.state == "running":
                self._running.setdefault(run.key, LiveRun(self.folder / RUNS / run.key))
            else:
                self._running.pop(run.key, None)
            ledger.put(self._name(run.key), self._shown(run.key))

    def _name(self, key: str) -> str:
        return f"{self.path}/{RUNS}/{key}"

    def _shown(self, key: str) -> dict[str, Any]:
        if key not in self._running:
            return self._rows[key]
        row = {**self._rows[key], **self._running[key].part}
        return row if self._at_work else stopped(row)

    def _row(self) -> dict[str, Any]:
        counts = Counter(state[_STATE] for state in self._states.values())
        study, progress = self._facts.get("study"), self._facts.get("progress")
        said = study if isinstance(study, dict) else {}
        left = progress if isinstance(progress, dict) and self._at_work else {}
        if not self._at_work:
            counts["stopped"] = counts.pop("running", 0)
        return compact(
            {
                "kind": "study",
                "path": self.path,
                "name": str(said.get("name") or self.folder.absolute().name),
                "question": cut(str(said.get("question") or ""), LONGEST),
                "total": len(self._states),
                "counts": {state: number for state, number in counts.items() if number},
                "at_work": self._at_work,
                "seconds_left": left.get("seconds_left"),
                "at": left.get("at"),
            }
        )

    def _tell_damage(self, ledger: Ledger, why: str) -> None:
        name = self.folder.absolute().name
        row = {"kind": "study", "path": self.path, "name": name, "total": len(self._known), "counts": {}}
        ledger.put(self.path, {**row, "at_work": False, "reason": cut(why, LONGEST)})


class LiveRun:
    """A running run of a study: what it last said of itself, and its journal."""

    def __init__(self, folder: Path) -> None:
        self.journal, self.part = JournalReader(folder / JOURNAL), {}
        self._folder, self._beat = folder, Watched(folder / BEAT)
        self._said: dict[str, Any] | None = None

    def look(self) -> bool:
        """Whether there is news."""
        try:
            beaten = self._beat.changed()
        except OSError:
            beaten = False
        if beaten:
            self._said = read_beat(self._folder)
        self.journal.look()
        entries = self.journal.entries
        part = live_part(self._said, entries[-1] if entries else None)
        changed, self.part = part != self.part, part
        return changed
