"""Risk against W1: what rises is found, what does not is not, and shared noise does not fool the control."""

import dataclasses
import itertools

import numpy as np
import pytest

from lengthwise.analyses.evidence import Configuration, Evidence
from lengthwise.analyses.ladder import monotone as monotone_module
from lengthwise.analyses.ladder.monotone import ALL_AXES, RiskTrend, monotone, shuffled
from lengthwise.statistics import spearman_trend
from planted_evidence import AXES, LEVELS, Place, distance, planted

ONE = Configuration("t", "p", 1, 1)
ONE_AXIS = [level for level in LEVELS if level[0] in ("training", "depth")]


def rising(place: Place) -> float:
    return 0.1 + 0.2 * distance(place.task, place.axis, place.value)


def sinking(place: Place) -> float:
    """From a training range that was learned to less risk still."""
    return 0.1 - 0.04 * rising(place)


def noise(seed: int, shared: bool = False):
    """Risks that have nothing to do with distance: for each configuration its own, or one for all of a task. They are
    so small that every training range was learned."""

    def risk(place: Place) -> float:
        key = (0, 0, 0) if shared else (place.depth, place.width, len(place.position))
        where = (len(place.task), AXES.index(place.axis) if place.axis in AXES else 9, place.value)
        return 0.15 * float(np.random.default_rng([seed, *key, *where]).random())

    return risk


@pytest.fixture
def few_shuffles(monkeypatch):
    monkeypatch.setattr(monotone_module, "SHUFFLES", 999)


def found(evidence: Evidence, metric: str = "features", axis: str = ALL_AXES):
    return next(one for one in monotone(evidence) if (one.metric, one.axis) == (metric, axis))


class TestWhatRises:
    def test_all_configurations_in_every_metric_and_order(self, few_shuffles):
        results = monotone(planted(rising))
        assert [(one.metric, one.axis) for one in results] == [("features", a) for a in (ALL_AXES, *AXES)]
        for one in results:
            assert (one.count, one.judged, one.rising) == (54, 54, 54)
            assert one.verdict().status == "holds"
            assert one.control is not None
            assert one.control.quantile < 27
            assert one.page is not None
            assert one.page.status == "holds"
            assert one.page.value == pytest.approx(1)
            for trend in one.trends:
                assert trend.rho == pytest.approx(1)
                assert trend.residual == pytest.approx(0, abs=1e-12)
                assert list(trend.w1) == sorted(trend.w1)
                assert trend.monotone

    def test_a_metric_whose_distances_are_in_another_order_is_told_apart(self, few_shuffles):
        evidence = planted(rising, tasks=("one",))
        turned = tuple(dataclasses.replace(s, metric="edit", w1=10 - s.w1) for s in evidence.shifts)
        results = monotone(Evidence(evidence.climbs, (*evidence.shifts, *turned)))
        verdicts = {one.metric: one.verdict() for one in results if one.axis == ALL_AXES}
        assert verdicts["features"].status == "holds"
        assert (verdicts["edit"].status, verdicts["edit"].value) == ("refuted", 0)

    def test_one_axis_against_the_trend(self, few_shuffles):
        evidence = planted(lambda p: sinking(p) if p.axis == "content" else rising(p), tasks=("one",))
        verdicts = {one.axis: one.verdict() for one in monotone(evidence)}
        assert (verdicts["content"].value, verdicts["content"].status) == (0, "refuted")
        assert verdicts["depth"].status == "holds"
        assert verdicts[ALL_AXES].status == "refuted"

    def test_less_than_half_is_refuted_even_far_above_the_control(self, few_shuffles):
        evidence = planted(lambda p: rising(p) if p.depth == 1 else noise(3)(p))
        one = found(evidence)
        assert one.control is not None
        assert one.count >= 18 > one.control.quantile
        assert one.verdict().status == "refuted"

    def test_half_is_refuted_where_chance_gives_as_many(self, few_shuffles):
        """Two tasks of four levels, one configuration each: one of the two is monotone in 8 % of shuffles."""
        one_each = {"positions": ("rope",), "depths": (1,), "widths": (16,), "levels": ONE_AXIS[:4]}
        evidence = planted(lambda p: rising(p) if p.task == "one" else sinking(p), tasks=("one", "two"), **one_each)
        one = found(evidence)
        assert (one.count, one.judged) == (1, 2)
        assert one.control is not None
        assert one.control.quantile == 1
        assert one.verdict().status == "refuted"

    def test_seeds_are_averaged_and_shown(self, few_shuffles):
        evidence = planted(lambda p: rising(p) if p.seed else 0.1, seeds=(0, 1), tasks=("one",))
        trend = found(evidence).trends[0]
        assert trend.seeds == (0, 1)
        assert trend.rho_by_seed == (None, pytest.approx(1))
        assert trend.rho == pytest.approx(1)


class TestWhatDoesNotRise:
    def test_noise_is_seldom_called_monotone(self, few_shuffles):
        calls, judged = 0, 0
        for seed in range(2):
            for one in monotone(planted(noise(seed))):
                calls += one.count
                judged += one.judged
                assert one.verdict().status == "refuted"
        assert judged == 2 * 4 * 54
        assert calls <= 0.05 * judged

    def test_noise_that_all_configurations_share(self, few_shuffles):
        """Page's test takes configurations for independent and errs often; the shared shuffles keep their level."""
        draws, holds, page, shared = 100, 0, 0, 0
        for seed in range(draws):
            evidence = planted(noise(seed, True), tasks=("one",), levels=ONE_AXIS, depths=(1,))
            one = monotone(evidence)[0]
            assert one.page is not None
            holds += one.verdict().status == "holds"
            page += one.page.evidence["p_value"] < 0.05
            shared += one.page.evidence["p_shared"] < 0.05
        assert holds <= 0.11 * draws
        assert shared <= 0.11 * draws  # three standard errors above 5 %
        assert page >= 0.2 * draws

    def test_a_constant_risk_does_not_rise(self, few_shuffles):
        one = found(planted(lambda p: 0.1, tasks=("one",)))
        assert (one.count, one.judged) == (0, 18)
        assert one.verdict().status == "refuted"
        assert one.page is not None
        assert one.page.status == "unknown"

    def test_falling_risk(self, few_shuffles):
        one = found(planted(sinking, tasks=("one",)))
        assert (one.count, one.rising) == (0, 0)
        assert one.sign_p == 1
        assert one.verdict().status == "refuted"
        assert one.page is not None
        assert one.page.status == "refuted"


class TestWhatWasNotLearned:
    def test_it_is_shown_and_not_judged(self, few_shuffles):
        """Width 16 has a risk of 0.5 in range; beyond, all rise."""
        one = found(planted(lambda p: rising(p) + (0.4 if p.width == 16 else 0.0), tasks=("one",)))
        assert (one.count, one.judged, len(one.trends)) == (12, 12, 18)
        assert one.verdict().evidence["learned"] == 12
        apart = [trend for trend in one.trends if trend.configuration[3] == 16]
        assert all((trend.monotone, trend.learned) == (None, False) for trend in apart)
        assert all(trend.rho == pytest.approx(1) for trend in apart)

    def test_it_does_not_decide(self, few_shuffles):
        """Two thirds rise, all of which never learned; those that learned do not rise."""
        one = found(planted(lambda p: sinking(p) if p.width == 16 else 0.5 + 0.2 * rising(p), tasks=("one",)))
        assert (one.count, one.judged) == (0, 6)
        assert one.verdict().status == "refuted"

    def test_nothing_learned_is_unknown(self):
        one = found(planted(lambda p: 0.5 + 0.2 * rising(p), tasks=("one",)))
        assert one.judged == 0
        assert [claim.status for claim in one.claims()] == ["unknown"]


class TestControl:
    def test_p_is_that_of_spearman(self):
        rng = np.random.default_rng(0)
        for _ in range(5):
            w1, risk = np.sort(rng.random(12)), rng.random(12) + np.linspace(0, 0.6, 12)
            course = RiskTrend(ONE, (0,), tuple("abcdefghijkl"), w1, risk[None, :], True)
            claim = spearman_trend("s", w1.tolist(), risk.tolist())
            (p_value,) = shuffled([course]).p_values
            assert p_value is not None
            one_sided = claim.evidence["p_value"] / 2
            one_sided = one_sided if claim.value > 0 else 1 - one_sided  # pyright: ignore
            assert p_value == pytest.approx(one_sided, abs=0.015)

    def test_count_is_that_of_all_orders(self):
        """Two configurations of one task with five levels, all 120 orders counted by hand."""
        w1 = np.arange(5.0)
        risks = [np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 3, 5, 4])]
        every = [Configuration("t", "p", 1, width) for width in range(2)]
        courses = [
            RiskTrend(one, (0,), tuple("abcde"), w1, r[None, :], True) for one, r in zip(every, risks, strict=True)
        ]
        null = shuffled(courses)
        orders = np.array(list(itertools.permutations(range(5))))
        rhos = np.array([[np.corrcoef(w1[o], r.argsort().argsort())[0, 1] for r in risks] for o in orders])
        p = np.array([[np.mean(rhos[:, i] >= rho - 1e-9) for i, rho in enumerate(row)] for row in rhos])
        counts = ((rhos >= 0.8 - 1e-9) & (p < 0.05)).sum(axis=1)
        for count in (1, 2):
            assert np.mean(null.monotone >= count) == pytest.approx(np.mean(counts >= count), abs=0.015)

    def test_a_tie_of_all_is_left_out(self):
        flat = RiskTrend(ONE, (0,), tuple("abcd"), np.arange(4.0), np.ones((1, 4)), True)
        assert shuffled([flat]).p_values == (None,)


class TestLittle:
    def test_three_levels_are_too_few(self):
        for one in monotone(planted(rising, levels=LEVELS[:3])):
            assert one.judged == 0
            assert one.verdict().status == "unknown"
            assert one.page is None
            assert len(one.claims()) >= 1

    def test_four_levels_can_be_monotone(self):
        evidence = planted(rising, levels=LEVELS[:4], tasks=("one",))
        one = found(evidence)
        assert one.count == one.judged == 18

    def test_missing_levels_of_some_models(self, few_shuffles):
        evidence = planted(rising, tasks=("one",))
        first, *rest = evidence.climbs
        cut = dataclasses.replace(first, ladder=dataclasses.replace(first.ladder, points=first.ladder.points[:6]))
        one = found(Evidence((cut, *rest), evidence.shifts))
        assert one.judged == 18
        assert len(one.trends[0].names) == 6
        assert one.page is not None
        assert one.page.evidence["left_out"] == 1

    def test_no_distance_and_no_model(self):
        evidence = planted(rising, tasks=("one",))
        assert monotone(Evidence(evidence.climbs, ())) == ()
        assert monotone(Evidence((), evidence.shifts)) == ()

    def test_one_configuration_alone(self):
        evidence = planted(rising, tasks=("one",), positions=("rope",), depths=(2,), widths=(32,))
        one = found(evidence)
        assert (one.count, one.judged) == (1, 1)
        assert one.verdict().status == "holds"
