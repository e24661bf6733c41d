"""The studies that come with the package: they can be planned, and they ask what they say they ask."""

from __future__ import annotations

import csv
import functools
from collections import Counter
from pathlib import Path

import pytest

from lengthwise.models.attention import attentions
from lengthwise.positions import make_position, positions, wrappers
from lengthwise.positions.wrapping import Offset, RandomFloats, Randomized
from lengthwise.probes import probes
from lengthwise.registry import format_spec
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import build_model
from lengthwise.studies.grid import planned_records, plans
from lengthwise.studies.lengths import position_for
from lengthwise.studies.spec import Study, builtin_names, builtin_questions
from lengthwise.tasks import tasks

STATE_TRACKING = [("quick", 20, 10), ("full", 200, 10), ("parity", 25, 5), ("products", 9, 3), ("loops", 6, 2)]
TABLE = Path(__file__).parents[1] / "data" / "huang2025.csv"


@functools.cache
def planned(name: str) -> list[Plan]:
    return plans(Study.read(name))


def test_names_and_questions() -> None:
    assert set(builtin_names()) == {
        *("arithmetic", "atlas", "bound", "huang2025", "plateaus", "positions", "quick", "recipes", "search54"),
        *("depth_width", "ingredients", "retrieval", "search_recipes", "sharpness", "state_tracking", "temperature"),
        "xiao2024",
    }
    for name, question in builtin_questions().items():
        assert question.endswith("?") and "\n" not in question and len(question) < 120
        assert Study.read(name).name == name


@pytest.mark.parametrize("name", builtin_names())
def test_a_built_in_study_can_be_planned_and_written(name: str) -> None:
    study, made = Study.read(name), planned(name)
    assert made and Study.from_plain(study.plain()) == study
    assert {plan.task_name for plan in made} == set(study.tasks), "names as the registry writes them, none left out"
    assert {plan.position_name for plan in made} == set(study.positions)


def test_huang2025_has_the_published_tasks() -> None:
    study = Study.read("huang2025")
    assert len(study.tasks) == 25 and set(study.positions) == {"learned+offset", "none"} and len(study.seeds) == 3
    with TABLE.open(newline="") as file:
        rows = {
            (row["exact_match_in_range"], row["exact_match_2x"], row["exact_match_3x"]) for row in csv.DictReader(file)
        }
    for task in study.tasks:
        published = tasks.make(task).facts.published
        curves = {curve.encoding: curve.exact_match for curve in published}
        assert set(study.positions) <= set(curves)
        assert all(any(tuple(map(float, row)) == curve for row in rows) for curve in curves.values())
    assert len(plans(study)) == 150 and study.keep == 0.99


def test_positions_has_every_encoding() -> None:
    made = [make_position(text) for text in Study.read("positions").positions]
    bases = {type(one.base if isinstance(one, Offset | Randomized | RandomFloats) else one) for one in made}
    from_tasks = {type(make_position(text)) for text in Study.read("arithmetic").positions[:2]}
    assert bases | from_tasks == {positions.maker(name) for name in positions.names()} and not bases & from_tasks
    assert {wrappers.maker(name) for name in wrappers.names()} <= {type(one) for one in made}


def test_the_atlas_is_large_and_balanced() -> None:
    """As docs/findings/atlas.md says."""
    study, made = Study.read("atlas"), planned("atlas")
    assert len(made) == 1633 and len(study.tasks) == 71 and len(study.positions) == 11
    assert all(plan.test_size == 8 * plan.train_size for plan in made)
    assert all(plan.measured_sizes[-1] > 7 * plan.train_size and len(plan.measured_sizes) < 17 for plan in made)
    shapes = {(plan.architecture.depth, plan.recipe.steps, plan.recipe.batch) for plan in made}
    assert shapes == {(2, 1000, 48), (1, 1000, 48)}, "no preset of a task comes in between; an LSTM has one layer"


@pytest.mark.parametrize(("preset", "runs", "count"), STATE_TRACKING)
def test_state_tracking_by_preset(preset: str, runs: int, count: int) -> None:
    made = plans(Study.read("state_tracking", preset))
    assert len(made) == runs and {plan.position_name for plan in made} == {"none"}
    names = {plan.model_name for plan in made}
    assert len(names) == count and len(planned_records(made)) == runs


def test_plateaus_gives_each_task_the_encoding_of_its_theory() -> None:
    study = Study.read("plateaus")
    made = plans(study)
    for plan in made:
        assert plan.position_name == position_for(plan.task) and plan.test_size == 8 * plan.train_size
    assert study.analyses[0].startswith("plateau") and "errors" in study.probes
    assert Counter(plan.train_size for plan in made) == {8: 39, 16: 39, 32: 39, 64: 39}


def test_temperature_has_every_rule_on_every_task() -> None:
    study = Study.read("temperature")
    made = plans(study)
    rules = Counter(format_spec(attentions.spec_of(plan.architecture.attention)) for plan in made)
    softmax = {f"softmax:temperature={temperature}" for temperature in ("0.25", "0.5", "1", "2", "4")}
    assert set(rules) == softmax | {"log_length", "hardmax"} and set(rules.values()) == {12} and len(made) == 84
    assert study.probes == ("curve", "sparsity") and all(len(plan.probes) == 2 for plan in made)


def test_sharpness_compares_rules_to_eight_times_the_training_size() -> None:
    made, paper = planned("sharpness"), plans(Study.read("sharpness", "paper"))
    for found, rules in ((made, 4), (paper, 10)):
        names = {attentions.spec_of(plan.architecture.attention)["name"] for plan in found}
        assert len(names) == rules and {"softmax", "log_length", "ssmax", "asentmax"} <= names <= set(
            attentions.names()
        )
        assert {plan.seed for plan in found} == {0, 1, 2}
        assert all({32, 64, 128, 256} <= set(plan.measured_sizes) and plan.train_size == 32 for plan in found)
    assert len(made) == 24 and len(paper) == 240 and {plan.task_name for plan in made} < {p.task_name for p in paper}


def test_retrieval_takes_all_but_the_rule_from_the_presets() -> None:
    made = planned("retrieval")
    assert len(made) == 16 and all({20, 40, 80} <= set(plan.measured_sizes) for plan in made)
    for plan in made:
        usual = plan_for(plan.task, plan.architecture.position, {"attention": plan.architecture.attention})
        assert (plan.architecture, plan.recipe) == (usual.architecture, usual.recipe)


def test_bound_trains_on_new_texts_only_and_on_many_for_its_weights() -> None:
    made = plans(Study.read("bound"))
    assert len(made) == 5 == len({plan.seed for plan in made})
    plan = made[0]
    weights = sum(weight.numel() for weight in build_model(plan).parameters())
    texts = plan.recipe.steps * plan.recipe.batch  # every number is drawn once
    assert not plan.task.certain and plan.recipe.sizes.draw(plan.train_sizes, 0.0, 0.0) == plan.train_size == 64
    assert texts * plan.train_size > 400 * weights, "a weight of 6 bits then costs about 0.01 nats a symbol"


def test_xiao2024_runs_every_layout_to_ten_times_its_training_size() -> None:
    made = planned("xiao2024")
    assert len(made) == 60 and {plan.seed for plan in made} == {0, 1, 2}
    for plan in made:
        assert plan.test_size == 10 * plan.train_size
        chained = plan.task.readout != "numbers"
        assert ("recursion" in [format_spec(probes.spec_of(probe)) for probe in plan.probes]) == chained
    assert len(Study.read("xiao2024", "one-seed").seeds) == 1
