"""Published results, comparisons, trends and plateaus as claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lengthwise.reports.answer import answer
from lengthwise.reports.claims import all_claims, claim_columns
from lengthwise.reports.comparisons import encoding_differences, encoding_pairs, trends, varying_axes
from lengthwise.reports.plateaus import falling, fit_plateaus, mean_losses
from lengthwise.reports.predictions import predict
from lengthwise.reports.published import compare

BINS = [[1, 50], [51, 100], [101, 150]]


def known(**encodings):
    """The facts of a task: encoding → published share in the last bin, in per cent."""
    curves = [
        {"encoding": name, "bins": BINS, "exact_match": [100, 90, last], "reference": "huang2025, Figure 1"}
        for name, last in encodings.items()
    ]
    return {"axis": "length", "published": curves}


def trained_to_50(content_of, table, published, **more):
    """A study trained to 50 and measured to 150, as the published one."""
    return content_of(table, train_size=50, test_size=150, tasks=published, **more)


def test_what_is_alike_is_compared_in_points_with_both_intervals(content_of):
    facts = known(none=80)
    facts["published"][0]["intervals"] = [[99, 100], [85, 95], [70, 90]]
    content = trained_to_50(
        content_of,
        {("a", "none"): [150, 100], ("a", "rope"): [150], ("c", "none"): [150]},
        {"a": facts, "c": {"axis": "length"}},
    )
    found = compare(content)
    assert [(item.row.label, item.encoding, item.sizes) for item in found.comparisons] == [
        ("a", "none", "1–50"),
        ("a", "none", "51–100"),
        ("a", "none", "101–150"),
    ]
    assert found.apart == {}, "what nobody published is not missing"
    last = found.comparisons[-1]
    assert last.share == pytest.approx(0.55) and last.published == 0.8 and last.points == pytest.approx(-25)
    assert last.ours.interval is not None and last.published_interval.low == 0.7
    claim = last.claim()
    assert (claim.unit, claim.value, claim.kind) == ("points", pytest.approx(-25), "measured")
    assert claim.evidence["ours_interval"]["high"] == 1.0 and claim.evidence["published_interval"]["high"] == 0.9
    assert claim.evidence["seeds"] == [0, 1] and str(claim.reference) == "huang2025, Figure 1"


@pytest.mark.parametrize("train_size, alike", [(44, False), (45, True), (55, True), (56, False), (20, False)])
def test_training_lengths_within_a_tenth_are_alike(content_of, train_size, alike):
    size = 3 * train_size
    content = content_of({("a", "none"): [size]}, train_size=train_size, test_size=size, tasks={"a": known(none=80)})
    found = compare(content)
    assert bool(found.comparisons) is alike and bool(found.apart) is not alike
    if alike:
        assert found.comparisons[1].sizes == f"{train_size + 1}–{2 * train_size}", "the same multiples of the length"
    else:
        assert "Nothing here can be compared" in found.sentences[0] and str(train_size) in found.sentences[1]


def test_what_was_not_learned_is_not_compared(content_of):
    table, facts = {("a", "none"): [150], ("a", "rope"): [150]}, {"a": known(none=99, rope=99)}
    content = trained_to_50(content_of, table, facts, unlearned=[("a", "none")])
    found = compare(content)
    assert {item.encoding for item in found.comparisons} == {"rope"}
    assert list(found.apart.values()) == [("a with `none`",)]


def test_only_stretches_that_were_measured_whole_are_compared(content_of):
    content = content_of({("a", "none"): [120]}, train_size=50, test_size=120, tasks={"a": known(none=80)})
    assert [item.sizes for item in compare(content).comparisons] == ["1–50", "51–100"]


def test_encodings_are_compared_in_pairs(content_of):
    content = content_of({("a", "x"): [60, 40], ("a", "y"): [20, 20], ("b", "x"): [40, 40], ("b", "y"): [40, 40]})
    found = {claim.title: claim for claim in encoding_differences(content)}
    assert set(found) == {"reach, x minus y, over tasks", "reach, x minus y, a", "reach, x minus y, b"}
    assert found["reach, x minus y, over tasks"].value == pytest.approx((1.5 + 0) / 2)
    assert found["reach, x minus y, a"].value == pytest.approx(1.5)
    assert found["reach, x minus y, a"].unit == "training lengths"
    assert all(claim.kind == "measured" for claim in found.values())


def test_what_was_not_learned_is_in_no_comparison_of_encodings(content_of):
    table = {("a", "x"): [60, 60], ("a", "y"): [20, 20], ("b", "x"): [60, 60], ("b", "y"): [60, 60]}
    table |= {("c", "x"): [60, 60], ("c", "y"): [60, 60]}
    found = {claim.title: claim for claim in encoding_differences(content_of(table, unlearned=[("a", "y")]))}
    assert set(found) == {"reach, x minus y, over tasks", "reach, x minus y, b", "reach, x minus y, c"}
    assert found["reach, x minus y, over tasks"].value == 0.0


def test_one_seed_is_not_compared_within_a_task(content_of):
    content = content_of({("a", "x"): [60], ("a", "y"): [20], ("b", "x"): [40], ("b", "y"): [40]})
    assert [claim.title for claim in encoding_differences(content)] == ["reach, x minus y, over tasks"]


def test_many_encodings_are_compared_with_the_first(content_of):
    content = content_of({("a", f"e{number}"): [20] for number in range(10)})
    assert encoding_pairs(content) == [("e0", f"e{number}") for number in range(1, 10)]


def test_a_setting_that_varies_has_a_trend(content_of):
    variants = {f"depth {depth}": {"depth": depth, "width": 64} for depth in (1, 2, 4)}
    table = {(f"{task}@depth {depth}", "none"): [20 + 5 * depth] for task in "ab" for depth in (1, 2, 4)}
    content = content_of(table, variants=variants)
    assert varying_axes(content) == ["depth"]
    found = {claim.title: claim for claim in trends(content)}
    assert found["reach rises with depth"].value == pytest.approx(1.0)
    assert found["reach with depth, a, encoding none"].value == pytest.approx(1.0)


def test_a_setting_of_two_values_is_compared_in_pairs(content_of):
    variants = {f"depth {depth}": {"depth": depth} for depth in (1, 2)}
    table = {(f"{task}@depth {depth}", "none"): [20 * depth] for task in "ab" for depth in (1, 2)}
    (claim,) = trends(content_of(table, variants=variants))
    assert claim.title == "reach, depth 2 minus depth 1" and claim.value == pytest.approx(1.0)


def test_the_training_size_is_an_axis(content_of):
    small, large = (
        content_of({("a", "none"): [25], ("b", "none"): [25]}),
        content_of({("a", "none"): [30], ("b", "none"): [30]}, train_size=30),
    )
    both = type(small)("both", (*small.runs, *large.runs))
    assert [claim.title for claim in trends(both)] == ["reach, train size 30 minus train size 20"]


def test_plateaus_are_fitted_only_when_asked_for(content_of):
    table = {("a", "none"): [60, 60], ("b", "none"): [20]}
    assert fit_plateaus(content_of(table)) == []
    found = fit_plateaus(content_of(table, study={"plateau": True}))
    assert [fit.claim.kind for fit in found] == ["heuristic", "heuristic"]
    assert found[0].claim.value == pytest.approx(0.01) and found[1].claim.value == pytest.approx(0.91)
    assert found[0].claim.evidence["seeds"] == [0, 1]


def test_a_study_of_plateaus_is_answered_by_its_plateaus(content_of):
    """Real-valued answers are measured in squared errors; plateaus of two training ranges are compared."""
    table = {("a", "none"): [60, 60], ("b", "none"): [20]}
    small, large = (content_of(table, study={"plateau": True}, train_size=size) for size in (10, 20))
    both = replace(small, runs=(*small.runs, *large.runs), tasks={"a": {"readout": "numbers"}})
    fits = fit_plateaus(both)
    assert {fit.cell.task: fit.unit for fit in fits} == {"a": "mean squared error", "b": "nats a token"}
    lower = replace(fits[-1], claim=replace(fits[-1].claim, value=0.5))
    fall = falling([*fits[:-1], lower])
    assert (fall.value, fall.unit.split()[1]) == (1, "2") and fall.evidence["cells"] == 4
    first, second = answer(both, [*fits[:-1], lower]).sentences
    assert first.startswith(
        "A plateau of the test loss was found in 4 of 4 cells; after training to greater sizes it is"
    )
    assert "lower for 1 of 2" in first and "hold" in second
    assert falling(fits[:1]).status == "unknown"
    assert "for no setting at two training lengths" in answer(small, fit_plateaus(small)).sentences[0]


def test_mean_losses_are_over_the_seeds_shown(content_of):
    content = content_of({("a", "none"): [60, 20]}, study={"plateau": True})
    sizes, losses = mean_losses(content.cells[0])
    assert sizes == list(range(1, 61))
    assert losses[0] == pytest.approx(0.01) and losses[-1] == pytest.approx((0.01 + 0.91) / 2)


def test_every_claim_has_a_row_with_its_kind_interval_and_assumptions(content_of, told):
    content = content_of(
        {("a", "x"): [60, 50], ("a", "y"): [20, 30], ("sort", "x"): [40, 45], ("sort", "y"): [20, 21]},
        tasks={"a": known(x=80)},
        study={"plateau": True},
    )
    foretold = predict(content, told({("sort", "x"): "can hold"}))
    claims = all_claims(content, answer(content), compare(content), fit_plateaus(content), foretold)
    columns = claim_columns(claims)
    assert {len(values) for values in columns.values()} == {len(claims)}
    assert set(columns["kind"]) == {"measured", "predicted", "heuristic"}
    place = columns["claim"].index("reach: a, position x, trained to 20")
    row = {name: values[place] for name, values in columns.items()}
    assert row["value"] == "at least 55" and row["interval"] == "at least 50" and row["n"] == 2
    assert any(text.startswith("violated: ") for text in row["assumptions"])
    shares = columns["claim"].index("exact match in the training range: a, position x, trained to 20")
    assert columns["value"][shares] == "100 %"
    attained = columns["claim"].index(foretold.attained().title)
    assert (columns["value"][attained], columns["interval"][attained]) == ("0 %", "0 % to 79.3 %")
    accuracy = columns["claim"].index(foretold.accuracy().title)
    assert columns["value"][accuracy] == "– (unknown)", "nothing was said to be impossible"
    outlook = columns["claim"].index("beyond the training range: sort, encoding x")
    assert columns["kind"][outlook] == "predicted" and columns["value"][outlook] == "can hold"
    assert "a witness says that sort can hold" in columns["evidence"][outlook]
