"""The sections of a report on ladders: what they draw is what was found."""

from __future__ import annotations

import json
import math

import pytest

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.layout import PageLayout
from lengthwise.figures.style import packed, paper_spec
from lengthwise.probes.ladder import LadderProbe
from lengthwise.records import Record
from synthetic_content import ladder_content
from synthetic_ladders import synthetic_evidence

FEW = LadderProbe(12, 4, 4)


LADDER = ["risk", "encodings", "levels", "traces", "floors", "collapse", "bound", "constants", "thresholds"]


@pytest.fixture(scope="module")
def small() -> dict[str, Record]:
    """One problem, two encodings, two depths, three widths."""
    return records(ladder_content(synthetic_evidence(["subset_sum"], depths=(1, 2), settings=FEW)))


def records(study) -> dict[str, Record]:
    return {record.source: record for record in analyse(study)}


def test_the_sections_come_in_their_order(small):
    assert list(small)[:10] == [*LADDER, "reach"] and not any(record.failed for record in small.values())
    assert PageLayout.of(small["traces"]).widget["name"] == "traces"


def test_a_study_without_ladders_has_no_such_part():
    assert not {*LADDER} & {*records(ladder_content(None, ["sort"]))}


def test_one_width_has_no_floors_and_one_encoding_no_effect():
    evidence = synthetic_evidence(["subset_sum"], ["rope"], depths=(2,), widths=(32,), settings=FEW)
    found = records(ladder_content(evidence, ["sort"]))
    assert next(iter(found)) == "reach", "not every task has a ladder"
    assert [name for name in found if name in LADDER] == ["risk", "levels", "traces", "collapse", "bound", "thresholds"]


def test_a_line_a_configuration_that_never_falls(small):
    for figure in small["risk"].figures:
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in figure.data["lines"]:
            lines.setdefault(row["configuration"], []).append((row["w1"], row["risk"]))
        assert len(lines) == 2 * 2 * 3
        for points in lines.values():
            assert len(points) == 19 and points == sorted(points), points
        assert len(figure.data["points"]) == 12 * 19
        (band,) = figure.data["null"]
        assert 0 < band["to"] <= min(row["w1"] for row in figure.data["points"]) + 1e-9


def test_the_metrics_are_the_menu(small):
    (menu,) = PageLayout.of(small["risk"]).menus
    assert [value for value, _ in menu.options] == ["features", "contour", "edit"] and not menu.sets
    assert {figure.group for figure in small["risk"].figures} == {"features", "contour", "edit"}


def test_floors_end_the_fitted_lines(small):
    assert len(small["floors"].figures) == 3
    for figure in small["floors"].figures:
        data = figure.data
        assert len(data["measured"]) == 2 * 2 * 3
        for floor in data["floors"]:
            assert floor["low"] <= floor["risk"] <= floor["high"]
            line = [row["risk"] for row in data["fitted"] if row["model"] == floor["model"]]
            assert line == sorted(line, reverse=True) and line[-1] >= floor["risk"] - 1e-9


def test_the_waterfall_adds_up_to_the_bound(small):
    found = small["bound"]
    rows = found.figures[0].data["terms"]
    bars: dict[tuple[str, str, str], list] = {}
    for row in rows:
        bars.setdefault((row["model"], row["axis"], row["which"]), []).append(row)
    assert len(bars) == 12 * 3 * 2
    for own in bars.values():
        terms = math.fsum(row["value"] for row in own if row["kind"] == "term")
        (total,) = [row["to"] for row in own if row["kind"] == "total"]
        assert total == pytest.approx(terms) and own[-1]["kind"] == "measured"
    offered = [dict(menu.options).keys() for menu in PageLayout.of(found).menus]
    assert all(key in options for key_row in bars for key, options in zip(key_row, offered, strict=True))
    assert sum(row[2] for row in found.tables[0].rows) == 12 * 18  # every model at every level beyond training


def test_collapse_shows_training_and_the_farthest_depth_of_the_widest(small):
    for figure in small["collapse"].figures:
        rows = figure.data["layers"]
        assert {row["level"] for row in rows} == {"training", "depth 9"}
        assert all(row["model"].endswith("width 64") for row in rows)


def test_levels_are_shares_at_every_level(small):
    found = small["levels"]
    assert {figure.group for figure in found.figures} == {value for value, _ in PageLayout.of(found).menus[0].options}
    for figure in found.figures:
        if "levels" in figure.data:
            rows = figure.data["levels"]
            assert len(rows) == 2 * 2 * 19 and all(0 <= row["value"] <= 1 for row in rows)


def ladder_figures(small):
    return [figure for name in LADDER for figure in small[name].figures]


def test_figures_have_keys_of_their_own_and_whole_numbers(small):
    keys = [figure.key for figure in ladder_figures(small)]
    assert len(keys) == len(set(keys))
    for figure in ladder_figures(small):
        json.dumps(packed(figure), allow_nan=False)
        for rows in figure.data.values():
            assert all(rows[0].keys() == row.keys() for row in rows)


def test_every_template_fits_the_schema_and_is_drawn(small):
    import altair as alt
    import vl_convert

    templates = {json.dumps(figure.template, sort_keys=True): figure for figure in ladder_figures(small)}
    assert len(templates) == 3 + 1 + 3 + 1 + 2 + 1 + 5
    for figure in templates.values():
        alt.LayerChart.from_dict(dict(figure.template))
        if figure.key in ("risk.features.1", "bound", "floors.in_range.1"):  # the browser draws them all
            assert "aria-roledescription" in vl_convert.vegalite_to_svg(json.dumps(paper_spec(figure)))
