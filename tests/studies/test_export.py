"""Results for other programs: read back by other readers, every value is what the runs say."""

from __future__ import annotations

import csv
import os
import resource
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Claim, Column, Record, Table
from lengthwise.studies.export import export, export_claims
from lengthwise.studies.record import RunRecord, packed
from lengthwise.studies.store import Store

POINTS = (
    "key task position variant seed train_size test_size learned kept size items right exact low high token loss chance"
)
HOSTILE = ['=HYPERLINK("x")', "+1", "a,b", 'say "hi"', "two\nlines", "back\rreturn", "é…", "", " ", "-", "nan", "\x00"]


@pytest.fixture(scope="module")
def study(synthetic_study, tmp_path_factory) -> Path:
    return synthetic_study(tmp_path_factory.mktemp("export") / "study", tasks=["sort", "(aa)*"], seeds=2, failed=1)


def written(folder: Path, path: Path, what: Any = "points") -> list[dict[str, Any]]:
    """The rows as another reader finds them; texts in a CSV."""
    with Store.open(folder) as store:
        many = export_claims(store, path) if what == "runs" else export(store, path)
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    assert len(rows) == many
    return rows


def as_text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_one_row_for_each_run_and_size(study, tmp_path):
    rows = iter(written(study, tmp_path / "points.parquet"))
    with Store.open(study) as store:
        runs = store.runs("done")
    assert len(runs) == 11
    for run in runs:
        for point in run.curve.points:
            row, interval = next(rows), wilson(point.right, point.items)
            assert run.summary is not None
            assert [row[name] for name in POINTS.split()] == [
                *(run.key, run.task, run.position, run.variant, run.seed, run.train_size, run.test_size),
                run.summary.reach >= 20,
                run.summary.reach >= 20 and run.summary.in_range >= 0.9,
                *(point.size, point.items, point.right, point.exact, interval.low, interval.high),
                *(point.token, point.loss, point.chance),
            ]
            assert {name: row[name] for name in run.settings} == run.settings
    assert next(rows, None) is None


def test_one_row_for_each_run_done_or_not(study, tmp_path):
    rows = written(study, tmp_path / "runs.parquet", "runs")
    with Store.open(study) as store:
        runs = store.runs(detail=False)
    assert [row["key"] for row in rows] == [run.key for run in runs] and len(rows) == 12
    for row, run in zip(rows, runs, strict=True):
        assert (row["state"], row["reason"], row["attempts"]) == (run.state, run.reason, run.attempts)
        for name in ("reach", "censored", "learned", "holds", "in_range", "twice", "thrice"):
            assert row[name] == getattr(run.summary, name, None)
    assert rows[-1]["state"] == "failed" and rows[-1]["kept"] is None and rows[-1]["seconds"] is None


def looked_at(run: RunRecord, layers: int, sizes: tuple[int, ...]) -> RunRecord:
    rows = tuple((size, layer, size + layer / 10) for size in sizes for layer in range(1, layers + 1))
    columns = (Column("size", "whole"), Column("layer", "whole"), Column("seed", "number"))
    claims = tuple(Claim("a.b", value, "", "measured") for *_, value in rows)
    record = Record(
        "look", {"items": 3}, claims=claims, tables=(Table("look.short", (), ()), Table("look.rows", columns, rows))
    )
    return replace(run, stored={**run.stored, **packed({"look-items=3": record})})


def test_any_table_of_any_probe_is_exported_with_the_columns_of_the_run(study, tmp_path):
    with Store.open(study) as store:
        one, other, bare = store.runs("done")[:3]
    runs = [looked_at(one, 1, (2, 5)), looked_at(other, 2, (3,)), bare]
    with Store.open(tmp_path, write=True) as store:
        store.plan(runs)
        store.finish_all(runs)
        assert export(store, tmp_path / "look.parquet", "look") == 4
        with pytest.raises(UsageError, match=r"no table 'look\.x'; they have look\.short, look\.rows"):
            export(store, tmp_path / "no.csv", "look", "look.x")
        with pytest.raises(UsageError, match=r"no finished run .* 'other'; there are records of curve, look"):
            export(store, tmp_path / "no.csv", "other")
        assert export_claims(store, tmp_path / "claims.csv", "look") == 3
    rows = pq.read_table(tmp_path / "look.parquet").to_pylist()
    assert [(row["key"], row["size"], row["layer"], row["look_seed"]) for row in rows] == [
        *((one.key, size, 1, size + 0.1) for size in (2, 5)),
        *((other.key, 3, layer, 3 + layer / 10) for layer in (1, 2)),
    ]
    assert {row["seed"] for row in rows} == {one.seed, other.seed} and all(row["depth"] == 2 for row in rows)
    with (tmp_path / "claims.csv").open() as file:
        claims = [(row["a.b"], row["a.b_2"]) for row in csv.DictReader(file)]
    assert claims == [("2.1", "5.1"), ("3.1", "3.2"), ("", "")]


@pytest.mark.parametrize("what", ["points", "runs"])
def test_csv_says_what_parquet_says(study, tmp_path, what):
    """Numbers read back from their text are the same numbers, to the last bit."""
    ours, theirs = (written(study, tmp_path / f"a.{ending}", what) for ending in ("csv", "parquet"))
    assert ours == [{name: as_text(value) for name, value in row.items()} for row in theirs]
    for text, row in zip(ours, theirs, strict=True):
        for name, value in row.items():
            if isinstance(value, float):
                assert float(text[name]) == value


def planned(**changes: Any) -> RunRecord:
    given = {"key": "k", "task": "sort", "position": "none", "variant": "", "seed": 0, "train_size": 2, "test_size": 6}
    return RunRecord(**{**given, "items": 10, **changes})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_texts_are_left_as_they_are(tmp_path, ending):
    with Store.open(tmp_path, write=True) as store:
        store.plan([planned(key=f"k{n}", task=text, settings={"note": text}) for n, text in enumerate(HOSTILE)])
    rows = written(tmp_path, tmp_path / f"out.{ending}", "runs")
    assert [row["task"] for row in rows] == HOSTILE == [row["note"] for row in rows]


SETTING = st.one_of(
    st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.booleans(), st.text("ab,\"'\n", max_size=3)
)


@given(st.lists(st.dictionaries(st.sampled_from(["depth", "rate", "task", "seed"]), SETTING), max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_settings_come_back_whatever_their_types(tmp_path, found):
    """Settings of one type as they are; of several types as JSON, which tells them apart."""
    import json

    with Store.open(tmp_path, write=True) as store:
        store.plan([planned(key=f"k{n}", settings=own) for n, own in enumerate(found)])
    rows = written(tmp_path, tmp_path / "out.parquet", "runs")
    for name in {name for own in found for name in own}:
        column = f"setting_{name}" if name in ("task", "seed") else name
        values = [own.get(name) for own in found]
        kinds = {type(value) for value in values if value is not None}
        got = [row[column] for row in rows]
        if len(kinds) == 1 or (got == values and str not in kinds):
            assert got == values
        else:
            assert [None if text is None else json.loads(text) for text in got] == values


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_study_with_nothing_done_has_columns_and_types(tmp_path, ending):
    with Store.open(tmp_path, write=True) as store:
        store.plan([])
        with pytest.raises(UsageError, match="no run is finished"):
            export(store, tmp_path / f"points.{ending}")
    path = tmp_path / f"out.{ending}"
    assert written(tmp_path, path, "runs") == []
    if ending == "parquet":
        schema = pq.read_schema(path)
        assert schema.field("in_range").type == pa.float64()
        assert schema.field("kept").type == pa.bool_()
    else:
        assert path.read_text().startswith("key,task,position,variant,seed,")


@pytest.mark.parametrize(
    "name, part",
    [
        ("out.xlsx", "ends neither in"),
        ("out", "ends neither in"),
        ("nowhere/out.csv", "folder that exists"),
        ("dir.csv", "folder that exists"),
    ],
)
def test_outputs_that_cannot_be(study, tmp_path, name, part):
    (tmp_path / "dir.csv").mkdir()
    with Store.open(study) as store, pytest.raises(UsageError, match=part):
        export(store, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["dir.csv"]


def test_without_pyarrow_csv_still_works(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with Store.open(study) as store:
        with pytest.raises(UsageError, match=r"pip install 'lengthwise\[export\]'"):
            export(store, tmp_path / "out.parquet")
        assert export_claims(store, tmp_path / "out.csv") == 12
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_leaves_the_file_that_was_there(study, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    path.write_text("before")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            with Store.open(study) as store:
                export(store, path)
        except UsageError as error:
            os._exit(0 if str(path) in str(error) else 3)
        except BaseException:
            os._exit(2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.read_text() == "before" and [file.name for file in tmp_path.iterdir()] == [path.name]
