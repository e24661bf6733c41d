"""Bounds: the certified slope is attacked, the supposed one broken on purpose, items are those that were measured."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lengthwise.analyses.evidence import Evidence
from lengthwise.analyses.ladder.bound import DELTA, bound, edit_distances, steepest_possible, steepest_seen
from lengthwise.analyses.ladder.redraw import redraw, redrawn
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import ladder_of
from lengthwise.transport.trajectories import Trajectory
from planted_evidence import Place, planted

SEARCH = ("subset_sum", "countdown", "tree_maze")
REAL = {"tasks": ("subset_sum",), "positions": ("rope",), "depths": (1,), "widths": (16,), "metrics": ("edit",)}
REAL_LEVELS = (("training", 0), ("depth", 4), ("depth", 9), ("content", 33))


def words(longest: int, letters: str = "ab") -> list[Trajectory]:
    every = (word for n in range(1, longest + 1) for word in itertools.product(letters, repeat=n))
    return [Trajectory(word) for word in every]


class TestCertifiedSlope:
    @pytest.mark.parametrize("longest", [1, 2, 3, 4, 5])
    def test_it_is_one_over_the_smallest_distance(self, longest):
        """All words of two letters: none are nearer, and some are as near."""
        every = words(longest)
        distances = edit_distances(every, every)
        assert distances[distances > 0].min() == pytest.approx(1 / steepest_possible(longest))

    def test_no_error_breaks_kantorovich_with_it(self):
        """Two samples of words, the error that tells them apart best: 1 where the second has more."""
        rng = np.random.default_rng(0)
        most = 0.0
        for _ in range(150):
            longest = int(rng.integers(1, 7))
            pool = words(min(longest, 4), "abc")
            first, second = ([pool[i] for i in rng.integers(0, min(len(pool), 12), 15)] for _ in range(2))
            distances = edit_distances(first, second)
            w1 = distances[linear_sum_assignment(distances)].mean()
            error = {t: float(second.count(t) > first.count(t)) for t in (*first, *second)}
            gap = np.mean([error[t] for t in second]) - np.mean([error[t] for t in first])
            assert gap <= steepest_possible(longest) * w1 + 1e-9
            most = max(most, gap / (steepest_possible(longest) * w1)) if w1 else most
        assert most > 0.5  # the attack comes near

    def test_it_is_attained(self):
        first, second = [Trajectory(tuple("aaa"))], [Trajectory(tuple("aab"))]
        assert steepest_possible(3) * edit_distances(first, second)[0, 0] == pytest.approx(1)

    def test_seen_slopes_never_exceed_it(self):
        rng = np.random.default_rng(1)
        every = words(4)
        distances = edit_distances(every, every)
        for _ in range(50):
            errors = rng.integers(0, 2, len(every)).astype(float)
            assert steepest_seen(distances, errors, errors) <= steepest_possible(4) + 1e-9

    def test_seen_slope_by_hand(self):
        first = [Trajectory(tuple("ab")), Trajectory(tuple("ba"))]
        distances = edit_distances(first, first)
        assert steepest_seen(distances, (0.25, 0.75), (0.25, 0.75)) == pytest.approx(0.5 / (4 / 6))
        assert steepest_seen(distances[:1, :1], (0.2,), (0.9,)) == 0


class TestItems:
    @pytest.mark.parametrize("name", [*SEARCH, "sort"])
    def test_they_are_those_that_were_measured(self, name):
        from lengthwise.probes.ladder.level_items import draw_items

        for level in ladder_of(tasks.make(name), 3)[::6]:
            for count in (1, 2, 9):
                theirs = draw_items(level, count, 0)
                ours = redraw(level, count).items
                pairs = zip(theirs.prompts, theirs.answers, strict=True)
                assert [item.tokens for item in ours] == [(*prompt, *answer) for prompt, answer in pairs]

    @pytest.mark.parametrize("name", SEARCH)
    def test_none_is_longer_than_said(self, name):
        for level in ladder_of(tasks.make(name), 3)[::6]:
            drawn = redraw(level, 120)
            assert max(len(item.tokens) for item in drawn.items) <= drawn.longest
            assert redraw(level, 1).longest == drawn.longest

    def test_an_unknown_task_has_none(self):
        assert redrawn("no such task", 3, 4) == {}


class TestBound:
    def evidence(self, errors) -> Evidence:
        return planted(lambda p: 0.0, errors=errors, items=48, levels=REAL_LEVELS, **REAL)

    def test_a_jump_breaks_what_training_promised(self):
        """No two items of training differ, so the slope supposed is 0; far away everything is wrong."""
        found = bound(self.evidence(lambda p: ((0.0,) if p.axis == "training" else (0.9,)) * 48))
        assert len(found.points) == 3
        for point in found.points:
            assert point.slope == 0 < point.steepest
            assert point.broken and point.broken_beyond_chance
            assert point.looseness < 0
        certified, kept, steeper, _ = found.claims()
        assert (certified.value, certified.status) == (0, "vacuous")
        assert (kept.value, kept.status) == (3, "refuted")
        assert kept.evidence["configurations"] == 1
        assert kept.evidence["by_axis"] == {"depth": 2, "content": 1}
        assert steeper.value == 3

    def test_the_same_error_everywhere_breaks_nothing(self):
        found = bound(self.evidence(lambda p: (0.2,) * 48))
        assert not any(point.broken for point in found.points)
        assert found.claims()[1].status == "holds"
        assert found.claims()[2].value == 0

    def test_within_chance_is_not_beyond_it(self):
        far = 0.25 + math.sqrt(math.log(2 / DELTA) / 96)
        point = bound(self.evidence(lambda p: ((0.2,) if p.axis == "training" else (far,)) * 48)).points[0]
        assert point.broken and not point.broken_beyond_chance

    def test_every_term(self):
        def errors(place: Place) -> tuple[float, ...]:
            return tuple(0.01 * (i % 3) for i in range(48)) if place.axis == "training" else (0.3,) * 48

        evidence = self.evidence(errors)
        point = bound(evidence).points[0]
        drawn = redrawn("subset_sum", 3, 48)["training"]
        own = errors(Place("", "", 1, 1, 0, "training", 0))
        slope = max(
            abs(own[i] - own[j]) / d
            for i, row in enumerate(edit_distances(drawn.items, drawn.items))
            for j, d in enumerate(row)
            if d > 0
        )
        shift = evidence.shift_of("subset_sum", "edit")[point.level]
        terms = {term.key: term.value for term in point.supposed.terms}
        assert point.slope == pytest.approx(slope)
        assert terms["source_risk"] == pytest.approx(0.01)
        assert terms["sampling_risk"] == pytest.approx(math.sqrt(math.log(40) / 96))
        assert terms["shift"] == pytest.approx(slope * shift.w1)
        assert terms["sampling_distance"] == pytest.approx(slope * math.sqrt(math.log(40) / 200))
        assert point.supposed.total == pytest.approx(sum(terms.values()))
        assert point.without_sampling == pytest.approx(0.01 + slope * shift.w1)
        assert point.supposed.kind == "heuristic"
        assert point.certified.kind == "certified"

    def test_a_distance_of_nothing_is_certified_to_something(self):
        """The certificate is not vacuous by construction: where nothing has shifted it is the risk of training."""
        evidence = self.evidence(lambda p: (0.2,) * 48)
        near = tuple(dataclasses.replace(s, w1=0.0, items=10**9) for s in evidence.shifts)
        claim = bound(Evidence(evidence.climbs, near)).claims()[0]
        assert (claim.value, claim.status) == (3, "holds")


class TestLittle:
    def test_no_edit_distance(self):
        found = bound(planted(lambda p: 0.1, **{**REAL, "metrics": ("features",)}))
        assert found.points == ()
        assert [claim.status for claim in found.claims()] == ["unknown"]

    def test_a_task_of_another_machine(self):
        found = bound(planted(lambda p: 0.1, metrics=("edit",)))
        assert found.points == ()
        assert len(found.missing) == 3
        assert found.claims()[0].status == "unknown"

    def test_no_training_level(self):
        found = bound(planted(lambda p: 0.1, levels=REAL_LEVELS[1:], **REAL))
        assert found.points == ()
        assert found.missing
