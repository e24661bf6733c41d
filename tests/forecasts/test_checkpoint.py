"""Forecasts for a model that was measured up to a size, and their scores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.forecasts.cases import seen_to
from lengthwise.forecasts.checkpoint import forecast_from
from lengthwise.records import Record
from synthetic_atlas import SIZES, TRAIN_SIZE, synthetic_atlas

ATLAS = synthetic_atlas(24)
BEYOND = [size for size in SIZES if size > 2 * TRAIN_SIZE]


def asked(held: bool, seed: int = 3) -> tuple[AtlasRun, dict[int, float]]:
    """A run that is not in the atlas and held, or did not, to twice its training size; and its truth beyond."""
    others = synthetic_atlas(24, seed=seed).runs
    run = next(r for r in others if (min(seen_to(r, 2).exact) >= 0.95) == held and r.position == "alibi" and r.learned)
    run = replace(run, task="another")
    return seen_to(run, 2), {size: exact for size, exact in zip(run.sizes, run.exact, strict=True) if size in BEYOND}


def values(record: Record, key: str) -> list[float]:
    return [claim.value for claim in record.claims if claim.key == key]


def test_the_reach_is_forecast_at_every_size_beyond():
    shown, truth = asked(held=True)
    record = forecast_from(shown, BEYOND, ATLAS, truth=truth)
    chances = values(record, "forecast.holds")
    assert len(chances) == len(BEYOND) and chances == sorted(chances, reverse=True)
    assert all(claim.interval for claim in record.claims if claim.key == "forecast.exact")
    table = record.table("forecast.compared")
    assert table.column("size") == BEYOND
    assert table.column("measured") == pytest.approx([truth[size] for size in BEYOND])
    reached = [all(truth[n] >= 0.95 for n in BEYOND[: place + 1]) for place in range(len(BEYOND))]
    assert table.column("held") == reached
    brier = sum((chance - held) ** 2 for chance, held in zip(chances, reached, strict=True)) / len(reached)
    assert record.claim("forecast.brier").value == pytest.approx(brier, abs=1e-3)
    assert 0 <= record.claim("forecast.inside").value <= 1


def test_a_run_that_failed_already_reaches_nowhere():
    record = forecast_from(asked(held=False)[0], BEYOND, ATLAS)
    assert values(record, "forecast.holds") == [0.0] * len(BEYOND)
    assert max(values(record, "forecast.exact")) < 0.9


def test_a_curve_with_a_single_size_is_refused():
    shown, _ = asked(held=True)
    single = replace(shown, sizes=shown.sizes[:1], exact=shown.exact[:1])
    with pytest.raises(UsageError):
        forecast_from(single, BEYOND, ATLAS)


def test_an_encoding_that_is_not_known_is_refused():
    record = forecast_from(replace(asked(held=True)[0], position=""), BEYOND, ATLAS)
    assert record.claim("forecast.outside").status == "refused"
    assert not values(record, "forecast.holds")


def test_too_few_comparable_tasks_are_refused():
    few = Atlas(tuple(run for run in ATLAS.runs if min(seen_to(run, 2).exact) < 0.95))
    record = forecast_from(asked(held=True)[0], BEYOND, few)
    claim = record.claim("forecast.outside")
    assert "forecast.comparable" in {one.key for one in claim.assumptions if one.check == "violated"}


@pytest.mark.system
def test_what_was_seen_is_better_than_the_base_rate():
    """Runs whose margin fades are forecast to fail: over many runs, forecasts separate those that hold from those that
    do not."""
    chances: dict[bool, list[float]] = {True: [], False: []}
    for run in synthetic_atlas(9, seed=11).runs[::4]:
        shown = replace(seen_to(run, 2), task="another")
        if min(shown.exact) >= 0.95:
            end = min(exact for size, exact in zip(run.sizes, run.exact, strict=True) if size <= 80) >= 0.95
            chances[end] += values(forecast_from(shown, [80], ATLAS), "forecast.holds")  # none where it is refused
    held, failed = (sum(ones) / len(ones) for ones in (chances[True], chances[False]))
    assert held > failed + 0.2
