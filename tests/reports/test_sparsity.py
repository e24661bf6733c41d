"""The section on the sparsity of attention: from records to panels, sentences and claims."""

from dataclasses import replace

import altair as alt
import pytest

from lengthwise.reports.content import Content
from lengthwise.reports.page import render
from lengthwise.reports.sparsity import over_layers, sparsity_claims, sparsity_groups, sparsity_sentences
from lengthwise.reports.sparsity_panels import MATCH, REACH, WEIGHT, sparsity_panels

# setting → weight of the best key in the two layers at the end of training; half of it at twice, a third at three times
SETTINGS = {"softmax:temperature=0.25": (0.9, 0.7), "softmax:temperature=4": (0.2, 0.4), "hardmax": (1.0, 1.0)}


@pytest.fixture
def content(content_of) -> Content:
    reaches = {"softmax:temperature=0.25": [30, 40], "softmax:temperature=4": [60, 50], "hardmax": [20, 20]}
    made = content_of({(f"sort@{name}", "none"): own for name, own in reaches.items()})
    runs = []
    for run in made.runs:
        records = [
            {"size": 20 * k, "layer": layer, "items": 8, "entropy": k * (1 - best), "uniform": 3.0, "best": best / k}
            for k in (1, 2, 3)
            for layer, best in enumerate(SETTINGS[run.variant], start=1)
        ]
        runs.append(replace(run, detail={**run.detail, "sparsity": records}))
    return replace(made, runs=tuple(runs))


def test_groups_and_means_over_layers(content: Content) -> None:
    (group,) = sparsity_groups(content)
    assert (group.task, group.position, group.train_size) == ("sort", "none", 20) and len(group.cells) == 3
    first = group.cells[0].runs[0]
    assert over_layers(first, 20, "best") == pytest.approx(0.8) and over_layers(first, 7, "best") is None


def test_the_sentence_names_the_extremes(content: Content) -> None:
    assert sparsity_sentences(content) == [
        "sort, encoding none, trained to 20: attention is sharpest with `hardmax` (100 % on the best key at the end of "
        "the training range) and flattest with `softmax:temperature=4` (30 %); the mean reach is greatest with "
        "`softmax:temperature=4` (55)."
    ]


def test_claims_are_measured_over_seeds(content: Content) -> None:
    claims = {claim.title: claim for claim in sparsity_claims(content)}
    assert len(claims) == 3 * 2 * 2
    name = (
        "entropy of attention, mean over layers: sort, softmax:temperature=4, encoding none, trained to 20, at size 60"
    )
    claim = claims[name]
    assert claim.value == pytest.approx(3 * 0.7) and (claim.kind, claim.unit) == ("measured", "nats")
    assert len(claim.evidence["seeds"]) == 2


def test_panels_hold_every_setting_and_fit_the_schema(content: Content) -> None:
    match, weight, reach = sparsity_panels(content)
    assert [figure.kind for figure in (match, weight, reach)] == [MATCH, WEIGHT, REACH]
    for figure in (match, weight, reach):
        assert {row["setting"] for row in figure.data["rows"]} == set(SETTINGS)
        alt.LayerChart.from_dict(dict(figure.template))
    found = {(row["setting"], row["layer"], row["size"]): row["best"] for row in weight.data["rows"]}
    assert found["softmax:temperature=0.25", 2, 60] == pytest.approx(0.7 / 3) and len(found) == 18
    points = {(row["setting"], row["seed"]): row for row in reach.data["rows"]}
    assert (
        points["softmax:temperature=4", 0]["multiple"] == 3
        and points["softmax:temperature=4", 0]["bound"] == "at least"
    )
    assert points["softmax:temperature=4", 1]["bound"] == "reach" and len(points) == 6


def test_the_page_has_the_section(content: Content, content_of, told) -> None:
    page = render(content, told({}))
    assert '<section id="sparsity">' in page and 'href="#sparsity"' in page and page.count("is sharpest with") == 1
    assert page.count('data-kind="sparsity, ') == 3
    assert sparsity_panels(content_of({("a", "none"): [60, None]})) == []


def test_a_run_that_waits_or_failed_is_no_trouble(content: Content) -> None:
    waiting = replace(
        content.runs[0], key="other", state="waiting", summary=None, detail={"sparsity": []}, variant="new"
    )
    assert len(sparsity_panels(replace(content, runs=(*content.runs, waiting)))) == 3
