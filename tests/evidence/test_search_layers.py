"""The shipped thresholds of layers: whole, the same as the study says, and turned into claims without new numbers."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.evidence.search_layers import (
    BEYOND,
    IN_RANGE,
    JUDGED,
    UNMEASURED,
    LayersStudy,
    layer_claims,
    shipped_layers,
    write_layers,
)
from lengthwise.oracle.brackets import brackets_of
from lengthwise.tasks import tasks

TITLES = {"depth.enough_hard": "hard", "depth.needed_pointers": "pointers", "depth.needed_bits": "bits"}


@pytest.mark.system
def test_the_file_is_the_analysis_of_the_shipped_study() -> None:
    path = Path(__file__).parents[2] / "docs" / "make_search54.py"
    spec = importlib.util.spec_from_file_location("make_search54", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made, kept = module.layers(), shipped_layers()
    assert (made.runs, made.seeds, made.widths) == (kept.runs, kept.seeds, kept.widths)
    for one, other in zip(made.rows, kept.rows, strict=True):
        assert one.tokens == pytest.approx(other.tokens, abs=2e-4), "run `python docs/make_search54.py`"
        assert replace(one, tokens=(), solved=()) == replace(other, tokens=(), solved=())


def test_the_nesting_measured_is_within_what_the_oracle_says() -> None:
    for row in shipped_layers().rows:
        shape = brackets_of(tasks.make(row.task), row.size)
        assert shape is not None and row.size <= row.nesting <= shape.depth


def test_it_is_read_back_as_written(tmp_path: Path) -> None:
    import json

    write_layers(shipped_layers(), tmp_path / "a.json")
    assert LayersStudy.from_plain(json.loads((tmp_path / "a.json").read_text())) == shipped_layers()


def test_claims_say_what_the_rows_say() -> None:
    study = shipped_layers()
    for name in ("subset_sum", "countdown", "tree_maze"):
        rows = [row for row in study.rows if row.task.startswith(name)]
        claims = layer_claims(tasks.make(name), TITLES)
        for row in rows:
            (said,) = [c for c in claims if c.evidence.get("position") == row.position and c.key == IN_RANGE]
            if row.in_range and row.accurate is not None:
                assert said.value == row.accurate and said.evidence["solving"] == row.solving
        judged = {claim.evidence["predicted"]: claim for claim in claims if claim.key == JUDGED}
        assert rows and set(judged) == {"depth.enough_hard", "depth.needed_pointers"}  # it judges layers, not bits
        for key, claim in judged.items():
            said = [row.judged[key] for row in rows]
            assert claim.value == said.count("agrees") and claim.evidence["silent"] == said.count("silent")
            assert (claim.status == "refuted") == ("contradicted" in said)


def test_a_level_that_is_reached_is_said() -> None:
    study = shipped_layers()
    rows = tuple(replace(row, accurate=2) if row.size == 7 else row for row in study.rows)
    for claims, value in ((layer_claims(tasks.make("countdown"), {}, replace(study, rows=rows)), 7),):
        assert {claim.value for claim in claims if claim.key == BEYOND} == {value}


def test_what_was_not_studied_is_unknown() -> None:
    for name in ("dyck_k", "subset_sum:branching=2"):
        (claim,) = layer_claims(tasks.make(name), TITLES)
        assert claim.key == UNMEASURED and claim.status == "unknown" and claim.value is None
        assert claim.assumptions[0].values == {"study": "search54"}
    assert layer_claims(tasks.make("sort"), TITLES) == []
