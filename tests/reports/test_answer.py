"""The two sentences say what the numbers say, whatever the shape of the study."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.reports.answer import answer
from lengthwise.reports.content import Content


def test_several_tasks_and_encodings(content_of):
    content = content_of(
        {
            ("aa", "offset"): [60, 60],
            ("aa", "none"): [12, 12],
            ("sort", "offset"): [60, 60],
            ("sort", "none"): [60, 60],
            ("copy", "offset"): [21, 24],
            ("copy", "none"): [20, 20],
        }
    )
    found = answer(content)
    assert found.question == "How far?"
    assert found.sentences == (
        "2 of 3 tasks hold at 3 times the training length with at least one encoding; copy does not with any.",
        "The encoding decides for 1 of 3: aa holds with `offset` (mean reach at least 60) but not with `none` (12).",
    )
    assert [(claim.value, claim.unit, claim.kind) for claim in found.claims] == [
        (2, "of 3", "measured"),
        (1, "of 3", "measured"),
    ]
    assert found.claims[0].evidence["hold"] == ["aa", "sort"] and found.claims[1].evidence["decided"] == ["aa"]


def test_one_task(content_of):
    found = answer(content_of({("aa", "offset"): [60], ("aa", "rope"): [60], ("aa", "none"): [12]}))
    assert found.sentences == (
        "aa holds at 3 times the training length with 2 of 3 encodings: `offset` and `rope`.",
        "The encoding decides: aa holds with `offset` (mean reach at least 60) and `rope` (at least 60) but not with "
        "`none` (12).",
    )


def test_one_encoding(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "none"): [10], ("copy", "none"): [30]}))
    assert found.sentences == (
        "1 of 3 tasks holds at 3 times the training length with the encoding `none`; sort and copy do not.",
        "By mean reach the furthest is aa with at least 60 (3 times the training length), the nearest sort with 10 "
        "(0.5 times the training length).",
    )
    assert len(found.claims) == 1


def test_one_run(content_of):
    found = answer(content_of({("aa", "none"): [33]}))
    assert found.sentences == (
        "aa does not hold at 3 times the training length with the encoding `none`.",
        "Its mean reach over 1 seed is 33, after training to 20.",
    )


def test_what_was_not_learned_in_range_is_said_to_be(content_of):
    table = {("aa", "offset"): [60], ("aa", "none"): [60], ("sort", "offset"): [40], ("sort", "none"): [40]}
    cells = [("sort", "offset"), ("sort", "none")]
    first, _ = answer(content_of(table, unlearned=cells)).sentences
    assert first.endswith("sort does not with any (sort was not learned within the training range).")
    first, _ = answer(content_of({("sort", "none"): [40]}, unlearned=[("sort", "none")])).sentences
    assert first.endswith("with the encoding `none`, as it was not learned within the training range.")


def test_a_cell_that_was_not_learned_does_not_hold_even_where_it_is_right_further_out(content_of):
    content = content_of({("aa", "none"): [60], ("aa", "rope"): [60]}, unlearned=[("aa", "rope")])
    assert (
        "holds with `none` (mean reach at least 60) but not with `rope` (0, not learned in range)"
        in (answer(content).sentences[1])
    )


def test_more_than_half_of_the_seeds_decide(content_of):
    both = {("aa", "rope"): [10, 10, 10]}
    assert "with 1 of 2 encodings" in answer(content_of({("aa", "none"): [60, 60, 10], **both})).sentences[0]
    assert "with not one of 2" in answer(content_of({("aa", "none"): [60, 10], **both})).sentences[0]


def test_the_multiple_is_as_far_as_was_measured(content_of):
    first, _ = answer(content_of({("aa", "none"): [30]}, test_size=30)).sentences
    assert "holds at 1.5 times the training length" in first
    first, _ = answer(content_of({("aa", "none"): [20]}, test_size=20)).sentences
    assert "holds in the training range" in first
    first, _ = answer(content_of({("aa", "none"): [61]}, test_size=100)).sentences
    assert "holds at 3 times" in first


def test_the_encoding_does_not_decide(content_of):
    table = {("aa", "none"): [60], ("aa", "rope"): [60]}
    assert answer(content_of(table)).sentences[1] == "The encoding does not decide: aa holds with every encoding."
    table |= {("sort", "none"): [1], ("sort", "rope"): [1]}
    assert answer(content_of(table)).sentences[1].startswith("The encoding decides for none of them")


def test_an_unfinished_study_says_so(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "none"): [60]}, others={("copy", "none"): "waiting"}))
    assert found.sentences[0].startswith("So far, with 2 of 3 runs done, all 2 tasks hold at 3 times")


def test_encodings_that_never_met(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "rope"): [60]}))
    assert found.sentences[1] == "No task has finished runs of two encodings, so they cannot be compared yet."
    assert found.claims[1].status == "unknown" and found.claims[1].value is None


def test_nothing_done(content_of):
    found = answer(content_of({}, others={("aa", "none"): "waiting", ("sort", "none"): "running"}))
    assert found.sentences[0] == "No run has finished yet, so there is no answer."
    assert "1 running, 1 waiting" in found.sentences[1]
    assert found.claims[0].status == "unknown"


def test_all_failed(content_of):
    found = answer(content_of({("aa", "none"): [None, None]}))
    assert found.sentences == ("All 2 runs failed, so there is no answer.", "The reason: ValueError: it broke.")


def test_no_runs_at_all():
    assert answer(Content("empty", ())).sentences[0] == "The study has no runs, so there is no answer."


def test_variants_are_counted_as_settings(content_of):
    table = {("aa@depth 1", "none"): [60], ("aa@depth 2", "none"): [10]}
    first, _ = answer(content_of(table)).sentences
    assert first.startswith("1 of 2 task settings holds") and "aa, depth 2" in first


def test_long_lists_are_cut(content_of):
    table = {(f"t{number}", "none"): [60 if number == 0 else 1] for number in range(30)}
    first, _ = answer(content_of(table)).sentences
    assert "t1, t2, t3, t4 and 25 more do not" in first


def test_a_backtick_in_a_name_does_not_upset_the_others(content_of):
    _, second = answer(content_of({("aa", "no`ne"): [60], ("aa", "rope"): [1]})).sentences
    assert second.count("`") == 4


names = st.sampled_from(["a", "b", "c"])
reaches = st.lists(st.none() | st.integers(0, 60), min_size=1, max_size=3)


@given(st.dictionaries(st.tuples(names, names), reaches, min_size=1, max_size=9), st.data())
def test_any_shape_has_two_sentences_that_agree_with_a_count(content_of, table, data):
    unlearned = data.draw(st.lists(st.sampled_from(sorted(table)), unique=True))
    content = content_of(table, unlearned=unlearned)
    found = answer(content)
    assert all(sentence.endswith(".") and "  " not in sentence for sentence in found.sentences)
    assert all(claim.kind == "measured" for claim in found.claims)
    if not content.counts["done"]:
        assert found.claims[0].value is None
        return
    # Counted anew from the table itself.
    holding = {
        task
        for (task, position), values in table.items()
        if (task, position) not in unlearned and 2 * values.count(60) > sum(value is not None for value in values)
    }
    assert found.claims[0].value == len(holding)
    assert set(found.claims[0].evidence["hold"]) == holding


@pytest.mark.parametrize("train_size", [1, 7, 20])
def test_censored_reaches_are_said_to_be_lower_bounds(content_of, train_size):
    content = content_of({("aa", "none"): [60]}, train_size=train_size)
    assert "is at least 60" in answer(content).sentences[1]
    content = content_of({("aa", "none"): [59]}, train_size=train_size)
    assert "is 59" in answer(content).sentences[1]
