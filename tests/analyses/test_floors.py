"""Floors: planted ones are found again, and fall with depth where they were planted to."""

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from lengthwise.analyses.evidence import FARTHEST, IN_RANGE
from lengthwise.analyses.ladder.floor_fit import EXPONENTS, fit_floor, fit_lines, floor_interval, powers
from lengthwise.analyses.ladder.floor_profile import profile_floor
from lengthwise.analyses.ladder.floors import PLACES, floors
from planted_evidence import Place, planted

WIDTHS = (16, 32, 64)


def falling(place: Place) -> float:
    """A floor that halves with every layer beyond training, and none within."""
    floor = 0.0 if place.axis == "training" else 0.6 / place.depth
    return floor + 0.5 * place.width**-0.5 + 0.001 * len(place.task)


def unlearned_if_shallow(place: Place) -> float:
    """Beyond training all depths have the same risk, what the shallow one has it had in range."""
    if place.axis != "training":
        return 0.7 - 0.05 * (place.depth == 3)
    return 0.6 if place.depth == 1 else 0.1


class TestFit:
    def test_agreement_with_scipy(self):
        rng = np.random.default_rng(0)
        for _ in range(60):
            row, exponent = rng.random(3) * rng.random(), EXPONENTS[rng.integers(7)]
            x = powers(WIDTHS, exponent)
            floor, scale, squares = (values[0] for values in fit_lines(x, row[None, :]))
            theirs = lsq_linear(np.column_stack([np.ones(3), x]), row, ([0, 0], [1, np.inf]), tol=1e-12)
            assert squares == pytest.approx(2 * theirs.cost, abs=1e-8)
            assert (floor, scale) == pytest.approx(theirs.x, abs=1e-3)

    @pytest.mark.parametrize("exponent", EXPONENTS)
    def test_a_planted_floor(self, exponent):
        fit = fit_floor(WIDTHS, [0.13 + 0.9 * width**-exponent for width in WIDTHS])
        assert fit.floor == pytest.approx(0.13)
        assert fit.exponent == exponent
        assert fit.scale == pytest.approx(0.9)
        assert fit.low <= 0.13 <= fit.high
        assert fit.residual == pytest.approx(0, abs=1e-9)

    def test_risk_that_grows_with_width_is_its_own_floor(self):
        fit = fit_floor(WIDTHS, [0.1, 0.2, 0.3])
        assert (fit.floor, fit.scale) == pytest.approx((0.2, 0.0))
        assert fit.residual > 0.05

    def test_the_interval_holds_the_floor(self):
        """Three seeds and normal noise: 75 % at best for one exponent (see statistics.bootstrap), more with all."""
        rng = np.random.default_rng(1)
        truth = 0.2 + 0.5 * powers(WIDTHS, 0.5)
        held = sum(
            0.2 in interval
            for _ in range(100)
            if (interval := floor_interval(WIDTHS, truth + rng.normal(0, 0.02, (3, 3)))) is not None
        )
        assert held >= 75

    def test_one_seed_has_none(self):
        assert floor_interval(WIDTHS, np.array([[0.3, 0.2, 0.1]])) is None


class TestFloors:
    def test_planted_floors_that_fall(self):
        found = floors(planted(falling, seeds=(0, 1)))
        assert len(found.floors) == 3 * 18
        for floor in found.at(FARTHEST):
            assert floor.floor == pytest.approx(0.6 / floor.depth + 0.001 * len(floor.task), abs=1e-6)
            assert floor.fit.risk_at(16) == pytest.approx(floor.risks[0], abs=1e-6)
        assert found.verdict(FARTHEST).status == "holds"
        difference = found.difference[FARTHEST]
        assert difference.value == pytest.approx(0.4, abs=1e-6)
        assert found.page[FARTHEST].value == pytest.approx(1)

    @pytest.mark.parametrize(
        ("by_depth", "tasks", "status"),
        [
            ({1: 0.1, 2: 0.2, 3: 0.3}, ("one", "two", "three"), "refuted"),
            ({1: 0.1, 2: 0.2, 3: 0.3}, ("one",), "unknown"),  # two blocks are too few to refute anything
            ({1: 0.2, 2: 0.3, 3: 0.1}, ("one",), "unknown"),
        ],
    )
    def test_floors_that_do_not_fall(self, by_depth, tasks, status):
        """They rise, with six blocks and with two; or the order of two of three depths is turned."""

        def risk(place: Place) -> float:
            return by_depth[place.depth] + 0.8 * place.width**-0.5

        verdict = floors(planted(risk, tasks=tasks)).verdict(IN_RANGE)
        assert verdict.status == status
        assert verdict.value is (False if status == "refuted" else None)

    def test_what_was_not_learned_in_range_is_not_judged_beyond(self):
        found = floors(planted(unlearned_if_shallow, seeds=(0, 1)))
        verdict = found.verdict(FARTHEST)
        assert (verdict.status, verdict.evidence["blocks"], verdict.evidence["blocks_measured"]) == ("unknown", [], 6)
        assert {floor.depth for floor in found.at(FARTHEST) if floor.learned} == {2, 3}
        assert found.verdict(IN_RANGE).evidence["blocks_measured"] == len(found.verdict(IN_RANGE).evidence["blocks"])

    def test_noise_does_not_fall(self):
        rng = np.random.default_rng(2)
        calls = [floors(planted(lambda p: float(rng.random()), levels=(("training", 0),))) for _ in range(40)]
        assert sum(one.verdict(IN_RANGE).status == "holds" for one in calls) <= 6  # 5 % of 40 is 2

    def test_one_seed_is_unknown_but_shown(self):
        found = floors(planted(falling, tasks=("one",)))
        claim = found.floors[0].claim()
        assert claim.status == "unknown"
        assert claim.value is not None
        assert "floors.one_seed" in [a.key for a in claim.assumptions]

    def test_two_widths_determine_nothing(self):
        found = floors(planted(falling, widths=(16, 32), seeds=(0, 1)))
        assert all(floor.floor is None for floor in found.floors)
        assert all(found.verdict(place).status == "unknown" for place in PLACES)
        assert {claim.status for claim in found.claims()} == {"unknown"}

    def test_one_depth_cannot_fall(self):
        found = floors(planted(falling, depths=(2,), seeds=(0, 1)))
        assert found.verdict(FARTHEST).status == "unknown"
        assert found.floors[0].claim().status == "holds"

    def test_levels_that_were_not_measured(self):
        found = floors(planted(falling, levels=(("training", 0),)))
        assert [floor.floor for floor in found.at(FARTHEST)] == [None] * 18
        assert found.verdict(FARTHEST).status == "unknown"


SIX = (16, 24, 32, 48, 64, 96)


def noisy_risks(rng: np.random.Generator, floor: float, scale: float, exponent: float, seeds: int = 5) -> np.ndarray:
    """Risks [seeds, widths] around floor + scale width^-exponent."""
    return np.clip(floor + scale * powers(SIX, exponent) + rng.normal(0, 0.02, (seeds, len(SIX))), 0, 1)


class TestProfile:
    def test_a_planted_floor_without_noise(self):
        truth = 0.2 + 6 * powers(SIX, 1.0)
        fit, interval = profile_floor(SIX, np.array([truth, truth]))
        assert fit.floor == pytest.approx(0.2, abs=0.01)
        assert fit.exponent == pytest.approx(1.0, rel=0.05)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((0.2, 0.2), abs=0.01)  # as fine as the grid is

    def test_the_best_is_no_worse_than_scipys(self):
        rng = np.random.default_rng(4)
        for _ in range(20):
            risks = noisy_risks(rng, rng.uniform(0, 0.3), rng.uniform(1, 6), rng.uniform(0.4, 1.5))
            mean = risks.mean(axis=0)
            fit, _ = profile_floor(SIX, risks)
            theirs = least_squares(
                lambda v, mean=mean: v[0] + v[1] * powers(SIX, v[2]) - mean,
                (0.1, 2, 1),
                bounds=([0, 0, 0.1], [1, 90, 3]),
            )
            assert fit.residual**2 * len(SIX) <= 2 * theirs.cost + 2e-5

    @pytest.mark.parametrize(
        ("floor", "scale", "exponent", "least"),
        [(0.2, 30, 1.5, 0.95), (0.3, 8, 1.2, 0.8)],  # the share of draws in which the floor is found
    )
    def test_a_floor_is_found_and_covered(self, floor, scale, exponent, least):
        rng = np.random.default_rng(5)
        draws = [profile_floor(SIX, noisy_risks(rng, floor, scale, exponent))[1] for _ in range(100)]
        assert sum(floor in one for one in draws if one) >= 88  # 95 expected
        assert sum(one.low > 0 for one in draws if one) >= 100 * least

    @pytest.mark.parametrize(("scale", "exponent"), [(2, 0.5), (4, 1.0), (1, 0.25)])
    def test_none_is_found_where_there_is_none(self, scale, exponent):
        rng = np.random.default_rng(6)
        draws = [profile_floor(SIX, noisy_risks(rng, 0.0, scale, exponent))[1] for _ in range(100)]
        assert sum(one.low > 0 for one in draws if one) <= 12  # 5 expected

    def test_one_seed_has_no_interval(self):
        assert profile_floor(SIX, np.array([[0.5, 0.4, 0.35, 0.3, 0.28, 0.27]]))[1] is None

    def test_six_widths_use_it(self):
        rng = np.random.default_rng(7)

        def risk(place: Place) -> float:
            floor = 0.0 if place.axis == "training" else 0.4 / place.depth
            return min(1.0, max(0.0, floor + 20 * place.width**-1.5 + float(rng.normal(0, 0.01))))

        found = floors(planted(risk, tasks=("one",), widths=SIX, seeds=(0, 1, 2)))
        assert all(one.free for one in found.floors)
        held = [0.4 / one.depth in one.interval for one in found.at(FARTHEST) if one.interval]
        assert len(held) == 6 and sum(held) >= 4
        assert all(one.found for one in found.at(FARTHEST))
        assert sum(bool(one.found) for one in found.at(IN_RANGE)) <= 2
        claim = found.at(FARTHEST)[0].claim()
        assert "floors.free_shape" in [a.key for a in claim.assumptions]
        least = found.at(FARTHEST)[0].barron
        points = zip(SIX, found.at(FARTHEST)[0].risks, strict=True)
        assert least is not None and all(least / width >= risk - 1e-12 for width, risk in points)

    def test_each_task_and_encoding_alone(self):
        """The floor of one layer is 0.3 above that of three with rope, and the same with the other encoding."""
        rng = np.random.default_rng(8)

        def risk(place: Place) -> float:
            floor = 0.4 - 0.15 * (place.depth - 1) * (place.position == "rope")
            return min(1.0, max(0.0, floor + 20 * place.width**-1.5 + float(rng.normal(0, 0.01))))

        found = floors(planted(risk, tasks=("one",), widths=SIX, seeds=(0, 1, 2), levels=(("training", 0),)))
        steps = {claim.evidence["position"]: claim for claim in found.steps}
        assert steps["rope"].value == pytest.approx(0.3, abs=0.05)
        assert steps["rope"].interval is not None and 0.3 in steps["rope"].interval
        assert steps["rope"].evidence["decided"] and not steps["learned+offset"].evidence["decided"]
        assert all(step in found.claims() for step in found.steps)
