"""The rows of the page, each with the number of its last change, so that a reader who has some is given the rest."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

MOST = 2000  # rows in one answer, so that the first of ten thousand are shown at once

Row = Mapping[str, Any]


class Ledger:
    """Rows by name. A row has an id for as long as the ledger lives, and a name that comes back gets its id again.

    A cursor is "EPOCH.NUMBER": the ledger it belongs to and the last change that its holder has seen. One of another
    ledger, of a server that was started before, is answered with everything.
    """

    def __init__(self) -> None:
        self.epoch, self._number = secrets.token_hex(4), 0
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._rows: dict[int, tuple[int, Row | None]] = {}  # in the order of their last change

    def put(self, name: str, row: Row | None) -> None:
        """Note what a row is now, None for one that is gone. One that stays as it is has not changed."""
        if name not in self._ids:
            if row is None:
                return
            self._ids[name] = len(self._names)
            self._names.append(name)
        place = self._ids[name]
        if place in self._rows:
            if self._rows[place][1] == row:
                return
            del self._rows[place]
        self._number += 1
        self._rows[place] = (self._number, row)

    def name_of(self, place: int) -> str | None:
        """The name of the row with an id; None where there is none now."""
        known = 0 <= place < len(self._names) and self._rows[place][1] is not None
        return self._names[place] if known else None

    def id_of(self, name: str) -> int | None:
        return self._ids.get(name)

    def rows(self) -> list[dict[str, Any]]:
        """All rows that are there, by id."""
        found = ((place, self._rows[place][1]) for place in sorted(self._rows))
        return [{"id": place, **row} for place, row in found if row is not None]

    def changes(self, cursor: str = "", most: int = MOST) -> dict[str, Any]:
        """What changed after a cursor, the oldest change first and at most `most` rows; `more` says that there is more
        to ask for, `reset` that the reader must forget what it has."""
        epoch, _, text = cursor.partition(".")
        known = (
            epoch == self.epoch and text.isascii() and text.isdigit() and len(text) < 19 and int(text) <= self._number
        )
        seen = int(text) if known else 0
        newer = []
        for place in reversed(self._rows):
            number, row = self._rows[place]
            if number <= seen:
                break
            newer.append((place, number, row))
        part = newer[::-1][:most]
        return {
            "cursor": f"{self.epoch}.{part[-1][1] if part else seen}",
            "reset": not known,
            "more": len(part) < len(newer),
            "rows": [{"id": place, **row} for place, _, row in part if row is not None],
            "gone": [place for place, _, row in part if row is None] if known else [],
        }
