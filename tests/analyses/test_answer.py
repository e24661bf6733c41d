"""The two sentences say what the numbers say, whatever the shape of the study."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import answer


@pytest.mark.wording
def test_several_tasks_and_encodings(content_of):
    content = content_of(
        {
            ("aa", "offset"): [60, 60],
            ("aa", "none"): [22, 22],
            ("sort", "offset"): [60, 60],
            ("sort", "none"): [60, 60],
            ("copy", "offset"): [21, 24],
            ("copy", "none"): [20, 20],
        }
    )
    found = answer(content)
    assert found.sentences == (
        "2 of 3 tasks hold at 3 times the training length with at least one encoding; copy does not with any encoding.",
        "The encoding decides for 1 of 3: aa holds with `offset` (mean reach at least 60) but not with `none` (22).",
    )
    assert [(claim.value, claim.unit, claim.kind) for claim in found.claims] == [
        (6, "of 6", "measured"),
        (2, "of 3", "measured"),
        (1, "of 3", "measured"),
    ]
    assert found.claims[1].evidence["hold"] == ["aa", "sort"] and found.claims[2].evidence["decided"] == ["aa"]


@pytest.mark.wording
def test_one_task(content_of):
    found = answer(content_of({("aa", "offset"): [60], ("aa", "rope"): [60], ("aa", "none"): [22]}))
    assert found.sentences == (
        "aa holds at 3 times the training length with 2 of 3 encodings: `offset` and `rope`.",
        "The encoding decides: aa holds with `offset` (mean reach at least 60) and `rope` (at least 60) but not with "
        "`none` (22).",
    )


@pytest.mark.wording
def test_one_encoding(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "none"): [20], ("copy", "none"): [30]}))
    assert found.sentences == (
        "1 of 3 tasks holds at 3 times the training length with the encoding `none`; sort and copy do not.",
        "By mean reach, the best is aa with at least 60 (3 times the training length) and the worst sort with 20 "
        "(once the training length).",
    )
    assert len(found.claims) == 2


@pytest.mark.wording
def test_one_run(content_of):
    found = answer(content_of({("aa", "none"): [33]}))
    assert found.sentences == (
        "aa does not hold at 3 times the training length with the encoding `none`.",
        "Its mean reach over 1 seed is 33, after training to 20.",
    )


@pytest.mark.wording
def test_what_was_not_learned_is_said_to_be_and_in_no_count(content_of):
    table = {("aa", "offset"): [60], ("aa", "none"): [60], ("sort", "offset"): [40], ("sort", "none"): [40]}
    found = answer(content_of(table, unlearned=[("sort", "offset"), ("sort", "none")]))
    learned, holding, _ = found.claims
    assert (learned.value, learned.unit) == (2, "of 4") and len(found.sentences) == 2
    assert (holding.value, holding.unit) == (1, "of 1") and holding.evidence["not_learned"] == ["sort"]
    assert found.sentences[0].endswith("; sort was not learned in the training range.")


@pytest.mark.wording
def test_a_study_that_learned_little_says_so_first(content_of):
    table = {("aa", "offset"): [60], ("aa", "none"): [60], ("sort", "offset"): [40], ("sort", "none"): [40]}
    three = [("aa", "none"), ("sort", "offset"), ("sort", "none")]
    found = answer(content_of(table, unlearned=three))
    assert found.sentences[0].startswith("Only 1 of 4 cells") and "learned" in found.sentences[0]
    assert all(word in found.sentences[0] for word in ("steps", "depth", "rate"))
    nothing = answer(content_of(table, unlearned=list(table)))
    assert nothing.sentences[0].startswith("None of 4 cells") and nothing.claims[0].value == 0
    assert nothing.claims[1].value is None and nothing.claims[1].status == "unknown"
    assert not any("hold" in sentence for sentence in nothing.sentences)


@pytest.mark.wording
def test_a_cell_that_was_not_learned_is_not_compared_even_where_it_is_right_further_out(content_of):
    content = content_of({("aa", "none"): [60], ("aa", "rope"): [60]}, unlearned=[("aa", "rope")])
    found = answer(content)
    assert found.claims[2].status == "unknown" and "learned with two encodings" in found.sentences[1]


@pytest.mark.wording
def test_tasks_whose_answers_are_drawn_are_not_said_to_fail(content_of):
    content = content_of({("prose", "none"): [0, 0]})
    drawn = [
        replace(run, summary=replace(run.summary, learned=None, holds=None, certain=False)) for run in content.runs
    ]
    found = answer(replace(content, runs=tuple(drawn)))
    assert "not meaningful" in found.sentences[0] and not any("hold" in text for text in found.sentences)
    assert [claim.status for claim in found.claims] == ["unknown", "unknown"]


@pytest.mark.wording
def test_labels_in_a_list_have_no_comma_of_their_own(content_of):
    usual = content_of({("aa", "none"): [20], ("sort", "none"): [20], ("copy", "none"): [60]})
    other = content_of({("subset_sum", "none"): [3]}, train_size=3, test_size=9)
    first = answer(replace(usual, runs=(*usual.runs, *other.runs))).sentences[0]
    assert "aa, sort and subset_sum (trained to 3) do not" in first


@pytest.mark.wording
def test_more_than_half_of_the_seeds_decide(content_of):
    both = {("aa", "rope"): [20, 20, 20]}
    assert "with 1 of 2 encodings" in answer(content_of({("aa", "none"): [60, 60, 20], **both})).sentences[0]
    assert "not hold" in answer(content_of({("aa", "none"): [60, 20], **both})).sentences[0]
    seeds = [60, 10, 10]  # two seeds did not learn, and do not vote
    assert "with 1 of 2 encodings" in answer(content_of({("aa", "none"): seeds, **both})).sentences[0]


@pytest.mark.wording
def test_the_multiple_is_as_far_as_was_measured(content_of):
    first, _ = answer(content_of({("aa", "none"): [30]}, test_size=30)).sentences
    assert "holds at 1.5 times the training length" in first
    (first,) = answer(content_of({("aa", "none"): [20]}, test_size=20)).sentences
    assert "Nothing was measured beyond the training range" in first
    first, _ = answer(content_of({("aa", "none"): [61]}, test_size=100)).sentences
    assert "holds at 3 times" in first


@pytest.mark.wording
def test_the_encoding_does_not_decide(content_of):
    table = {("aa", "none"): [60], ("aa", "rope"): [60]}
    assert answer(content_of(table)).sentences[1] == "The encoding does not decide: aa holds with every encoding."
    short = {("sort", "none"): [20], ("sort", "rope"): [20]}
    found = answer(content_of(short)).sentences[1]
    assert found == "The encoding does not decide: sort does not hold with any encoding.", "`none` is an encoding"
    assert answer(content_of(table | short)).sentences[1].startswith("The encoding decides for none of them")


@pytest.mark.wording
def test_an_unfinished_study_says_so(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "none"): [60]}, others={("copy", "none"): "waiting"}))
    assert found.sentences[0].startswith("So far, with 2 of 3 runs done")
    assert found.sentences[1].startswith("All 2 tasks hold at 3 times")


@pytest.mark.wording
def test_encodings_that_never_met(content_of):
    found = answer(content_of({("aa", "none"): [60], ("sort", "rope"): [60]}))
    assert found.sentences[1] == "No task was learned with two encodings, so they cannot be compared yet."
    assert found.claims[2].status == "unknown" and found.claims[2].value is None


@pytest.mark.wording
def test_nothing_done(content_of):
    found = answer(content_of({}, others={("aa", "none"): "waiting", ("sort", "none"): "running"}))
    assert "1 running, 1 waiting" in found.sentences[0]
    assert found.claims[0].status == "unknown"


@pytest.mark.wording
def test_all_failed(content_of):
    found = answer(content_of({("aa", "none"): [None, None]}))
    assert found.sentences == ("All 2 runs failed, so there is no answer. The reason: ValueError: it broke.",)


@pytest.mark.wording
def test_no_runs_at_all():
    assert answer(StudyContent("empty", ())).sentences[0] == "The study has no runs, so there is no answer."


@pytest.mark.wording
def test_variants_are_counted_as_settings(content_of):
    table = {("aa@depth 1", "none"): [60], ("aa@depth 2", "none"): [20]}
    first, _ = answer(content_of(table)).sentences
    assert first.startswith("1 of 2 task settings holds") and "aa (depth 2)" in first


@pytest.mark.wording
def test_long_lists_are_cut(content_of):
    table = {(f"t{number}", "none"): [60 if number == 0 else 20] for number in range(30)}
    first, _ = answer(content_of(table)).sentences
    assert "t1, t2, t3, t4 and 25 more do not" in first


@pytest.mark.wording
def test_a_backtick_in_a_name_does_not_upset_the_others(content_of):
    _, second = answer(content_of({("aa", "no`ne"): [60], ("aa", "rope"): [20]})).sentences
    assert second.count("`") == 4


names = st.sampled_from(["a", "b", "c"])
reaches = st.lists(st.none() | st.integers(0, 60), min_size=1, max_size=3)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(names, names), reaches, min_size=1, max_size=9), st.data())
def test_any_shape_has_sentences_that_agree_with_a_count(content_of, table, data):
    unlearned = data.draw(st.lists(st.sampled_from(sorted(table)), unique=True))
    content = content_of(table, unlearned=unlearned)
    found = answer(content)
    assert all(claim.kind == "measured" for claim in found.claims)
    if not content.counts["done"]:
        assert found.claims[0].value is None
        return
    # Counted again from the table itself: seeds that reach the training size of 20 learned, those that reach 60 hold.
    learned, judged, holding = 0, set(), set()
    for (task, position), values in table.items():
        seeds = [value for value in values if value is not None and value >= 20]
        if seeds and (task, position) not in unlearned:
            learned += 1
            judged.add(task)
            if 2 * seeds.count(60) > len(seeds):
                holding.add(task)
    assert found.claims[0].value == learned
    assert found.claims[1].value == (len(holding) if judged else None)
    assert found.claims[1].unit == f"of {len(judged)}" and set(found.claims[1].evidence["hold"]) == holding


@pytest.mark.wording
@pytest.mark.parametrize("train_size", [1, 7, 20])
def test_censored_reaches_are_said_to_be_lower_bounds(content_of, train_size):
    content = content_of({("aa", "none"): [60]}, train_size=train_size)
    assert "is at least 60" in answer(content).sentences[1]
    content = content_of({("aa", "none"): [59]}, train_size=train_size)
    assert "is 59" in answer(content).sentences[1]
