"""The planner: published figures, what a goal takes, and a search for runs at which its answers would be wrong."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.bounds.plan import (
    MOST,
    GuaranteePlan,
    along_line,
    bits_for,
    edges,
    needs,
    params_for,
    solved,
    tokens_for,
)
from lengthwise.bounds.plan_methods import AzumaMethod, FreedmanMethod, TrainingRun, fitted_variation
from lengthwise.bounds.tokens.formulas import token_bound_bits
from lengthwise.errors import UsageError

PUBLISHED = FreedmanMethod(published=True)


def gap(params: float, tokens: float, bits: float = 3.0, method=PUBLISHED) -> float:
    return method.gap(TrainingRun(params, tokens, bits))


@pytest.mark.parametrize(
    ("params", "tokens", "bits", "expected"),
    [
        (7e7, 1.4e9, 3, 1.82),
        (1e9, 2e10, 3, 1.71),
        (1.2e10, 2.4e11, 3, 1.68),
        (7e10, 2e12, 2, 0.90),
        (1.7e12, 1e12, 3, 41.4),
        (1.7e12, 1.3e13, 4, 4.94),
    ],
)
def test_the_table_of_the_published_formula(params, tokens, bits, expected):
    digits = 1 if expected > 10 else 2
    assert round(gap(params, tokens, bits), digits) == pytest.approx(expected, abs=1.01 * 10**-digits / 2 + 1e-9)


def test_nats_of_description_a_token_on_the_compute_optimal_line():
    assert [round(FreedmanMethod().complexity(TrainingRun(n, 20 * n)), 4) for n in (7e7, 1e9, 1.2e10)] == [0.1040] * 3


def test_the_exact_smoothing_is_what_it_costs_at_the_best_weight_and_below_the_published_one():
    run = TrainingRun(9e8, 9e9, 1 / math.log(2), 50_000)  # C is about 1/10
    c = FreedmanMethod().complexity(run)
    exact, loose = (method.terms(run)[2].value for method in (FreedmanMethod(), PUBLISHED))
    tried = min(-math.log1p(-a) + c * math.log(1 / a) for a in (n / 10_000 for n in range(1, 10_000)))
    assert exact <= tried <= exact + 1e-6 and exact < loose == math.sqrt(2 * c)


def test_the_published_seven_billion_case_by_azuma():
    run = TrainingRun(7e9, 1.2e12, 1.95e9 * 8 / 7e9, 32_000)
    plan = GuaranteePlan(run, AzumaMethod(0.1, 10_000, smoothed=True), 2.87 * math.log(2))
    assert plan.bound is not None
    assert plan.bound / math.log(2) == pytest.approx(4.31, abs=0.01)
    published = token_bound_bits(1.95e9, 1.2e12, 32_000, 2.87, alpha=0.1, sample=10_000)
    assert plan.bound / math.log(2) == pytest.approx(published, rel=1e-12)
    honest = replace(plan, method=AzumaMethod(0.1, 10_000)).bound
    assert honest == pytest.approx(plan.bound - math.log(0.9))


def test_more_tokens_a_parameter_help_and_more_compute_at_their_best_ratio_hardly_does():
    line = along_line(GuaranteePlan(TrainingRun(1e9, 1e9), FreedmanMethod()), 20)
    gaps = [row["gap"] for row in line]
    assert gaps == sorted(gaps, reverse=True) and gaps[0] - gaps[-1] < 0.2
    assert all(row["gap"] < row["published"] for row in line)
    assert along_line(GuaranteePlan(TrainingRun(1e9, 1e9), FreedmanMethod()), 200)[0]["gap"] < gaps[-1]


runs = st.builds(
    TrainingRun,
    params=st.floats(1e7, 1e13),
    tokens=st.floats(1e6, 1e15),
    bits=st.floats(0.01, 32),
    vocabulary=st.integers(2, 300_000),
    delta=st.floats(1e-9, 0.9),
)
methods = st.one_of(
    st.builds(FreedmanMethod, st.none() | st.floats(0, 10), st.integers(1, 10_000), st.booleans()),
    st.builds(AzumaMethod, st.none() | st.floats(1e-6, 0.999), st.none() | st.integers(1, 10**9)),
)
factors = st.floats(1.0001, 1e3)


@given(runs, methods, factors)
def test_the_gap_falls_with_tokens_and_rises_with_bits_and_params(run, method, factor):
    """The search for a run at which bisection would be wrong."""
    here = method.gap(run) * (1 + 1e-12)
    assert method.gap(replace(run, tokens=run.tokens * factor)) <= here
    assert method.gap(replace(run, bits=run.bits / factor)) <= here
    if run.params / factor >= method.least_params:
        assert method.gap(replace(run, params=run.params / factor)) <= here


def test_below_the_least_params_the_fitted_variation_breaks_the_order():
    """Why `least_params` is there: many tokens, few parameters, and the smaller model has the larger gap."""
    assert gap(1e3, 1e15, method=FreedmanMethod()) > gap(1e5, 1e15, method=FreedmanMethod())


@given(runs, methods, st.floats(0.01, 20))
def test_what_a_goal_takes_is_enough_and_hardly_more_than_enough(run, method, goal):
    plan = GuaranteePlan(run, method)

    def reached(**changed: float) -> bool:
        return replace(plan, run=replace(run, **changed)).gap < goal

    if (tokens := tokens_for(plan, goal)) is not None:
        assert reached(tokens=tokens)
        assert tokens < 3 or not reached(tokens=(tokens - 1) * (1 - 1e-9))
    else:
        assert not reached(tokens=1e30)
    if (params := params_for(plan, goal)) is not None:
        assert reached(params=params) and (params == MOST or not reached(params=(params + 1) * (1 + 1e-9)))
    else:
        assert not reached(params=method.least_params)
    if (bits := bits_for(plan, goal)) is not None:
        assert reached(bits=bits) and (bits == MOST or not reached(bits=bits * (1 + 1e-9)))


@given(runs, st.floats(0.001, 0.999))
def test_the_weight_of_smoothing_is_the_best_one(run, alpha):
    best = AzumaMethod().gap(run)
    assert best <= AzumaMethod(alpha).gap(run) * (1 + 1e-9)


def test_vacuous_is_called_vacuous():
    assert GuaranteePlan(TrainingRun(1.7e12, 1e12), FreedmanMethod(), 2.0).status == "vacuous"
    assert GuaranteePlan(TrainingRun(1.7e12, 1e12), FreedmanMethod()).status == "vacuous"
    assert GuaranteePlan(TrainingRun(7e9, 1.4e11), FreedmanMethod(), 2.2).status == "holds"
    assert GuaranteePlan(TrainingRun(7e9, 1.4e11), FreedmanMethod(), 10.0).status == "vacuous"


def test_a_claim_is_a_prediction_and_says_where_the_fit_ends():
    claim = GuaranteePlan(TrainingRun(7e10, 2e12, 2), FreedmanMethod(), 2.0, 0.1).claim()
    assert claim.kind == "predicted" and claim.status == "holds"
    assert claim.value == pytest.approx(2.0 + math.fsum(claim.evidence["terms"].values()))
    assert claim.evidence["terms"]["quantisation"] == 0.1 and "not on fresh documents" in claim.evidence["quantity"]
    assert [a.check for a in claim.assumptions].count("violated") == 1  # 70 billion is above the models of the fit
    inside = GuaranteePlan(TrainingRun(1e9, 2e12, 2), FreedmanMethod(0.3), 2.0).claim()
    assert not any(a.check == "violated" for a in inside.assumptions)


def test_a_plan_with_a_number_left_out_just_reaches_its_goal():
    plan = GuaranteePlan(TrainingRun(7e9, 1.0), FreedmanMethod(), 2.2)
    assert plan.break_even is not None
    found = solved(plan, "tokens", plan.break_even)
    assert found.status == "holds" and found.bound == pytest.approx(found.run.chance, rel=1e-8)
    with pytest.raises(UsageError, match="10,000,000 parameters or more"):
        solved(GuaranteePlan(TrainingRun(1.0, 1e5), FreedmanMethod()), "params", 0.01)
    with pytest.raises(UsageError, match="no number of tokens"):
        solved(GuaranteePlan(TrainingRun(1e9, 1.0), AzumaMethod(0.1, 100)), "tokens", 0.1)


def test_edges_are_where_the_levels_are_reached():
    plan = GuaranteePlan(TrainingRun(7e9, 1.4e11), FreedmanMethod())
    for row in edges(plan, [0.5, 2.0], [1e8, 1e11]):
        assert gap(row["params"], row["params"] * row["ratio"], method=FreedmanMethod()) == pytest.approx(
            row["level"], rel=1e-6
        )


def test_a_run_without_a_loss_is_not_asked_to_beat_chance():
    plan = GuaranteePlan(TrainingRun(7e9, 1.4e11), FreedmanMethod())
    assert [row["goal"] for row in needs(plan)] == ["gap of 1 nat", "gap of 0.5 nats"]
    assert needs(replace(plan, loss=2.2))[0]["gap"] == pytest.approx(math.log(50_000) - 2.2)


def test_the_fit_is_the_published_one_and_its_floor_is_not_that_of_the_example():
    assert fitted_variation(7e7) == pytest.approx(0.27 + 8337 * 7e7**-0.54)
    assert fitted_variation(1e30) == pytest.approx(0.27)
    # The example has a variation term of 1/30 at C of about 0.1, and so a Σ of about 0.1: below the floor of the fit.
    assert (1 / 30) / math.sqrt(0.104) == pytest.approx(0.1, abs=0.01)


def test_what_the_page_shows_runs_and_its_figures_are_these():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "plan.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(compile(program, "page", "exec"), names)
    assert tokens_for(names["plan"], 1.0) == pytest.approx(231e9, rel=2e-3)
    exact = [round(row["gap"], 2) for row in along_line(names["plan"], 20, (7e7, 1e9, 1.2e10))]
    assert exact == [1.71, 1.59, 1.57] and "1.71, 1.59 and 1.57" in page
    at = TrainingRun(1e9, 3e9 * math.log(2) / 0.43)
    assert "C = 0.43" in page and FreedmanMethod(0.3).gap(at) == pytest.approx(AzumaMethod().gap(at), rel=0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TrainingRun(0, 1),
        lambda: TrainingRun(1, math.inf),
        lambda: TrainingRun(1, 1, bits=-1),
        lambda: TrainingRun(1, 1, vocabulary=1),
        lambda: TrainingRun(1, 1, delta=1),
        lambda: FreedmanMethod(-1),
        lambda: FreedmanMethod(grid=0),
        lambda: AzumaMethod(1.0),
        lambda: AzumaMethod(sample=0),
        lambda: AzumaMethod(smoothed=True),
        lambda: GuaranteePlan(TrainingRun(1, 1), FreedmanMethod(), -1),
        lambda: GuaranteePlan(TrainingRun(1e9, 1e9), FreedmanMethod(), 1e308, 1e308),
        lambda: GuaranteePlan(TrainingRun(1e9, 1), FreedmanMethod(1.7e308)),
        lambda: along_line(GuaranteePlan(TrainingRun(1, 1), FreedmanMethod()), 0),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(make):
    with pytest.raises(UsageError):
        make()
