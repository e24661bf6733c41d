"""The distances of the levels of a ladder: where nothing shifts, where the shift is known, beside a plain shift."""

import json
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.seeds import Draws
from lengthwise.shift import ladder
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.ladder import measure_ladder, metrics_for
from lengthwise.shift.level_shift import LevelShift
from lengthwise.shift.samples import level_sample
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.ladder import Level, ladder_of
from lengthwise.tasks.task import Task

SUBSET_SUM = tasks.make("subset_sum")


@dataclass(frozen=True)
class Ruler(Task):
    """Echo a row of marks: `a a b` → `a a b`. Its length is all that grows, and its levels can be chosen."""

    climb: tuple[int, ...] = (5, 7, 9, 11)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("a", "b")

    def sample(self, size: int, draws: Draws) -> Samples:
        marks = draws.integers(0, 2, size)
        return Samples(marks, marks)

    def solve(self, prompt):
        return prompt

    def levels(self, train_size: int) -> tuple[Level, ...]:
        sizes = tuple(range(1, train_size + 1))
        return (Level("training", 0, self, sizes), *(Level("length", size, self, (size,)) for size in self.climb))


@pytest.fixture(scope="module")
def searched():
    return measure_ladder(SUBSET_SUM, 3, items=24, seed=1)


def test_every_level_in_every_metric_once_and_in_order(searched):
    names = [level.name for level in ladder_of(SUBSET_SUM, 3)]
    assert [(row.metric, row.name) for row in searched.levels] == [(m, n) for m in ladder.METRICS for n in names]
    assert all(row.task == "subset_sum" and row.items == 24 for row in searched.levels)
    assert all(0 <= row.low <= row.w1 <= row.high for row in searched.levels)
    for metric, draws in searched.nulls.items():
        nulls = {row.null for row in searched.levels if row.metric == metric}
        assert nulls == {float(draws.mean())} and len(set(draws)) == ladder.NULLS > 2


def test_rows_are_what_findings_read(searched):
    rows = json.loads(json.dumps(searched.plain(), allow_nan=False))
    assert set(rows[0]) == set(LevelShift.__dataclass_fields__)
    for row, level in zip(rows, searched.levels, strict=True):
        read = LevelShift.from_plain(row)
        assert (read.name, read.ratio) == (level.name, level.ratio)


def test_a_level_agrees_with_the_shift_of_the_same_samples(searched):
    levels = ladder_of(SUBSET_SUM, 3)
    first, fit = (level_sample(levels[0], 24, 1, role) for role in ("first", "fit"))
    for at, metric in ((4, "features"), (9, "contour"), (18, "edit")):
        plain = measure_shift(first, level_sample(levels[at], 24, 1, "second"), metric, fit_on=fit, resamples=20)
        (row,) = [r for r in searched.levels if (r.metric, r.name) == (metric, levels[at].name)]
        assert row.w1 == pytest.approx(plain.distance.value, rel=1e-12) and row.unit == plain.unit


def test_where_nothing_shifts_the_distance_is_one_null():
    """All levels are training: 24 ratios of one pair of samples, 40 items each, to the mean of eight pairs. A null from
    too few or too many items, or from the measured sample itself, would be off by more than the slack."""
    still = Ruler(climb=())
    ratios, held = [], 0
    for seed in range(24):
        (row,) = measure_ladder(still, 4, ["edit"], 40, seed).levels
        ratios.append(row.ratio)
        held += row.low == 0
    error = np.std(ratios, ddof=1) / np.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 3.5 * error < 0.25, (np.mean(ratios), error)
    assert held >= 20, "a difference is found where there is none: 1 in 40 is expected"


def test_the_distance_grows_along_an_axis_and_is_the_known_one():
    """Marks are written twice, so lengths are 2, 4, 6, 8 in training and twice the size at a level; beyond training
    W1 is the difference of the means, in spreads of the sample the metric was fitted on."""
    task = Ruler()
    found = measure_ladder(task, 4, ["features:use=length"], 400)
    fitted = np.array([len(t.tokens) for t in _items(level_sample(ladder_of(task, 4)[0], 400, 0, "fit"))])
    rows = found.along("features:use=length", "length")
    for row in rows:
        true = (2 * row.value - 5) / fitted.std()
        assert row.low <= true <= row.high and row.high - row.low < 0.5
        assert row.w1 == pytest.approx(true, abs=0.25)
    assert [r.w1 for r in rows] == sorted(r.w1 for r in rows)
    (reach,) = [claim for claim in found.claims() if claim.key == "shift.farthest"]
    assert reach.value == rows[-1].ratio > 4 and (reach.evidence["falls"], reach.evidence["steps"]) == (0, 3)


def test_falls_are_counted():
    (reach,) = [c for c in measure_ladder(Ruler((9, 5, 11)), 4, ["edit"], 20).claims() if c.key == "shift.farthest"]
    assert reach.evidence["falls"] == 1


def test_claims_say_their_kind(searched):
    claims = searched.claims()
    counts = Counter((claim.key, claim.kind) for claim in claims)
    levels = {("shift.level", "certified"): 57, ("shift.level_distribution", "measured"): 57}
    assert counts == {**levels, ("shift.level_null", "measured"): 3, ("shift.farthest", "measured"): 9}
    named = {(claim.key, claim.evidence.get("level"), claim.evidence.get("metric")) for claim in claims}
    assert {("shift.level", "depth 9", "edit"), ("shift.level_distribution", "depth 9", "edit")} <= named
    assert all(c.evidence["relative_gap"] <= 1e-7 for c in claims if c.kind == "certified")


def test_a_null_of_zero_is_no_unit():
    """All trajectories of one size have one length, so two samples of training are at distance 0."""
    one_size = Ruler(climb=(5,))
    object.__setattr__(
        one_size, "levels", lambda _: (Level("training", 0, one_size, (2,)), Level("x", 5, one_size, (5,)))
    )
    found = measure_ladder(one_size, 2, ["features:use=length"], 20)
    assert [row.null for row in found.levels] == [0, 0] and found.levels[1].ratio == float("inf")
    assert found.levels[0].ratio == 1
    (reach,) = [claim for claim in found.claims() if claim.key == "shift.farthest"]
    assert (reach.value, reach.status) == (None, "unknown")


def test_the_same_seed_gives_the_same_rows_and_another_other_ones():
    one, two, other = (measure_ladder(Ruler(), 4, ["edit"], 20, seed).plain() for seed in (1, 1, 2))
    assert one == two != other


def test_contours_are_left_out_where_there_is_no_search():
    assert metrics_for(SUBSET_SUM) == ("features", "contour", "edit") and metrics_for(Ruler()) == ("features", "edit")
    assert {row.metric for row in measure_ladder(Ruler(), 3, items=20).levels} == {"features", "edit"}


def test_levels_are_reported_as_they_come():
    seen: list[tuple[str, int, int]] = []
    found = measure_ladder(Ruler(), 4, ["edit"], 20, progress=lambda *heard: seen.append(heard))
    steps = len(found.levels)
    assert seen == [(level.name, step, steps) for step, level in enumerate(found.levels, 1)]


def test_a_distance_without_certificate_is_refused(monkeypatch):
    from lengthwise.transport.solving import solve

    monkeypatch.setattr(ladder, "solve", lambda problem: solve(problem, limit=0, method="dense"))
    with pytest.raises(CertificateRefused, match="not certified"):
        measure_ladder(Ruler(), 4, ["edit"], 20)


@pytest.mark.parametrize(
    "arguments, part",
    [
        ((Ruler(), 4, ["edit"], 5), "20 items or more each, not 5"),
        ((Ruler(), 0, ["edit"], 20), "training size must be 1 or more, not 0"),
        ((Ruler(), 4, [], 20), "one metric or more"),
        ((Ruler(), 4, ["edti"], 20), "did you mean 'edit'"),
        ((Ruler(), 4, ["contour"], 20), "neither brackets nor a 'depth'"),
        ((tasks.make("dyck_k"), 1, ["edit"], 20), "has no items up to size 1"),
    ],
)
def test_bad_input_is_told(arguments, part):
    with pytest.raises(UsageError, match=part):
        measure_ladder(*arguments)


def _items(sample):
    return [sample.trajectories[owner] for owner in sample.owner]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["subset_sum", "countdown", "tree_maze"])
@pytest.mark.parametrize("seed", range(3))
def test_every_axis_ends_at_four_nulls_or_more_and_climbs(task, seed):
    found = measure_ladder(tasks.make(task), 3, ["features"], seed=seed)
    for axis in ("depth", "branching", "content"):
        rows = found.along("features", axis)
        assert len(rows) == 6 and rows[-1].ratio >= 4, (axis, rows[-1].ratio)
        assert [r.w1 for r in rows] == sorted(r.w1 for r in rows)
    (still,) = found.along("features", "training")
    assert 0.5 < still.ratio < 1.6
