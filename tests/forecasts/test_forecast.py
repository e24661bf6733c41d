"""Forecasts before training, and what is refused instead of forecast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas
from lengthwise.forecasts.advice import advise
from lengthwise.forecasts.cases import MULTIPLES
from lengthwise.forecasts.forecast import forecast
from lengthwise.forecasts.share import measured_shares, share_of
from lengthwise.oracle.check import check
from lengthwise.records import Record
from lengthwise.tasks import make_task
from synthetic_atlas import synthetic_atlas

ATLAS = synthetic_atlas(24)


def chances(record: Record) -> list[float]:
    return [claim.value for claim in record.claims if claim.key == "forecast.holds"]


def violated(record: Record) -> set[str]:
    return {one.key for claim in record.claims for one in claim.assumptions if one.check == "violated"}


def test_a_forecast_has_falling_chances_a_distribution_and_an_interval():
    record = forecast("tomita_4", "learned+offset", atlas=ATLAS)
    found = chances(record)
    assert len(found) == len(MULTIPLES) and found == sorted(found, reverse=True)
    assert 0.4 < found[0] <= 1  # planted: 0.8 for this class and encoding
    for claim in record.claims:
        if claim.key == "forecast.exact":
            assert claim.interval.level == 0.9 and 0 <= claim.interval.low <= claim.interval.high <= 1
            assert claim.kind == "predicted"
    rows = record.table("forecast.distribution").records()
    assert [row["at_most"] for row in rows if row["exact"] == 1.0] == pytest.approx([1.0] * 3)
    assert not violated(record)


def test_classes_and_encodings_matter_as_planted():
    held = {p: chances(forecast("tomita_4", p, atlas=ATLAS))[1] for p in ("learned+offset", "learned", "rope")}
    assert held["learned+offset"] > max(held["learned"], held["rope"]) + 0.2


def test_the_nearest_tasks_are_shown_in_order():
    table = forecast("tomita_4", "alibi", atlas=ATLAS).table("forecast.nearest")
    assert table.column("distance") == sorted(table.column("distance"))
    assert set(table.column("design")) == {"alibi"}


def test_a_task_of_the_atlas_is_forecast_from_the_others_and_its_own_runs_are_said():
    runs = tuple(replace(run, task="tomita_3") if run.task.endswith("=2") else run for run in ATLAS.runs)
    record = forecast("tomita_3", "alibi", atlas=Atlas(runs))
    assert record.claim("forecast.measured_here").kind == "measured"
    assert record.claim("forecast.measured_here").evidence["seeds"] == 2
    assert "tomita_3" not in record.table("forecast.nearest").column("task")


@pytest.mark.parametrize("ask", [forecast, advise])
def test_a_task_without_right_answers_has_neither_forecast_nor_advice(ask):
    with pytest.raises(UsageError, match="prose"):
        ask("prose", atlas=ATLAS)


def test_a_training_size_of_one_task_alone_is_not_covered():
    """Of all tasks but one there is nothing to compare with."""
    task = ATLAS.runs[0].task
    longer = [replace(run, train_size=40, sizes=tuple(2 * size for size in run.sizes)) for run in ATLAS.runs]
    alone, many = (Atlas((*ATLAS.runs, *some)) for some in ([run for run in longer if run.task == task], longer))
    found = [violated(forecast("tomita_4", "rope", train_size=40, atlas=atlas)) for atlas in (alone, many)]
    assert ["forecast.train_size_covered" in keys for keys in found] == [True, False]


@pytest.mark.parametrize(
    "task, position, train_size, reason",
    [
        ("tomita_4", "rope:base=500", 20, "forecast.known_design"),
        ("tomita_4", "rope", 40, "forecast.train_size_covered"),
        ("sort", "alibi", 20, "forecast.readout_covered"),
    ],
)
def test_outside_of_the_atlas_there_is_no_number(task, position, train_size, reason):
    record = forecast(task, position, train_size=train_size, atlas=ATLAS)
    claim = record.claim("forecast.outside")
    assert (claim.value, claim.status, claim.interval) == (None, "refused", None)
    assert reason in violated(record)
    assert not chances(record)
    assert len(record.table("forecast.nearest").rows) > 0


def test_a_task_unlike_any_other_is_refused():
    many = make_task("regular:expression=" + "".join(f"({a}{a})*" for a in "abcdefghijklmnop"))
    assert violated(forecast(many, "none", atlas=ATLAS)) == {"forecast.near_enough"}


def test_few_tasks_give_a_chance_but_no_interval():
    few = synthetic_atlas(8)
    record = forecast("tomita_4", "alibi", atlas=few)
    assert all(claim.interval is None for claim in record.claims)
    assert "forecast.enough_for_interval" in violated(record)
    assert len(chances(record)) == 3
    record = forecast("tomita_4", "alibi", atlas=synthetic_atlas(18), level=0.95)
    assert all(claim.interval is None for claim in record.claims)


def test_one_seed_is_said():
    record = forecast("tomita_4", "alibi", atlas=synthetic_atlas(24, seeds=1))
    assert violated(record) == {"forecast.several_seeds"}


def test_an_empty_atlas_and_a_wrong_level_are_refused():
    with pytest.raises(UsageError):
        forecast("tomita_4", atlas=Atlas(()))
    with pytest.raises(UsageError):
        forecast("tomita_4", atlas=ATLAS, level=1.0)


# --- measured shares on the card ------------------------------------------------------------------------------------


def test_shares_pool_the_seeds_of_a_task():
    task = make_task("tomita_4")
    card = check(task, ["none", "learned+offset", "rope", "sinusoidal"], quick=True)
    claims = measured_shares(task, card, ATLAS)
    assert [claim.evidence["encoding"] for claim in claims] == ["rope", "sinusoidal"]  # theory decides the others
    alike = [run for run in ATLAS.runs if run.facts.oracle_class == "positions" and run.position == "rope"]
    by_task = {run.task: [one for one in alike if one.task == run.task and one.learned] for run in alike}
    held = [
        np.mean([min(r.exact[: r.sizes.index(50) + 1]) >= 0.95 for r in runs]) > 0.5
        for runs in by_task.values()
        if runs
    ]
    claim = claims[0]
    assert (claim.evidence["held"], claim.evidence["tasks"]) == (sum(held), len(held))
    assert (claim.kind, claim.key, claim.interval.method) == ("measured", "forecast.share", "Wilson")
    assert claim.value in claim.interval


def test_a_share_of_nothing_has_no_value():
    claim = share_of(ATLAS.runs[0].facts, "alibi", 3, ())
    assert (claim.key, claim.value, claim.status, claim.interval) == ("forecast.share_none", None, "unknown", None)
