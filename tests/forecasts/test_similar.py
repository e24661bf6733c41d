"""Weights of similar cases, and the choice of what makes cases similar."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lengthwise.forecasts.cases import BEFORE, cases_of, family_of, holds_at, pooled, reach_of, seen_to
from lengthwise.forecasts.choosing import LARGEST, chosen
from lengthwise.forecasts.distributions import steps
from lengthwise.forecasts.similar import Cases, Relevance, distance, mixtures
from synthetic_atlas import SIZES, TRAIN_SIZE, synthetic_atlas


def planted(tasks: int = 40) -> Cases:
    """Holding depends on `kind` and not on `noise`."""
    drawn = np.random.default_rng(0)
    kind, noise = drawn.choice(["a", "b"], tasks), drawn.normal(size=tasks)
    held = (drawn.random(tasks) < np.where(kind == "a", 0.9, 0.1)).astype(float)
    features = {"kind": kind, "noise": noise}
    return Cases(np.arange(tasks), np.full(tasks, ""), features, np.ones(tasks), steps(held)[:, None], held[:, None])


def test_a_feature_that_decides_is_found_and_one_that_does_not_is_left_out():
    found = chosen(planted(200), ("kind", "noise"))
    assert found.by_feature["noise"] < 0.5
    assert 2 < found.by_feature["kind"] <= LARGEST


def test_a_case_is_never_forecast_from_its_own_task_or_another_stratum():
    cases = replace(planted(6), task=np.array([0, 0, 1, 1, 2, 2]), stratum=np.array(list("xyxyxy")))
    weights = Relevance({"kind": 1.0}, -2.0).weights(cases, cases)
    assert ((weights > 0).sum(axis=1) == 2).all()
    assert weights[0, [0, 1, 3, 5]].max() == 0


def test_the_gradient_of_the_choice_is_right():
    """Relevances chosen from another start are as good: the score is compared with those of a grid."""
    cases = planted()

    def score(kind: float, floor: float) -> float:
        chance = mixtures(Relevance({"kind": kind}, floor).weights(cases, cases), cases.holds)
        return float(np.square(chance - cases.holds).mean())

    found = chosen(cases, ("kind",))
    best = min(score(kind, floor) for kind in np.linspace(0, LARGEST, 9) for floor in (-9, -6, -4, -2, -1))
    assert score(found.by_feature["kind"], found.floor) < best + 1e-3


def test_the_base_rate_by_class_and_encoding_is_a_special_case():
    cases = cases_of(synthetic_atlas(12).runs)
    far = Relevance({"oracle_class": 40.0, "design": 40.0}, -40.0)
    found = mixtures(far.weights(cases, cases), cases.holds)
    own, position = cases.features["oracle_class"], cases.features["design"]
    for place in (0, 17, 101):
        alike = (own == own[place]) & (position == position[place]) & (cases.task != cases.task[place])
        assert found[place] == pytest.approx(cases.holds[alike].mean(axis=0))


def test_distances_of_missing_numbers():
    first, second = np.array([1.0, np.nan]), np.array([1.5, np.nan, 9.0])
    assert distance(first, second).tolist() == [[0.5, 1.0, 3.0], [1.0, 0.0, 1.0]]
    assert distance(np.array(["a", "b"]), np.array(["b"])).tolist() == [[1.0], [0.0]]


def test_what_was_not_measured_is_left_out_of_a_mixture():
    found = mixtures(np.array([[1.0, 3.0, 1.0]]), np.array([[0.0], [np.nan], [1.0]]))
    assert found.tolist() == [[0.5]]


def test_seeds_are_pooled_into_one_case():
    cases = cases_of(synthetic_atlas(6, seeds=3).runs)
    found = pooled(cases)
    assert len(found) == len(cases) / 3
    assert found.weight == pytest.approx(np.ones(len(found)))
    assert found.holds.mean(axis=0) == pytest.approx(cases.holds.mean(axis=0))
    assert set(found.features) == set(BEFORE)


def test_holding_needs_every_size_up_to_there():
    run = synthetic_atlas(3).runs[0]
    exact = tuple(0.9 if size == 32 else 1.0 for size in SIZES)
    run = type(run)(**{**vars(run), "exact": exact})
    assert (holds_at(run, 1), holds_at(run, 2), holds_at(run, 8), holds_at(run, 20)) == (True, False, False, None)
    assert reach_of(run) == 25
    assert seen_to(run, 1).sizes[-1] == TRAIN_SIZE and len(seen_to(run, 1).signals["margin"]) == 6


def test_families_keep_their_wrappers():
    names = ("alibi", "kerple", "learned", "learned:rows=60+offset", "rope:base=500", "none")
    assert [family_of(name) for name in names] == ["bias", "bias", "absolute", "absolute+offset", "rope", "none"]
