"""Bounds are violated no more often than they say, and a bound that is broken on purpose is caught."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.bounds.tokens import make

FOLDER = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def campaign(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("bound_coverage")
    for name in ("bound_coverage", "bound_processes", "rows"):
        sys.modules.pop(name, None)


def test_no_bound_is_violated_too_often(campaign):
    draws = 4  # of each of some seventy cases: the count of all is judged
    cases = list(campaign.cases())
    assert len(cases) >= 70
    assert sum(case.violations(draws) for case in cases) <= campaign.most(draws * len(cases))


@pytest.mark.parametrize("place", range(3))
def test_a_choice_that_is_not_paid_for_is_caught(campaign, place):
    case = [case for case in campaign.cases(broken=True) if case.target == "top1"][place]
    assert case.violations(30) > campaign.most(30)
    assert replace(case, bits=campaign.PREDICTOR_BITS).violations(30) <= campaign.most(30)


@pytest.mark.parametrize("inequality, divisor", [("hoeffding", 2), ("product", 3), ("freedman", 3)])
def test_too_small_a_complexity_is_caught(campaign, monkeypatch, inequality, divisor):
    honest = make.make_problem
    monkeypatch.setattr(
        make, "make_problem", lambda *a, **k: replace(p := honest(*a, **k), complexity=p.complexity / divisor)
    )
    case = campaign.Case(f"tokens, {inequality}", campaign.selection, "top1", bits=campaign.PREDICTOR_BITS)
    assert case.violations(30) > campaign.most(30)


def test_freedman_is_twice_as_tight_as_azuma(campaign):
    azuma, freedman = campaign.gaps(3)
    assert azuma == pytest.approx(0.2737, abs=1e-3)  # 10 √(ln 20 / 4000)
    assert freedman < 0.108 and azuma > 2 * freedman


@pytest.mark.slow
def test_the_whole_campaign(campaign):
    judged = campaign.rows()
    assert len(judged) > 70 and all(row.met for row in judged), [row for row in judged if not row.met]
