"""Published results, comparisons and trends as claims."""

from __future__ import annotations

import pytest

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.comparisons import encoding_differences, encoding_pairs, trends, varying_axes
from lengthwise.analyses.published import compare
from lengthwise.reports.page import claim_table, distinct
from paper_studies import told_by

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
        assert list(found.apart) == [("published.other_length", str(train_size), "50")]


def test_what_was_not_learned_is_not_compared(content_of):
    table, facts = {("a", "none"): [150], ("a", "rope"): [150]}, {"a": known(none=99, rope=99)}
    content = trained_to_50(content_of, table, facts, unlearned=[("a", "none")])
    found = compare(content)
    assert {item.encoding for item in found.comparisons} == {"rope"}
    assert list(found.apart.values()) == [("a with `none`",)]


def test_only_stretches_that_were_measured_whole_are_compared(content_of):
    content = content_of({("a", "none"): [120]}, train_size=50, test_size=120, tasks={"a": known(none=80)})
    assert [item.sizes for item in compare(content).comparisons] == ["1–50", "51–100"]


def where(claim):
    """The encodings that a claim compares, and the row; empty over all rows."""
    return claim.evidence["one"], claim.evidence["other"], claim.evidence.get("label", "")


def test_encodings_are_compared_in_pairs(content_of):
    content = content_of({("a", "x"): [60, 40], ("a", "y"): [20, 20], ("b", "x"): [40, 40], ("b", "y"): [40, 40]})
    found = {where(claim): claim for claim in encoding_differences(content)}
    assert set(found) == {("x", "y", ""), ("x", "y", "a"), ("x", "y", "b")}
    assert found["x", "y", ""].value == pytest.approx((1.5 + 0) / 2)
    assert found["x", "y", "a"].value == pytest.approx(1.5)
    assert found["x", "y", "a"].unit == "training lengths"
    assert all(claim.kind == "measured" for claim in found.values())


def test_what_was_not_learned_is_in_no_comparison_of_encodings(content_of):
    table = {("a", "x"): [60, 60], ("a", "y"): [20, 20], ("b", "x"): [60, 60], ("b", "y"): [60, 60]}
    table |= {("c", "x"): [60, 60], ("c", "y"): [60, 60]}
    found = {where(claim): claim for claim in encoding_differences(content_of(table, unlearned=[("a", "y")]))}
    assert set(found) == {("x", "y", ""), ("x", "y", "b"), ("x", "y", "c")}
    assert found["x", "y", ""].value == 0.0


def test_one_seed_is_not_compared_within_a_task(content_of):
    content = content_of({("a", "x"): [60], ("a", "y"): [20], ("b", "x"): [40], ("b", "y"): [40]})
    assert [where(claim) for claim in encoding_differences(content)] == [("x", "y", "")]


def test_many_encodings_are_compared_with_the_first(content_of):
    content = content_of({("a", f"e{number}"): [20] for number in range(10)})
    assert encoding_pairs(content) == [("e0", f"e{number}") for number in range(1, 10)]


def test_a_setting_that_varies_has_a_trend(content_of):
    variants = {f"depth {depth}": {"depth": depth, "width": 64} for depth in (1, 2, 4)}
    table = {(f"{task}@depth {depth}", "none"): [20 + 5 * depth] for task in "ab" for depth in (1, 2, 4)}
    content = content_of(table, variants=variants)
    assert varying_axes(content) == ["depth"]
    found = {(claim.key, claim.evidence.get("block", "")): claim for claim in trends(content)}
    assert found["comparisons.axis_trend", ""].value == pytest.approx(1.0)
    assert found["comparisons.block_trend", "a, encoding none"].value == pytest.approx(1.0)


def test_a_setting_of_two_values_is_compared_in_pairs(content_of):
    variants = {f"depth {depth}": {"depth": depth} for depth in (1, 2)}
    table = {(f"{task}@depth {depth}", "none"): [20 * depth] for task in "ab" for depth in (1, 2)}
    (claim,) = trends(content_of(table, variants=variants))
    assert (claim.key, claim.evidence["low"], claim.evidence["high"]) == ("comparisons.axis_pair", 1, 2)
    assert claim.value == pytest.approx(1.0)


def test_the_training_size_is_an_axis(content_of):
    small, large = (
        content_of({("a", "none"): [25], ("b", "none"): [25]}),
        content_of({("a", "none"): [30], ("b", "none"): [30]}, train_size=30),
    )
    both = type(small)("both", (*small.runs, *large.runs))
    assert [(claim.evidence["axis"], claim.evidence["high"]) for claim in trends(both)] == [("train size", 30)]


def test_every_claim_has_a_row_with_its_kind_interval_and_assumptions(content_of, told):
    content = content_of(
        {("a", "x"): [60, 50], ("a", "y"): [20, 30], ("sort", "x"): [40, 45], ("sort", "y"): [20, 21]},
        tasks={"a": known(x=80)},
        study={"analyses": ["reach", "agreement", "published", "comparisons"]},
    )
    with told_by(told({("sort", "x"): "can hold"})):
        claims = distinct(claim for record in analyse(content) for claim in record.claims)
    columns = {column.title: column.values for column in claim_table(claims)}
    assert {len(values) for values in columns.values()} == {len(claims)}
    assert set(columns["kind"]) == {"measured", "predicted"}

    def row(key, **evidence):
        place = next(
            number
            for number, claim in enumerate(claims)
            if claim.key == key and all(claim.evidence[name] == value for name, value in evidence.items())
        )
        return {name: values[place] for name, values in columns.items()}

    reach = row("cell.reach", row="a", position="x")
    assert reach["value"] == "at least 55" and reach["interval"] == "at least 50" and reach["n"] == 2
    assert any(text.startswith("caveat: ") for text in reach["assumptions"])
    assert row("cell.in_range", row="a", position="x")["value"] == "100 %"
    attained = row("agreement.attained")
    assert (attained["value"], attained["interval"]) == ("0 %", "0 % to 79.3 %")
    assert row("agreement.accuracy")["value"] == "– (unknown)", "nothing was said to be impossible"
    outlook = row("prediction.cell", label="sort", position="x")
    assert outlook["kind"] == "predicted" and outlook["value"] == "can hold"
    assert any(claim.evidence.get("why") == "a witness says that sort can hold" for claim in claims)
