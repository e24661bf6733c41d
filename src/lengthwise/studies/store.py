"""The index of a study folder: one SQLite file, written by the coordinator alone, rebuilt from the folders if lost.

The run folders are the truth; the index is there so that a table of thousands of runs opens at once. A transaction is
one run's change of state, so a coordinator that is killed leaves it whole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from lengthwise.errors import UsageError
from lengthwise.probes.probe import called
from lengthwise.reading import open_file
from lengthwise.registry import nearest
from lengthwise.studies.record import RunRecord, State, Summary
from lengthwise.studies.sound import check_run_values, check_stored, fact, mapping

INDEX, RUNS, SPECIFICATION = "index.sqlite", "runs", "study.toml"
HOME = Path("runs")
SCHEMA = 3
_SUMMARY = tuple(f.name for f in dataclasses.fields(Summary))
_TRUTHS = ("censored", "learned", "holds", "certain")  # SQLite has numbers for them
_PLAIN = tuple(f.name for f in dataclasses.fields(RunRecord) if f.name not in ("summary", "detail", "stored"))
_JSON = ("settings", "asked")
_COLUMNS = (*_PLAIN, *_SUMMARY)
_TABLES = f"""
create table if not exists facts (name text primary key, content text not null);
create table if not exists runs (
    {", ".join(f"{name}{' text primary key' if name == 'key' else ''}" for name in _COLUMNS)},
    place integer, planned integer not null default 1, detail text, tracked text not null default ''
);
create table if not exists records (key text, slug text, content text not null, primary key (key, slug));
"""


class Store:
    """The runs of a study by state, with what is known about the whole study (`facts`)."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self._db = folder, connection

    @classmethod
    def open(cls, folder: str | Path, write: bool = False) -> Store:
        """The index in a study folder; reading never changes a run, and waits for a writer at most some seconds."""
        folder = Path(folder)
        path = folder / INDEX
        if not write and not path.is_file():
            raise UsageError(
                f"there is no study in {folder} (no {INDEX}); `lengthwise study --list` names some to begin with"
                + (f", and `lengthwise study rebuild {folder}` rebuilds the index" if (folder / RUNS).is_dir() else "")
            )
        if write and path.is_symlink():
            raise UsageError(f"{path} is a link, not an index; delete it, or give another folder")
        with _explained(path):
            store = cls(folder, _connected(path, write))
        try:
            store._check_schema(write)
        except BaseException:
            store._db.close()
            raise
        return store

    def _check_schema(self, write: bool) -> None:
        """Refuse an index of another version; a new one gets its tables."""
        with _explained(self.folder / INDEX):
            if write:
                self._check_empty_or_ours()
                self._db.executescript(_TABLES)
            if write and self.fact("schema") is None:
                self.note("schema", SCHEMA)
            schema = self.fact("schema")
        if schema != SCHEMA:
            raise UsageError(
                f"{self.folder / INDEX} was written by another version (its schema is {schema}, not {SCHEMA}); "
                f"`lengthwise study rebuild {self.folder}` rebuilds it"
            )

    def _check_empty_or_ours(self) -> None:
        """Refuse a database of somebody else, in which nothing may be written."""
        tables = {name for (name,) in self._db.execute("select name from sqlite_master where type = 'table'")}
        if tables and not {"facts", "runs"} <= tables:
            raise UsageError(f"{self.folder / INDEX} is a database of something else; give another folder")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    # What is known of the whole study

    def fact(self, name: str) -> Any:
        """A fact about the study, such as `study` (its specification) or `tasks`; None if it was never noted."""
        rows = self._read("select content from facts where name = ?", (name,))
        with _explained(self.folder / INDEX):
            return fact(name, rows[0][0]) if rows else None

    def note(self, name: str, content: Any) -> None:
        self._change("insert or replace into facts values (?, ?)", [(name, json.dumps(content, allow_nan=False))])

    def facts(self) -> dict[str, Any]:
        """All that was noted."""
        rows = self._read("select name, content from facts")
        with _explained(self.folder / INDEX):
            return {name: fact(name, content) for name, content in rows}

    def check(self) -> None:
        """Read all of the file; a damaged one is a usage error."""
        found = self._read("pragma integrity_check")
        if found != [("ok",)]:
            raise UsageError(f"the index {self.folder / INDEX} is damaged ({found[0][0]})")

    # Runs

    def counts(self) -> dict[str, int]:
        """How many of the planned runs are in each state."""
        rows = self._read("select state, count(*) from runs where planned group by state")
        return {**dict.fromkeys(("waiting", "running", "done", "failed"), 0), **dict(rows)}

    def runs(self, state: State | None = None, detail: bool = True, probe: str | None = None) -> list[RunRecord]:
        """The planned runs in the order of the grid; without `detail`, which is quicker, they have no records. With
        `probe` only the finished runs that have a record of that probe, and no other record of them."""
        columns = ", ".join((*_COLUMNS, "detail" if detail else "null"))
        where = "planned" + ("" if state is None else " and state = ?")
        rows = self._read(f"select {columns} from runs where {where} order by place", (state,) if state else ())
        if not detail:
            return self._records(rows)
        like = "" if probe is None else " where slug = ? or slug like ?"
        values = () if probe is None else (called(probe), f"{called(probe)}-%")
        stored: dict[str, dict[str, str]] = {}
        for key, slug, content in self._read(f"select key, slug, content from records{like}", values):
            stored.setdefault(key, {})[slug] = content
        runs = self._records(rows, stored)
        return runs if probe is None else [run for run in runs if run.state == "done" and run.record(probe)]

    def states(self) -> dict[str, tuple[Any, ...]]:
        """By the key of each planned run, in the order of the grid, the few columns that change when a run does."""
        columns = "key, place, state, attempts, reason, seconds, asked, variant, test_size, items, detail is null"
        rows = self._read(f"select {columns} from runs where planned order by place")
        return {row[0]: row[1:] for row in rows}

    def some(self, keys: Iterable[str]) -> list[RunRecord]:
        """The planned runs of these keys, without their records."""
        sql = f"select {', '.join(_COLUMNS)}, null from runs where planned and key in (select value from json_each(?))"
        return self._records(self._read(f"{sql} order by place", (json.dumps(list(keys)),)))

    def run(self, key: str) -> RunRecord:
        """One run with its records; a usage error where the study has none of this key."""
        rows = self._read(f"select {', '.join((*_COLUMNS, 'detail'))} from runs where key = ?", (key,))
        if not rows:
            raise UsageError(f"the study in {self.folder} has no run {key!r}")
        stored = dict(self._read("select slug, content from records where key = ?", (key,)))
        return self._records(rows, {key: stored})[0]

    def plan(self, records: Iterable[RunRecord]) -> None:
        """Make these the runs of the study. What is known of a run stays, unless it is now to be measured otherwise:
        then it waits as if it were new. Runs no longer asked for are kept apart."""
        known = {"state": "'waiting'", "attempts": "0", "reason": "''", "ended": "''", "seconds": "null"}
        forgotten = {**known, "detail": "null", "tracked": "''"}
        names = [name for name in _PLAIN if name not in known]
        asked = ("variant", "test_size", "items", "settings")
        same = "(test_size, items) = (excluded.test_size, excluded.items)"
        sql = (
            f"insert into runs ({', '.join(names)}, place, planned, state, attempts, reason, ended) "
            f"values ({', '.join('?' * len(names))}, ?, 1, 'waiting', 0, '', '') on conflict (key) do update set "
            "planned = 1, place = excluded.place, "
            + ", ".join(f"{name} = iif({same}, {name}, {fresh})" for name, fresh in forgotten.items())
            + "".join(f", {name} = excluded.{name}" for name in asked)
            + f", asked = iif({same} and state = 'done', asked, excluded.asked)"
        )
        rows = [(*(_plain(getattr(record, name)) for name in names), place) for place, record in enumerate(records)]
        with _explained(self.folder / INDEX), self._db:
            self._db.execute("update runs set planned = 0")
            self._db.executemany(sql, rows)

    def mark(self, key: str, state: State, reason: str = "", attempts: int = 0) -> None:
        """Note that a run is in a state now, and why."""
        self._change(
            "update runs set state = ?, reason = ?, attempts = ? where key = ?", [(state, reason, attempts, key)]
        )

    def finish(self, record: RunRecord) -> None:
        """Note what a finished run came to."""
        self.finish_all([record])

    def finish_all(self, records: Iterable[RunRecord]) -> None:
        values = ("seconds", "ended", "asked")
        sql = (
            "update runs set state = 'done', reason = '', detail = ?, "
            + ", ".join(f"{name} = ?" for name in (*values, *_SUMMARY))
            + " where key = ?"
        )
        rows, stored = [], []
        for record in records:
            assert record.summary is not None
            numbers = (*(_plain(getattr(record, name)) for name in values), *dataclasses.astuple(record.summary))
            rows.append((json.dumps(record.detail, allow_nan=False), *numbers, record.key))
            stored += [(record.key, slug, content) for slug, content in record.stored.items()]
        with _explained(self.folder / INDEX), self._db:
            self._db.executemany(sql, rows)
            self._db.executemany("delete from records where key = ?", [(row[-1],) for row in rows])
            self._db.executemany("insert into records values (?, ?, ?)", stored)

    def untracked(self, tracker: str) -> list[RunRecord]:
        """The finished runs that were not yet mirrored to a tracker."""
        tracked = self.tracked()
        return [run for run in self.runs("done") if f"[{tracker}]" not in tracked.get(run.key, "")]

    def tracked(self) -> dict[str, str]:
        """The trackers to which a run was mirrored, by its key, in square brackets."""
        return dict(self._read("select key, tracked from runs where tracked != ''"))

    def mark_tracked(self, key: str, tracker: str) -> None:
        self._change("update runs set tracked = tracked || ? where key = ?", [(f"[{tracker}]", key)])

    def _read(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows at once: a damaged page is met while rows are fetched, not when they are asked for."""
        with _explained(self.folder / INDEX):
            return self._db.execute(sql, values).fetchall()

    def _records(self, rows: list[tuple[Any, ...]], stored: Mapping[str, Mapping[str, str]] = {}) -> list[RunRecord]:
        with _explained(self.folder / INDEX):
            return [_record(row, stored) for row in rows]

    def _change(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        with _explained(self.folder / INDEX), self._db:
            self._db.executemany(sql, rows)


def _plain(value: Any) -> Any:
    """What SQLite can hold: mappings are written as JSON."""
    return json.dumps(value) if isinstance(value, Mapping) else value


def _record(row: tuple[Any, ...], stored: Mapping[str, Mapping[str, str]]) -> RunRecord:
    values = dict(zip((*_COLUMNS, "detail"), row, strict=True))
    numbers = {name: values.pop(name) for name in _SUMMARY}
    detail = values.pop("detail")
    decoded: dict[str, Any] = {name: mapping(values.pop(name)) for name in _JSON}
    check_run_values(values, numbers)
    summary = None
    if values["state"] == "done":
        truths = {name: None if numbers[name] is None else bool(numbers[name]) for name in _TRUTHS}
        summary = Summary(**{**numbers, **truths})
    return RunRecord(
        **values,
        **decoded,
        summary=summary,
        detail=mapping(detail) if detail else {},
        stored=check_stored(stored.get(values["key"], {})) if values["state"] == "done" else {},
    )


def _connected(path: Path, write: bool) -> sqlite3.Connection:
    """A connection to the index. A reader that may write undoes what a killed writer left half done, which SQLite asks
    of whoever comes next; it can change nothing else, and where nothing may be written it only reads."""
    may_write = write or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    mode = "rwc" if write else "rw" if may_write else "ro"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30)
    if not write:
        connection.execute("pragma query_only = on")
    return connection


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's complaints, and content that is not what was written, into one sentence about the file."""
    try:
        yield
    except UsageError:
        raise
    except (sqlite3.DatabaseError, ValueError, TypeError, RecursionError) as error:
        text, code = str(error), getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise UsageError(
                f"cannot write {path}: {text}; free some space, then give the same command again"
            ) from error
        if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY", "SQLITE_LOCKED")):
            raise UsageError(f"cannot use {path}: {text}") from error
        again = f"`lengthwise study rebuild {path.parent}` rebuilds it from the runs"
        raise UsageError(f"the index {path} is damaged ({text}); {again}") from error


def index_stamp(folder: Path) -> tuple[int, int, int] | None:
    """What differs after every change of an index: its file, its length, and the counter in its header that SQLite
    raises with each transaction. None where there is no index."""
    try:
        with open_file(folder / INDEX) as file:  # a pipe in its place would be waited for
            found, head = os.fstat(file.fileno()), file.read(28)
        return found.st_ino, found.st_size, int.from_bytes(head[24:28], "big")
    except (OSError, UsageError):
        return None


def study_folder(name: str | Path, home: Path = HOME) -> Path:
    """The folder of a study: `name` itself where it is a study's folder, else `runs/NAME`. One that lost its index is
    found by its runs, to have it rebuilt."""
    if not str(name).strip():
        raise UsageError(f"the name of the study is empty; give a study's folder or its name below {home}/")
    for part in (INDEX, RUNS):
        for folder in (Path(name), home / name):
            if _has(folder, part):
                return folder
    known = study_names(home)
    listed = f"{home}/ holds {', '.join(known)}" if known else f"{home}/ holds none yet"
    raise UsageError(
        f"there is no study {str(name)!r}; {nearest(str(name), known)}{listed}; `lengthwise study --list` names more"
    )


def study_names(home: Path = HOME) -> list[str]:
    """The studies below a folder, by name."""
    try:
        return sorted(folder.name for folder in home.iterdir() if _has(folder, INDEX) or _has(folder, RUNS))
    except OSError:
        return []


def _has(folder: Path, part: str) -> bool:
    try:
        return (folder / part).is_file() if part == INDEX else (folder / part).is_dir()
    except (OSError, ValueError):  # a name too long, or with a zero byte in it, names no folder
        return False
