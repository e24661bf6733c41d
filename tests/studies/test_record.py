"""The record of a run: its summary against a slow count, its curve packed and unpacked, folders that are damaged."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.curve.spread import Keep
from lengthwise.runs.run import load_run
from lengthwise.studies.record import (
    RunRecord,
    Summary,
    named_variants,
    packed,
    read_finished,
    settings_of,
)
from lengthwise.studies.store import RUNS


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    sizes = sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=12)))
    points = []
    for size in sizes:
        items = draw(st.integers(1, 30))
        right = draw(st.integers(0, items))
        loss = draw(st.floats(0, 50))
        points.append(Point(size, size, items, right, 2 * items, items + right, loss, 0.25, 0.5))
    return Curve("sort", "none", draw(st.integers(1, 40)), 3, tuple(points))


@given(curves())
def test_the_summary_counts_items(curve):
    summary, n = Summary.of(curve), curve.train_size

    def share(low: int, high: int) -> float | None:
        asked = [size for p in curve.points for size in [p.size] * p.items if low < size <= high]
        right = [size for p in curve.points for size in [p.size] * p.right if low < size <= high]
        return len(right) / len(asked) if asked else None

    assert (summary.in_range, summary.twice, summary.thrice) == (
        share(0, n),
        share(n, 2 * n),
        share(2 * n, 3 * n),
    )
    below = [p.size for p in curve.points if p.right < 0.95 * p.items]
    held = [p.size for p in curve.points if not below or p.size < below[0]]
    assert summary.reach == (held[-1] if held else 0) and summary.censored == (not below)
    measured = [p.size for p in curve.points]
    trained, beyond = [s for s in measured if s <= n], [s for s in measured if n < s <= 3 * n]
    learned = not set(below) & set(trained) if trained else None
    assert summary.learned is learned
    assert summary.holds is (not set(below) & set(beyond) if learned and beyond else None)


@given(curves(), st.floats(0.01, 1))
def test_the_summary_judges_a_seed_as_the_rule_does(curve, share):
    if curve.points[0].size <= curve.train_size:
        summary = Summary.of(curve)
        assert Keep(share)(curve) == (summary.learned is True and summary.in_range >= share)
        assert Keep(share)(curve) == Keep(share).keeps(summary.learned, summary.in_range)


@given(curves())
def test_a_curve_comes_back_from_its_record(curve):
    record = RunRecord("key", "sort", "none", "", 3, curve.train_size, 40, 5, stored=packed({"curve": curve.record()}))
    assert record.curve == curve and record.record("ladder") is None


def test_the_record_of_a_run_that_was_trained(trained_once):
    for folder in (trained_once / RUNS).iterdir():
        run, record = load_run(folder), read_finished(folder)
        assert record.key == folder.name and record.curve == run.curve and record.summary == Summary.of(run.curve)
        assert (record.task, record.position) == (run.plan.task_name, run.plan.position_name)
        assert record.settings == settings_of(run.plan.plain()) and "position" not in record.settings
        assert record.losses == [tuple(entry) for entry in run.history.losses]
        assert record.checks == [tuple(entry) for entry in run.history.checks]
        assert record.seconds == run.history.seconds and record.detail["digest"] == run.plan.digest()


def test_a_folder_damaged_in_any_way_is_named(trained_study):
    """Parts of the two files replaced or left out at random: a record, or a sentence that names the folder."""
    folder = next((trained_study / RUNS).iterdir())
    whole = {name: (folder / name).read_text() for name in ("run.json", "records/curve.json")}
    rng, told = random.Random(0), 0
    for _ in range(300):
        name = rng.choice(list(whole))
        content = json.loads(whole[name])
        _damage(content, rng)
        (folder / name).write_text(json.dumps(content))
        sentence = ""
        try:
            json.dumps(read_finished(folder).detail, allow_nan=False)
        except UsageError as error:
            sentence = str(error)
        told += bool(sentence)
        assert not sentence or (str(folder) in sentence and "\n" not in sentence)
        (folder / name).write_text(whole[name])
    assert told > 50


def _damage(content: Any, rng: random.Random) -> None:
    """Somewhere inside, one value becomes another or is gone."""
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = rng.choice(keys)
        if isinstance(content[key], dict | list) and content[key] and rng.random() < 0.8:
            content = content[key]
            continue
        if rng.random() < 0.3:
            del content[key]
        else:
            content[key] = rng.choice([None, "text", -1, 0, [], {}, 1e308, float("nan"), float("inf")])
        return


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"text"', "\x00", "[" * 5000])
@pytest.mark.parametrize("name", ["run.json", "records/curve.json"])
def test_files_that_hold_something_else(trained_study, name, text):
    folder = next((trained_study / RUNS).iterdir())
    (folder / name).write_text(text)
    with pytest.raises(UsageError, match=r"run\.json|curve\.json"):
        read_finished(folder)


def record(settings: dict[str, Any], task: str = "sort", position: str = "none") -> RunRecord:
    return RunRecord("key", task, position, "", 0, 20, 60, 200, settings=settings)


def test_a_variant_names_what_differs_within_a_task_and_encoding():
    runs = [
        record({"depth": 1, "weight_decay": 0.1}),
        record({"depth": 2, "weight_decay": 0.1}),
        record({"depth": 4, "weight_decay": 0.2}, position="rope"),
    ]
    assert [run.variant for run in named_variants(runs)] == ["depth 1", "depth 2", ""]
    assert [replace(run, variant="") for run in named_variants(runs)] == runs


def test_a_setting_that_some_runs_lack_differs_too():
    runs = [record({"depth": 1}), record({"depth": 1, "stop_at": 0.99})]
    assert [run.variant for run in named_variants(runs)] == ["", "stop at 0.99"]


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(UsageError, match=r"run\.json"):
        read_finished(Path(tmp_path) / "nowhere")
