"""The table of a study as data: rows, columns, the fate of every seed."""

from __future__ import annotations

import json

import pytest

from lengthwise.records import Claim
from lengthwise.studies.record import RunRecord, printable, run_title
from lengthwise.studies.store import Store
from lengthwise.studies.table import read_table


@pytest.fixture
def table(synthetic_study, tmp_path):
    with Store.open(synthetic_study(tmp_path / "study")) as store:
        return read_table(store)


def test_rows_are_tasks_and_columns_encodings_in_the_order_of_the_grid(table):
    assert list(table.rows) == ["sort", "(aa)*", "copy_repeat", "binary_majority"]
    assert table.columns == ("none", "learned+offset", "rope")
    assert all(set(row) == set(table.columns) for row in table.rows.values())


def test_every_run_is_counted_once(table):
    seeds = [cell["seeds"] for cell in table.plain()["cells"]]
    fates = ("kept", "discarded", "failed", "unfinished")
    assert sum(one["total"] for one in seeds) == 36
    assert all(sum(len(one[fate]) for fate in fates) == one["total"] for one in seeds)
    assert sum(len(one["discarded"]) for one in seeds) == table.discarded > 0
    assert sum(len(one["failed"]) for one in seeds) == table.counts["failed"] == len(table.failed) == 1


def test_claims_are_those_of_the_cells(table):
    plain = json.loads(json.dumps(table.plain(["thrice", "reach"]), allow_nan=False))
    for cell, written in zip(table.cells, plain["cells"], strict=True):
        assert list(written["claims"]) == ["thrice", "reach"]
        claim = cell.claim("reach")
        assert isinstance(claim, Claim) and written["claims"]["reach"] == json.loads(json.dumps(claim.plain()))
        assert written["claims"]["reach"]["kind"] == "measured"


def test_several_training_sizes_have_rows_of_their_own(tmp_path):
    runs = [
        RunRecord(f"{task}-{size}", task, "none", variant, 0, size, 60, 200)
        for task, variant in (("sort", ""), ("parity", "depth 2"))
        for size in (10, 20)
    ]
    with Store.open(tmp_path, write=True) as store:
        store.plan(runs)
        table = read_table(store)
    assert list(table.rows) == ["sort, to 10", "sort, to 20", "parity, depth 2, to 10", "parity, depth 2, to 20"]
    assert table.train_sizes == (10, 20) and table.name == tmp_path.name and table.rule.in_range == 0
    assert all(cell["claims"] == {} for cell in table.plain()["cells"]), "nothing is done, so nothing is claimed"


def test_a_study_without_runs(tmp_path):
    with Store.open(tmp_path, write=True) as store:
        table = read_table(store)
    assert table.rows == {} and table.columns == () and table.plain()["cells"] == []


def test_titles_and_hostile_text():
    run = RunRecord("key", "sort", "rope", "depth 2", 3, 20, 60, 200)
    assert run_title(run) == "sort, depth 2, position rope, trained to 20, seed 3"
    assert printable("a\x1b[31m\nb\t c\x00") == "a\ufffd[31m b c\ufffd"
