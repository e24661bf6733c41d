"""The study `bound`, a sixth of it: the bound of a model from its own training data, held against the known source."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from lengthwise.probes.guarantee.bound import bound
from lengthwise.runs.run import carry_out
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_bound_is_below_chance_and_the_truth_below_the_bound(seed: int, tmp_path: Path) -> None:
    whole = plans(Study.read("bound"))[seed]
    recipe = dataclasses.replace(whole.recipe, steps=400)
    plan = dataclasses.replace(whole, items=2, probes=whole.probes[:1], recipe=recipe)
    run = carry_out(plan, tmp_path / "run")
    found = bound(run.folder, "guarantee:sample=2000,held_out=500", folder=tmp_path / "bound")
    best = found.best("loss", "tokens")
    assert best is not None and best.chance == pytest.approx(math.log(31))
    assert best.total < 2.4, "a nat below chance, with a sixth of the data"
    assert not found.broken
    seen = [claim for claim in found.measured if claim.key == "guarantee.in_contexts"]
    truth = [claim for claim in seen if claim.evidence["target"] == "loss"]
    assert len(truth) == 3, "one for each inequality"
    for claim in truth:  # each has the smoothing of its own bound, so it is held against that one
        assert isinstance(claim.value, float) and claim.interval is not None
        assert plan.task.best_loss(64) < claim.value and claim.interval.high < claim.evidence["bound"]
