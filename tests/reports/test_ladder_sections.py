"""The sections of a report on ladders: what they draw is what was found."""

from __future__ import annotations

import json
import math

import pytest

from lengthwise.probes.ladder import LadderProbe
from lengthwise.reports.ladder.part import LadderPart, ladder_part
from synthetic_content import ladder_content
from synthetic_ladders import synthetic_evidence

FEW = LadderProbe(12, 4, 4)


@pytest.fixture(scope="module")
def small() -> LadderPart:
    """One problem, two encodings, two depths, three widths."""
    part = ladder_part(ladder_content(synthetic_evidence(["subset_sum"], depths=(1, 2), settings=FEW)))
    assert part is not None
    return part


def section(part: LadderPart, name: str):
    return next(section for section in part.sections if section.name == name)


def test_the_sections_come_in_their_order(small):
    assert small.leads and small.first.name == "risk"
    names = [section.name for section in small.sections]
    assert names == ["floors", "collapse", "bound", "thresholds", "encodings", "levels"]
    assert small.explorer is not None


def test_a_study_without_ladders_has_no_such_part():
    assert ladder_part(ladder_content(None, ["sort"])) is None


def test_one_width_has_no_floors_and_one_encoding_no_effect():
    evidence = synthetic_evidence(["subset_sum"], ["rope"], depths=(2,), widths=(32,), settings=FEW)
    part = ladder_part(ladder_content(evidence, ["sort"]))
    assert not part.leads
    assert [section.name for section in part.sections] == ["collapse", "bound", "thresholds", "levels"]


def test_a_line_a_configuration_that_never_falls(small):
    for panel in small.first.panels:
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in panel.figure.data["lines"]:
            lines.setdefault(row["configuration"], []).append((row["w1"], row["risk"]))
        assert len(lines) == 2 * 2 * 3
        for points in lines.values():
            assert len(points) == 19 and points == sorted(points), points
        assert len(panel.figure.data["points"]) == 12 * 19
        (band,) = panel.figure.data["null"]
        assert 0 < band["to"] <= min(row["w1"] for row in panel.figure.data["points"]) + 1e-9


def test_the_metrics_are_the_menu(small):
    (choice,) = small.first.choices
    assert [value for value, _ in choice.options] == ["features", "contour", "edit"]
    assert {panel.group for panel in small.first.panels} == {"features", "contour", "edit"}


def test_floors_end_the_fitted_lines(small):
    found = section(small, "floors")
    assert len(found.panels) == 3
    for panel in found.panels:
        data = panel.figure.data
        assert len(data["measured"]) == 2 * 2 * 3
        for floor in data["floors"]:
            assert floor["low"] <= floor["risk"] <= floor["high"]
            line = [row["risk"] for row in data["fitted"] if row["model"] == floor["model"]]
            assert line == sorted(line, reverse=True) and line[-1] >= floor["risk"] - 1e-9


def test_the_waterfall_adds_up_to_the_bound(small):
    found = section(small, "bound")
    rows = found.panels[0].figure.data["terms"]
    bars: dict[tuple[str, str, str], list] = {}
    for row in rows:
        bars.setdefault((row["model"], row["axis"], row["which"]), []).append(row)
    assert len(bars) == 12 * 3 * 2
    for own in bars.values():
        terms = math.fsum(row["value"] for row in own if row["kind"] == "term")
        (total,) = [row["to"] for row in own if row["kind"] == "total"]
        assert total == pytest.approx(terms) and own[-1]["term"] == "measured risk"
    offered = [dict(choice.options).keys() for choice in found.choices]
    assert all(key in options for key_row in bars for key, options in zip(key_row, offered, strict=True))
    assert sum(row[2] for row in found.tables[0].rows) == 12 * 18  # every model at every level beyond training


def test_collapse_shows_training_and_the_farthest_depth_of_the_widest(small):
    for panel in section(small, "collapse").panels:
        rows = panel.figure.data["layers"]
        assert {row["level"] for row in rows} == {"training", "depth 9"}
        assert all(row["model"].endswith("width 64") for row in rows)


def test_levels_are_shares_at_every_level(small):
    found = section(small, "levels")
    assert {panel.group for panel in found.panels} == {value for value, _ in found.choices[0].options}
    for panel in found.panels:
        if "levels" in panel.figure.data:
            rows = panel.figure.data["levels"]
            assert len(rows) == 2 * 2 * 19 and all(0 <= row["value"] <= 1 for row in rows)


def test_figures_have_names_of_their_own_and_whole_numbers(small):
    names = [figure.name for figure in small.figures]
    assert len(names) == len(set(names))
    for figure in small.figures:
        json.dumps(figure.columns(), allow_nan=False)
        for rows in figure.data.values():
            assert all(rows[0].keys() == row.keys() for row in rows)


def test_every_template_fits_the_schema_and_is_drawn(small):
    import altair as alt
    import vl_convert

    kinds = {figure.kind: figure for figure in small.figures}
    assert len(kinds) == 3 + 1 + 3 + 1 + 2 + 1 + 5
    for kind, figure in kinds.items():
        alt.LayerChart.from_dict(dict(figure.template))
        if kind in ("risk, features", "bound", "floors"):  # the browser draws them all; this is the way to a file
            assert "aria-roledescription" in vl_convert.vegalite_to_svg(json.dumps(figure.spec()))


def test_claims_are_listed_once(small):
    names = [claim.title for claim in small.claims()]
    assert len(names) == len(set(names)) > 20
    assert {claim.title for claim in small.found.claims()} <= set(names)
