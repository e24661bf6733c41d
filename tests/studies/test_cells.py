"""Cells: runs that differ in their seed alone, which of them are kept, and what they say together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lengthwise.probes.curve.spread import Keep
from lengthwise.studies.cells import MEASURES, Cell, cells, named_sizes
from lengthwise.studies.record import RunRecord, Summary


def run(seed: int, in_range: float | None = 1.0, reach: int = 30, **changes: object) -> RunRecord:
    """A run of one cell; without a share in range it is not done."""
    given = {"task": "sort", "position": "none", "variant": "", "train_size": 20, "test_size": 60, "items": 200}
    made = RunRecord(key=f"{seed}-{changes}", seed=seed, **{**given, **changes})
    if in_range is None:
        return made
    learned = in_range >= 0.9
    holds = reach >= 60 if learned else None
    return replace(made, state="done", summary=Summary(reach, reach == 60, in_range, 0.5, None, 0.1, learned, holds))


def cell(*runs: RunRecord, keep: float = 0.9) -> Cell:
    (only,) = cells(runs, Keep(keep))
    return only


def test_runs_are_together_that_differ_in_their_seed_alone():
    runs = [
        run(1),
        run(0),
        run(0, task="parity"),
        run(0, position="rope"),
        run(0, variant="depth 2"),
        run(0, train_size=10),
        run(2),
    ]
    found = cells(runs, Keep())
    assert [len(one.runs) for one in found] == [3, 1, 1, 1, 1]
    assert [one.seed for one in found[0].runs] == [0, 1, 2]
    assert [one.row for one in found] == ["sort", "parity", "sort", "sort, depth 2", "sort"]


def test_theories_speak_of_softmax_attention_and_what_is_close_to_it():
    def of(**settings: str) -> Cell:
        return cell(run(0, settings=settings))

    rules = ["softmax:temperature=2", "log_length", "ssmax", "asentmax", "path", "forgetting:start=5", "my.py::Rule"]
    assert [of(attention=rule).is_transformer for rule in rules] == [True, True, *(False,) * 5]
    assert of().is_transformer and not of(model="lstm").is_transformer and of(attention="path").attention == "path"


def test_the_kept_seeds_stand_for_the_cell_and_the_others_are_stated():
    one = cell(run(0, 1.0, 30), run(1, 0.9, 40), run(2, 0.8999, 50))
    claim = one.claim("reach")
    assert one.learned and [kept.seed for kept in one.kept] == [0, 1] and one.shown == one.kept
    assert claim.value == 35 and claim.kind == "measured" and claim.interval is not None
    assert claim.evidence["seeds"] == [0, 1] and claim.evidence["discarded"] == [2]
    assert claim.evidence["rule"] == str(Keep(0.9)) and "90%" in str(Keep(0.9)) and "95%" in str(Keep())


def test_where_no_seed_is_kept_all_are_shown_and_said_to_be():
    one = cell(run(0, 0.1, 4), run(1, 0.2, 8))
    assert one.learned is False and one.holds is None
    assert one.shown == one.done and one.values("reach") == {0: 4.0, 1: 8.0}
    assert one.claim("reach").value == 6
    assert one.claim("reach").evidence["rule"].startswith("no seed is kept")


def test_nothing_done_is_unknown():
    one = cell(run(0, None), replace(run(1, None), state="failed", reason="broke"))
    assert (
        one.learned is None and one.holds is None and one.done == () and [failed.seed for failed in one.failed] == [1]
    )
    for measure in MEASURES:
        assert one.claim(measure).status == "unknown" and one.claim(measure).value is None


def test_without_a_rule_every_seed_that_learned_is_kept():
    one = cell(run(0, 0.0, 0), run(1, 1.0, 10), run(2, 0.95, 20), keep=0.0)
    assert one.learned and [kept.seed for kept in one.kept] == [1, 2] and one.claim("reach").value == 15
    assert cell(run(0, 0.5, 0), keep=0.0).learned is False, "what was not learned is not learned without a rule either"


def test_a_stricter_rule_is_asked_in_addition():
    """0.95 at every size is learned; a rule of 0.99 over the range can still refuse it, and 0 cannot let others in."""
    assert cell(run(0, 0.95), keep=0.99).learned is False
    assert cell(run(0, 0.5), keep=0.3).learned is False


def test_a_cell_holds_when_more_than_half_of_the_seeds_that_learned_do():
    assert cell(run(0, 1.0, 60), run(1, 1.0, 60), run(2, 1.0, 20)).holds is True
    assert cell(run(0, 1.0, 60), run(1, 1.0, 20)).holds is False
    assert cell(run(0, 1.0, 60), run(1, 0.1, 0), run(2, 0.1, 0)).holds is True, "seeds that did not learn do not vote"
    unmeasured = replace(run(0), summary=replace(run(0).summary, holds=None))
    assert cell(unmeasured).learned is True and cell(unmeasured).holds is None
    assert cell(run(0, train_size=30, test_size=42)).multiple == 1.4 and cell(run(0, test_size=100)).multiple == 3


def test_where_answers_are_drawn_nothing_is_learned_or_not():
    drawn = replace(run(0), summary=replace(run(0).summary, learned=None, holds=None, certain=False))
    one = cell(drawn)
    assert (one.learned, one.holds, one.certain) == (None, None, False) and one.shown == (drawn,)


def test_a_reach_that_ends_with_the_measurement_is_a_lower_bound():
    one = cell(run(0, 1.0, 60), run(1, 1.0, 20), run(2, 0.0, 60))
    assert one.censored == 1, "a seed that is not shown is not counted"
    claim = one.claim("reach")
    assert claim.evidence["lower_bounds"] == 1
    assert any(a.key == "statistics.lower_bounds" and a.check == "caveat" for a in claim.assumptions)
    assert claim.interval is not None and claim.interval.is_open and claim.plain()["interval"]["high"] is None
    assert one.claim("twice").evidence["lower_bounds"] == 0


def test_a_measure_that_no_seed_has_is_unknown():
    claim = cell(run(0), run(1)).claim("thrice")
    assert claim.value is None and claim.status == "unknown"


@pytest.mark.parametrize("measure", MEASURES)
def test_a_claim_says_what_it_is_about(measure):
    claim = cell(run(0, variant="depth 2"), run(1, variant="depth 2")).claim(measure)
    about = {"position": "none", "train_size": 20}
    assert claim.key == f"cell.{measure}" and {name: claim.evidence[name] for name in about} == about
    assert "depth 2" in claim.evidence["row"] and claim.unit == ("size" if measure == "reach" else "share")


def test_a_training_size_is_named_where_a_task_has_several_or_another_than_most():
    one = [run(0), run(0, task="parity"), run(0, task="(aa)*", train_size=30)]
    assert named_sizes(cells(one, Keep())) == {("(aa)*", 30)}
    several = [*one, run(0, task="sort", train_size=10)]
    assert named_sizes(cells(several, Keep())) == {("(aa)*", 30), ("sort", 20), ("sort", 10)}
    assert named_sizes([]) == set()
