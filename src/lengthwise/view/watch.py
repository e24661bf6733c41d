"""Everything below a folder, watched: a look reads what changed, and readers ask for the changes since their cursor.

A look takes a limited time. Folders that are new are read in turn, so that ten thousand of them are listed while they
are read, and the folders of finished runs are looked at in rotation, as hardly anything happens there.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.studies.store import RUNS
from lengthwise.view.ledger import Ledger
from lengthwise.view.places import FolderMoved, HomePlace, RunPlace, WatchedPlace, kind_of
from lengthwise.view.study_place import StudyPlace

DEPTH = 3  # folders below the one that is shown in which runs are looked for
LOOK = 0.25  # seconds that a look may take, not counting what may change at any moment
PAUSE = 0.2
TURN = 500  # finished runs that one look visits: ten thousand of them are visited every ten seconds


class FolderWatch:
    """A folder of runs and studies, or one run or study; two looks are `pause` seconds apart, whoever asks."""

    def __init__(self, folder: Path, pause: float = PAUSE) -> None:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}; give a folder of runs, such as runs")
        self.folder, self.ledger = folder, Ledger()
        self._places: dict[str, WatchedPlace] = {}
        self._quiet: deque[str] = deque()  # places of finished runs, the one that was not looked at for longest first
        self._unread: deque[tuple[Path, str]] = deque([(folder, "")])
        self._lock, self._pause, self._looked = threading.Lock(), pause, 0.0

    def look(self, seconds: float = LOOK) -> None:
        """Read what changed, for about so long."""
        with self._lock:
            if time.monotonic() - self._looked < self._pause and not self._left():
                return
            end = time.monotonic() + seconds
            for path in [path for path, place in self._places.items() if place.urgent]:
                self._visit(path)
            while self._unread and time.monotonic() < end:
                self._open(*self._unread.popleft())
            for _ in range(min(TURN, len(self._quiet))):
                self._visit(self._quiet.popleft())
            self._looked = time.monotonic()

    def look_at_all(self) -> None:
        """Until every folder was read once."""
        self.look()
        while self._left():
            self.look()

    def changes(self, cursor: str = "", journals: Iterable[tuple[int, int, int]] = ()) -> dict[str, Any]:
        """What changed since a cursor, with what is new in some journals: (id of the run, turn, entries known)."""
        with self._lock:
            found = self.ledger.changes(cursor)
            told = {str(place): new for place, *known in journals if (new := self._news(place, *known)) is not None}
            return {**found, "unread": self._left(), "journals": told}

    def place_of(self, number: int) -> tuple[WatchedPlace, str]:
        """The place that holds the run with this id, and the run's name; a LookupError where there is none."""
        with self._lock:
            name = self.ledger.name_of(number)
            if name is None:
                raise LookupError(number)
            return self._places.get(name) or self._places[self._study(name)], name

    def _news(self, number: int, turn: int, known: int) -> dict[str, Any] | None:
        name = self.ledger.name_of(number)
        place = None if name is None else self._places.get(name) or self._places.get(self._study(name))
        journal = place.journal(name) if place is not None and name is not None else None
        if journal is None:
            return None
        first = known if journal.turn == turn else 0
        return {"turn": journal.turn, "first": first, "entries": journal.entries[first:]}

    def _left(self) -> int:
        """How many folders and runs are still to be read."""
        return len(self._unread) + sum(place.unread for place in self._places.values())

    @staticmethod
    def _study(name: str) -> str:
        return name.rpartition(f"/{RUNS}/")[0]

    def _found(self, folder: Path, path: str) -> None:
        """A folder, perhaps one that is known already."""
        if path not in self._places and path.count("/") < DEPTH:
            self._unread.append((folder, path))

    def _open(self, folder: Path, path: str) -> None:
        if path in self._places:
            return
        try:
            kind = kind_of(folder)
        except FolderMoved:
            return
        shown = path or folder.absolute().name
        makers = {"run": lambda: RunPlace(folder, shown), "study": lambda: StudyPlace(folder, shown)}
        place = makers.get(kind, lambda: HomePlace(folder, path, self._found))()
        self._places[place.path] = place
        self._visit(place.path)

    def _visit(self, path: str) -> None:
        place = self._places.get(path)
        if place is None:
            return
        try:
            place.look(self.ledger)
        except FolderMoved:
            place.leave(self.ledger)
            del self._places[path]
            if place.folder.is_dir():
                self._unread.append((place.folder, "" if place.folder == self.folder else path))
            return
        if not place.urgent:
            self._quiet.append(path)
