"""An index that lies: one value is of another type, and whoever reads it says so in a sentence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.analyses.content import read_content
from lengthwise.errors import UsageError
from lengthwise.studies.store import INDEX, Store


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, synthetic_study: Callable[..., Path]) -> bytes:
    folder = synthetic_study(tmp_path_factory.mktemp("study"), ["sort"], ["none"], seeds=2)
    return (folder / INDEX).read_bytes()


def changed(folder: Path, sound: bytes, sql: str, value: object) -> Path:
    (folder / INDEX).write_bytes(sound)
    with sqlite3.connect(folder / INDEX) as db:
        assert db.execute(sql, (value,)).rowcount > 0
    db.close()
    return folder


@pytest.mark.parametrize(
    "column", ["seed", "train_size", "test_size", "items", "attempts", "task", "position", "state"]
)
@pytest.mark.parametrize("value", [b"\xff", None, 1.5])
def test_columns_of_runs(tmp_path: Path, sound: bytes, column: str, value: object) -> None:
    folder = changed(tmp_path, sound, f"update runs set {column} = ?", value)
    with Store.open(folder) as store, pytest.raises(UsageError, match=r"is damaged .*study rebuild"):
        store.runs()


@pytest.mark.parametrize(
    "sql, value",
    [
        ("update runs set state = ?", "mended"),
        ("update runs set reach = ?", "far"),
        ("update runs set chance = ?", None),
        ("update runs set settings = ?", "[]"),
        ("update runs set asked = ?", "7"),
        ("update runs set detail = ?", '"x"'),
        ("update runs set detail = ?", "[" * 100_000),
        ("update facts set content = ? where name = 'study'", "7"),
        ("update facts set content = ? where name = 'tasks'", "[]"),
        ("update facts set content = ? where name = 'environment'", '"x"'),
        ("update records set content = ?", "{"),
        ("update records set content = ?", "[" * 100_000),
        ("update records set content = ?", json.dumps({"schema": 1, "text": 7})),
        ("update records set content = ?", "null"),
        ("update records set content = ?", b"{}"),
        ("update records set slug = ?", None),
    ],
)
def test_what_a_report_reads(tmp_path: Path, sound: bytes, sql: str, value: object) -> None:
    with pytest.raises(UsageError, match=r"damaged .*study rebuild"):
        _ = [run.curve for run in read_content(changed(tmp_path, sound, sql, value)).runs if run.state == "done"]
