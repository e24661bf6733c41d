"""Prediction beside measurement: what is counted, what is left out, and what happens to tasks that are gone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.analyses.agreement.predictions import _changed, predict
from lengthwise.analyses.reach.answer import answer
from lengthwise.oracle.check import Card
from lengthwise.probes.curve.standard import wilson
from lengthwise.studies.cells import cells
from lengthwise.studies.record import packed

TABLE = {
    ("sort", "none"): [60, 60],
    ("sort", "rope"): [20, 20],
    ("parity", "none"): [60, 60],
    ("parity", "rope"): [20, 20],
    ("majority", "none"): [60, 20],
    ("majority", "rope"): [20, 60],
    ("copy_repeat", "none"): [0, 0],
    ("copy_repeat", "rope"): [None],
}
TOLD = {
    ("sort", "none"): "can hold",
    ("sort", "rope"): "can hold",
    ("parity", "none"): "cannot hold",
    ("parity", "rope"): "cannot hold",
    ("copy_repeat", "none"): "cannot hold",
    ("copy_repeat", "rope"): "cannot hold",
}


@pytest.fixture
def foretold(content_of, told):
    return predict(content_of(TABLE, unlearned=[("copy_repeat", "none")]), told(TOLD))


def test_every_cell_has_its_verdict_outcome_and_score(foretold):
    found = [(row.label, row.cell.position, row.verdict.outlook, row.outcome, row.score) for row in foretold.rows]
    assert found == [
        ("sort", "none", "can hold", "held", "attained"),
        ("sort", "rope", "can hold", "not_held", "not_attained"),
        ("parity", "none", "cannot hold", "held", "contradiction"),
        ("parity", "rope", "cannot hold", "not_held", "as_predicted"),
        ("majority", "none", "unknown", "not_held", None),
        ("majority", "rope", "unknown", "not_held", None),
        ("copy_repeat", "none", "cannot hold", "not_learned", None),
        ("copy_repeat", "rope", "cannot hold", "not_measured", None),
    ]
    assert foretold.counts == {
        "can hold": {"held": 1, "not_held": 1, "not_learned": 0, "not_measured": 0},
        "cannot hold": {"held": 1, "not_held": 1, "not_learned": 1, "not_measured": 1},
        "unknown": {"held": 0, "not_held": 2, "not_learned": 0, "not_measured": 0},
    }


def test_the_oracle_is_scored_on_what_cannot_hold_and_training_on_what_can(foretold):
    accuracy, attained, coverage = foretold.claims()
    assert accuracy.value == 0.5 and accuracy.interval == wilson(1, 2) and accuracy.kind == "measured"
    assert accuracy.evidence["contradictions"] == ["parity with `none`"] and accuracy.evidence["n"] == 2
    assert attained.value == 0.5 and attained.evidence["others"] == ["sort with `rope`"]
    assert coverage.value == pytest.approx(4 / 6) and coverage.evidence["cells"] == 8
    assert {a.key: a.check for a in accuracy.assumptions}["agreement.independent"] == "violated"


def test_that_training_did_not_get_there_contradicts_nothing(content_of, told):
    """Six cells that can hold and did not: the oracle is not blamed, and nothing is a contradiction."""
    table = {(task, position): [20] for task in ("sort", "parity", "majority") for position in ("none", "rope")}
    found = predict(content_of(table), told(dict.fromkeys(table, "can hold")))
    assert found.contradictions == [] and found.accuracy().status == "unknown"
    assert found.attained().value == 0 and len(found.not_reached) == 6


@pytest.mark.wording
def test_a_contradiction_comes_first_and_says_where_it_was_measured(foretold):
    assert foretold.headline[0].startswith("Contradiction: 1 of 2") and "sizes measured" in foretold.headline[0]
    (row,) = foretold.contradictions
    assert row.where == "parity with `none`" and "2 of 2 seeds" in row.sentence and row.verdict.why in row.sentence
    quiet = [row for row in foretold.rows if row.label != "parity"]
    assert "ontradiction" not in " ".join(replace(foretold, rows=tuple(quiet)).headline)


@pytest.mark.wording
def test_what_was_not_learned_counts_neither_for_nor_against(content_of, told):
    """Undertrained cells that the oracle said cannot hold: no credit for their failure."""
    table = {("parity", "none"): [5], ("copy_repeat", "none"): [3], ("sort", "none"): [4], ("sort", "rope"): [60]}
    outlooks = {("sort", "none"): "can hold", ("parity", "none"): "cannot hold", ("copy_repeat", "none"): "cannot hold"}
    found = predict(content_of(table), told(outlooks))
    assert [row.outcome for row in found.rows] == ["not_learned"] * 3 + ["held"]
    assert found.accuracy().value is None and found.attained().value is None and found.decided == []
    assert found.counts["cannot hold"]["not_held"] == 0
    (text,) = found.left_out
    assert "3 cells" in text and all(word in text for word in ("steps", "depth", "rate"))


@pytest.mark.wording
def test_what_is_left_out_is_told_apart(foretold):
    unlearned, unmeasured = foretold.left_out
    assert "1 cell" in unlearned and "copy_repeat with `none`" in unlearned
    assert "copy_repeat with `rope`" in unmeasured
    assert [len(rows) for rows in foretold.undecided] == [2], "one theory gives both the same reason, by its key"


def test_a_prediction_is_a_claim_that_rests_on_the_deciding_one(foretold):
    first = foretold.cell_claims()[0]
    assert (first.kind, first.value, str(first.reference)) == ("predicted", "can hold", "huang2025, Theorem 7")
    assert first.assumptions[0].key == "test.softmax" and len(first.assumptions) == 3
    assert first.evidence["score"] == "attained" and "certified" in first.evidence["grounds"]
    assert len(foretold.cell_claims()) == 5  # of six decided cells one has no finished run


@pytest.mark.parametrize(
    "reach, test_size, outcome",
    [(60, 60, "held"), (40, 60, "not_held"), (40, 40, "held"), (60, 80, "held"), (59, 80, "not_held"),
     (20, 25, "not_held"), (25, 25, "held"), (20, 20, "not_measured"), (19, 60, "not_learned")],
)  # fmt: skip
def test_cells_are_judged_up_to_three_training_lengths(content_of, told, reach, test_size, outcome):
    oracle = told({})
    (row,) = predict(content_of({("sort", "none"): [reach]}, test_size=test_size), oracle).rows
    assert row.outcome == outcome
    assert oracle.asked == [("sort", ("none",), 20, min(60, test_size))]


@pytest.mark.wording
def test_the_matrix_and_the_headline_judge_a_cell_alike(content_of, told):
    """90 % in the longest stretch is not 95 % at every size: no page calls one cell both."""
    content = content_of({("sort", "none"): [58], ("sort", "rope"): [60]})
    held = {row.cell.position: row.outcome for row in predict(content, told({})).rows}
    assert held == {"none": "not_held", "rope": "held"}
    assert "but not with `none`" in answer(content).sentences[1]


@pytest.mark.wording
def test_answers_that_are_drawn_are_not_judged(content_of, told):
    content = content_of({("sort", "none"): [0]})
    (run,) = content.runs
    drawn = replace(run, summary=replace(run.summary, learned=None, holds=None, certain=False))
    (row,) = predict(replace(content, runs=(drawn,)), told({("sort", "none"): "cannot hold"})).rows
    assert (row.outcome, row.score) == ("not_measured", None) and "not meaningful" in row.found


def test_where_guessing_reaches_the_bar_it_is_said(content_of, told):
    content = content_of({("parity", "none"): [60]})
    run = content.runs[0]
    lucky = replace(content, runs=(replace(run, summary=replace(run.summary, chance=0.96)),))
    for given_, check in ((content, "checked"), (lucky, "violated")):
        found = predict(given_, told(TOLD))
        assert {a.key: a.check for a in found.accuracy().assumptions}["agreement.guessing"] == check


def test_one_card_a_task_and_training_size(content_of, told):
    variants = {f"depth {depth}": {"depth": depth} for depth in (1, 2)}
    table = {(f"sort@depth {depth}", position): [60] * 5 for depth in (1, 2) for position in ("none", "rope")}
    small = content_of(table, variants=variants)
    large = content_of(table, variants=variants, train_size=30, test_size=90)
    oracle = told(TOLD)
    found = predict(replace(small, runs=(*small.runs, *large.runs)), oracle)
    assert oracle.asked == [("sort", ("none", "rope"), 20, 60), ("sort", ("none", "rope"), 30, 90)]
    assert len(found.rows) == 8 and Counter(row.verdict.outlook for row in found.rows) == {"can hold": 8}


@pytest.mark.wording
@pytest.mark.parametrize(
    "task, said",
    [
        ("gone.py::Repeat", "cannot be rebuilt here (UsageError: gone.py cannot be read: No such file"),
        ("no_such_task", "cannot be rebuilt here (UnknownName"),
        ("sort:nonsense=1", "cannot be rebuilt here (UsageError"),
        ("bad\0name.py", "cannot be rebuilt here"),
        ("arctan_count", "real numbers"),
    ],
)
def test_a_task_that_cannot_be_looked_at_is_unknown(content_of, told, task, said):
    oracle = told({})
    (row,) = predict(content_of({(task, "none"): [60]}), oracle).rows
    assert row.verdict.outlook == "unknown" and said in row.verdict.why and row.score is None
    assert oracle.asked == [] and row.claim() is None


@pytest.mark.wording
def test_a_task_of_ones_own_that_breaks_is_unknown(content_of, told, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('not today')\n")
    (row,) = predict(content_of({(f"{broken}::Own", "none"): [60]}), told({})).rows
    assert "RuntimeError: not today" in row.verdict.why

    def raising(task, positions, **given):
        raise ZeroDivisionError("by the task")

    (row,) = predict(content_of({("sort", "none"): [60]}), raising).rows
    assert "failed when the oracle examined it (ZeroDivisionError: by the task)" in row.verdict.why


@pytest.mark.wording
def test_a_task_that_was_changed_since_is_unknown(content_of, told):
    """The stored share of right guesses tells; a verdict on another task must not be counted."""
    content = content_of({("parity", "none"): [60]})
    (run,) = content.runs
    oracle = told({("parity", "none"): "can hold"})
    assert predict(content, oracle).rows[0].score == "attained"
    curve = run.curve
    for column in ("chance", "token_chance"):
        other = replace(curve, points=tuple(replace(p, **{column: getattr(p, column) + 0.01}) for p in curve.points))
        changed = replace(run, stored=packed({"curve": other.record()}))
        (row,) = predict(replace(content, runs=(changed,)), oracle).rows
        assert row.verdict.outlook == "unknown" and row.score is None
        assert row.verdict.why.startswith(
            "the task is not the one that was trained on: guessing at size 20 is right in 52.4"
        )
    (row,) = predict(replace(content, runs=(replace(run, stored={}),)), oracle).rows
    assert row.score == "attained"  # without a curve there is nothing to compare


def test_what_measuring_stores_is_what_is_compared(tmp_path):
    """A curve as training leaves it, of a task with an answer and of one with tags."""
    import lengthwise as lw
    from lengthwise.probes.curve.spread import Keep
    from lengthwise.studies.cells import cells as cells_of
    from lengthwise.studies.record import read_finished
    from lengthwise.tasks import tasks

    for name, other in (("sort", "copy_repeat"), ("tomita_3", "tomita_5")):
        folder = tmp_path / name
        small, short = {"depth": 1, "width": 16, "heads": 1}, {"steps": 2, "batch": 2}
        lw.train(name, "none", train_size=4, test_size=6, **small, **short, folder=folder)
        group = cells_of([read_finished(folder)], Keep())
        assert not _changed(tasks.make(name), group) and _changed(tasks.make(other), group)


@pytest.mark.wording
def test_an_encoding_that_the_card_lacks_is_unknown(content_of):
    def silent(task, positions, *, model, train_size, test_size, quick):
        return Card("sort", train_size, test_size, {})

    (row,) = predict(content_of({("sort", "none"): [60]}), silent).rows
    assert row.verdict.outlook == "unknown" and not row.verdict.opinions


def test_other_models_are_asked_about_by_their_spec(content_of, told):
    """Of two cells with one encoding, the one of another model has that model's verdict."""
    table = {("parity@model lstm:depth=1", "none"): [60], ("parity@depth 2", "none"): [20]}
    settings = {"model lstm:depth=1": {"model": "lstm:depth=1"}, "depth 2": {"depth": 2}}
    oracle = told({("parity", "none"): "cannot hold", ("parity", "lstm:depth=1"): "can hold"})
    found = predict(content_of(table, variants=settings), oracle)
    assert {row.cell.model: (row.verdict.outlook, row.score) for row in found.rows} == {
        "lstm:depth=1": ("can hold", "attained"),
        "": ("cannot hold", "as_predicted"),
    }


def test_nothing_done_is_no_claim(content_of, told):
    found = predict(content_of({("sort", "none"): [None]}, others={("sort", "rope"): "waiting"}), told(TOLD))
    assert found.claims() == [] and found.cell_claims() == [] and len(found.headline) == 1
    assert found.accuracy().status == found.attained().status == found.coverage().status == "unknown"


def test_plain_is_json(foretold):
    plain = json.loads(json.dumps(foretold.plain(), allow_nan=False))
    assert plain["counts"]["cannot hold"]["not_held"] == 1 and len(plain["cells"]) == 8
    assert plain["cells"][1]["score"] == "not_attained" and plain["cells"][1]["holds"] is False
    assert plain["cells"][1]["verdict"]["opinions"][0]["outlook"] == "can hold"
    assert plain["cells"][6]["learned"] is False and plain["cells"][6]["holds"] is None
    assert plain["cells"][7]["measured"] is None and len(plain["contradictions"]) == 1


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_counts_are_those_of_a_plain_loop(content_of, told, data):
    """Any reaches and any verdicts: the table, the accuracy and the coverage recounted from the runs."""
    pairs = [(task, position) for task in ("sort", "parity", "majority") for position in ("none", "rope")]
    reach = st.one_of(st.none(), st.sampled_from([0, 20, 45, 50, 60]))
    table = {pair: data.draw(st.lists(reach, min_size=1, max_size=3)) for pair in pairs}
    outlooks = {pair: data.draw(st.sampled_from(["can hold", "cannot hold", "unknown"])) for pair in pairs}
    content = content_of(table, unlearned=data.draw(st.lists(st.sampled_from(pairs))))
    counts = Counter()
    for cell in cells(content.runs, content.rule):
        reaches = [run.summary.reach for run in cell.runs if run.summary and run.summary.reach >= 20]
        if reaches:
            held = 2 * sum(reach >= 60 for reach in reaches) > len(reaches)
            counts[outlooks[cell.task, cell.position], held] += 1
    found = predict(content, told(outlooks))
    assert len(found.judged) == counts.total() and len(found.contradictions) == counts["cannot hold", True]
    excluded, possible = found.scored("as_predicted", "contradiction"), found.scored("attained", "not_attained")
    assert len(excluded) == counts["cannot hold", True] + counts["cannot hold", False]
    assert len(found.not_reached) == counts["can hold", False] and len(found.decided) == len(excluded) + len(possible)
    assert sum(sum(row.values()) for row in found.counts.values()) == len(found.rows) == len(pairs)
