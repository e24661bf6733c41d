"""The evaluation: leave one task out, baselines, and a planted effect that is found."""

from __future__ import annotations

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas
from lengthwise.forecasts.cases import seen_to
from lengthwise.forecasts.curves import CURVES, curve_forecasts
from lengthwise.forecasts.evaluate import BASE, OURS, evaluate, scored
from synthetic_atlas import SIZES, TRAIN_SIZE, synthetic_atlas


def test_curves_recover_what_they_were_made_from():
    """With the true curve in the family, its fit extrapolates."""
    run = synthetic_atlas(3).runs[0]
    sizes = np.array(SIZES) / TRAIN_SIZE
    shapes = {
        "hazard": np.exp(-sizes / 6),
        "weibull": np.exp(-((sizes / 5) ** 2)),
        "logistic": 1 / (1 + (sizes / 4) ** 3),
    }
    for name, exact in shapes.items():
        made = type(run)(**{**vars(run), "exact": tuple(exact)})
        shown = [seen_to(made, 4.0)]
        assert curve_forecasts(name, shown, [8.0])[0, 0] == pytest.approx(exact[-1], abs=0.04)
        assert curve_forecasts("persists", shown, [8.0])[0, 0] == exact[SIZES.index(80)]


def test_a_task_never_helps_to_forecast_itself():
    """Outcomes of one task are turned round: its own forecasts stay as they are."""
    atlas = synthetic_atlas(9, seeds=1, positions=("none", "rope", "alibi"))
    last = atlas.tasks[-1]
    turned = Atlas(
        tuple(
            type(run)(**{**vars(run), "exact": tuple(1 - x for x in run.exact)}) if run.task == last else run
            for run in atlas.runs
        )
    )
    one, two = scored(atlas), scored(turned)
    mine = np.array([run.task == last for run in one.runs])
    for name in (OURS, BASE):
        assert one.by_name[name].holds[mine] == pytest.approx(two.by_name[name].holds[mine])
        assert one.by_name[name].outcomes[mine] == pytest.approx(two.by_name[name].outcomes[mine])
        assert not np.allclose(one.by_name[name].outcomes[~mine], two.by_name[name].outcomes[~mine])


def test_two_tasks_are_too_few():
    with pytest.raises(UsageError):
        evaluate(synthetic_atlas(2))


@pytest.mark.system
def test_signals_that_were_planted_beat_every_baseline_and_intervals_cover():
    atlas = synthetic_atlas(30, positions=("none", "learned+offset", "rope", "alibi", "t5", "kerple"))
    record = evaluate(atlas)
    for when in ("before", "seen_1", "seen_2"):
        rows = {row["forecaster"]: row for row in record.table(f"forecast.scores_{when}").records()}
        ours = next(iter(rows.values()))
        assert 0.85 <= ours["coverage"] <= 0.97
        assert len(rows) == (2 if when == "before" else 2 + 2 * len(CURVES))
        assert len(record.table(f"forecast.classes_{when}").rows) == 3
    for claim in record.claims:
        if claim.evidence["seen"] == 1:  # nothing but the signals tells what comes
            assert claim.interval.high < 0
