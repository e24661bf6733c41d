"""The figures: valid Vega-Lite, made of the numbers, and written as files for a paper."""

from __future__ import annotations

import json
import re

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent, read_content
from lengthwise.analyses.curves import MOST_SIZES, CurvesAnalysis, cell_curve, curve_panels
from lengthwise.analyses.layout import PageLayout
from lengthwise.analyses.reach import LIGHT_FROM, heat_map
from lengthwise.analyses.seeds import seed_strips
from lengthwise.analyses.training import MOST_LINES, drawn_runs, training_panels
from lengthwise.errors import UsageError
from lengthwise.figures.style import packed, paper_spec, rounded, thinned
from lengthwise.reports.figure_files import safe_name, save_figures

EVERY = ["reach", "curves", "agreement", "published", "seeds", "training", "comparisons"]
WITH_ALL = {"analyses": EVERY}


def all_figures(study):
    return [figure for record in analyse(study) for figure in record.figures]


def by_template(study):
    """One figure of each kind, by its kind and what its template draws."""
    found = {json.dumps(figure.template, sort_keys=True): figure for figure in all_figures(study)}
    return list(found.values())


def test_every_template_fits_the_schema(content_of):
    facts = {"published": [{"encoding": "x", "bins": [[1, 20], [21, 40]], "exact_match": [100, 80]}]}
    table = {("a", "x"): [60, 50], ("a", "y"): [20, 30], ("b", "x"): [20, 20]}
    figures = by_template(content_of(table, tasks={"a": facts}, study=WITH_ALL))
    kinds = sorted(figure.key.partition(".")[0] for figure in figures)
    assert kinds == ["curves", "curves", "heat_map", "predictions", "seeds", "training", "training"]
    for figure in figures:
        alt.LayerChart.from_dict(dict(figure.template))  # raises where the schema is not met


def test_a_template_holds_no_name_but_in_the_lists_of_its_scales(content_of, hostile):
    """A name in an expression, or as the name of a field, would be read as more than text."""

    def stray(part, inside=""):
        if isinstance(part, dict):
            return [found for key, value in part.items() for found in stray(value, key)]
        if isinstance(part, list):
            return [] if inside == "domain" else [found for value in part for found in stray(value, inside)]
        return [part] if isinstance(part, str) and part in hostile else []

    content = content_of({(name, name): [60, 20] for name in hostile}, study=WITH_ALL)
    templates = [dict(figure.template) for figure in by_template(content)]
    assert len(templates) == 6 and [found for template in templates for found in stray(template)] == []
    assert stray({"field": [hostile[0]]}) == [hostile[0]]


def test_no_name_gets_into_an_expression_when_vega_lite_is_compiled(content_of, hostile):
    """A line separator in a name, quoted into an expression, cannot be parsed."""
    import vl_convert

    names = [name for name in hostile if "\u2028" in name]
    content = content_of({(name, name): [60, 20] for name in (*names, "b")}, study=WITH_ALL)
    for figure in by_template(content):
        vl_convert.vegalite_to_vega(paper_spec(figure))


def test_a_cell_of_the_heat_map_says_what_it_is(content_of):
    table = {("a", "x"): [60, 60], ("a", "y"): [20, 24], ("b", "x"): [30], ("b", "y"): [None]}
    content = content_of(table, unlearned=[("b", "x")], others={("c", "x"): "waiting"})
    data = heat_map(content).data
    texts = {(row["row"], row["encoding"]): (row["text"], row["state"]) for group in data.values() for row in group}
    assert texts == {
        ("a", "x"): ("≥3.0", "learned"),
        ("a", "y"): ("1.1", "learned"),
        ("b", "x"): ("not learned", data["hatched"][0]["state"]),
        ("b", "y"): ("failed", "failed"),
        ("c", "x"): ("waiting", "waiting"),
    }
    assert [(row["row"], row["encoding"]) for row in data["hatched"]] == [("b", "x")]
    assert [row["ink"] for row in data["learned"]] == ["dark", "light"]
    assert [row["value"] for row in data["learned"]] == [3.0, 1.1]


def test_numbers_in_the_heat_map_contrast_with_viridis():
    """WCAG's contrast of the two inks, on the palette as Vega has it."""
    import vl_convert

    def luminance(colour):
        parts = [int(part) / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    values = [{"v": share / 20, "at": share} for share in range(21)]
    encoding = {"x": {"field": "at", "type": "ordinal"}, "color": {"field": "v", "type": "quantitative"}}
    encoding["color"]["scale"] = {"scheme": "viridis", "domain": [0, 1]}
    svg = vl_convert.vegalite_to_svg({"data": {"values": values}, "mark": "rect", "encoding": encoding})
    colours = re.findall(r'aria-roledescription="rect mark"[^>]*fill="rgb\((\d+), (\d+), (\d+)\)"', svg)
    assert len(colours) == 21
    for share, colour in enumerate(colours):
        ink = 0.0 if share / 20 > LIGHT_FROM else 1.0  # black or white
        light, dark = sorted((luminance(colour), ink), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, share


def test_the_curve_of_a_cell_is_the_mean_with_least_and_greatest(content_of):
    content = content_of({("a", "x"): [60, 20]})
    shares = {share.size: share for share in cell_curve(content.cells[0])}
    assert (shares[10].mean, shares[10].low, shares[10].high, shares[10].seeds) == (1.0, 1.0, 1.0, 2)
    assert (shares[40].mean, shares[40].low, shares[40].high) == (pytest.approx(0.55), 0.1, 1.0)


def test_the_band_of_one_seed_is_wilsons(content_of):
    share = cell_curve(content_of({("a", "x"): [60]}).cells[0])[0]
    assert share.mean == share.high == 1.0 and share.low == pytest.approx(0.963, abs=1e-3)


def test_long_curves_are_thinned_and_it_is_said(content_of):
    content = content_of({("a", "x"): [60]}, test_size=500)
    sizes = [share.size for share in cell_curve(content.cells[0])]
    assert len(sizes) == MOST_SIZES and sizes[0] == 1 and sizes[-1] == 500
    more = PageLayout.of(CurvesAnalysis().analyse(content)).notes
    usual = PageLayout.of(CurvesAnalysis().analyse(content_of({("a", "x"): [60]}))).notes
    assert len(more) == len(usual) + 1


def test_published_bins_are_in_training_lengths(content_of):
    facts = {"published": [{"encoding": "x", "bins": [[1, 50], [51, 100]], "exact_match": [100, 80], "reference": "r"}]}
    table = {("a", "x"): [60], ("a", "y"): [60]}
    (panel,) = curve_panels(content_of(table, tasks={"a": facts}))
    assert panel.data["published"] == [], "after training to 20, values after training to 50 are not alike"
    (panel,) = curve_panels(content_of(table, train_size=50, test_size=100, tasks={"a": facts}))
    bars = panel.data["published"]
    assert [(bar["from"], bar["to"], bar["exact"]) for bar in bars] == [(0, 1.0, 1.0), (1.0, 2.0, 0.8)]
    assert {bar["encoding"] for bar in bars} == {"x"} and bars[1]["source"] == "r, sizes 51 to 100"


def test_seeds_are_kept_or_discarded_and_lower_bounds_are_marked(content_of):
    content = content_of({("a", "x"): [60, 30], ("a", "y"): [10, 10]}, unlearned=[("a", "y")])
    (strip,) = seed_strips(content)
    points = [(row["encoding"], row["kept"], row["filled"] > 0, row["bound"]) for row in strip.data["seeds"]]
    assert points == [
        ("x", "kept", True, "at least"),
        ("x", "kept", True, "reach"),
        ("y", "discarded", False, "reach"),
        ("y", "discarded", False, "reach"),
    ]
    assert seed_strips(content_of({("a", "x"): [60]})) == []


def test_training_curves_are_capped(content_of):
    few = content_of({("a", "x"): [60, 20]})
    assert len(drawn_runs(few)) == 2 and len(training_panels(few)) == 2
    many = content_of({(f"t{number}", "x"): [20, 20] for number in range(200)}, test_size=20)
    assert len(drawn_runs(many)) == 200 and {run.seed for run in drawn_runs(many)} == {0}
    more = content_of({(f"t{number}", "x"): [20] for number in range(300)}, test_size=20)
    assert len(drawn_runs(more)) == MOST_LINES


def test_a_small_loss_is_not_rounded_to_nought(content_of):
    """The axis is logarithmic."""
    panel = training_panels(content_of({("a", "x"): [60]}))[0]
    assert packed(panel)["steps"]["value"] == [1.0, 2e-5]


@given(st.floats(-1e6, 1e6))
def test_rounding_stays_close(value):
    assert rounded(value) == pytest.approx(value, rel=5e-3, abs=5e-324) and (rounded(value) == 0) == (value == 0)


@given(st.lists(st.integers(), max_size=300), st.integers(2, 50))
def test_thinning_keeps_the_ends_and_the_order(values, most):
    places = thinned(list(range(len(values))), most)
    assert len(places) == min(most, len(values)) and places == sorted(set(places))
    assert places[:1] == list(range(len(values)))[:1] and places[-1:] == list(range(len(values)))[-1:]


def test_columns_are_the_rows(study):
    for figure in all_figures(read_content(study)):
        for name, rows in figure.data.items():
            columns = packed(figure)[name]
            for key, column in columns.items():
                values = [column["texts"][at] for at in column["places"]] if isinstance(column, dict) else column
                for row, value in zip(rows, values, strict=True):
                    assert value == (rounded(row[key]) if isinstance(row[key], float) else row[key])
            assert set(columns) == {key for row in rows for key in row}


def test_a_study_without_runs_has_no_figures():
    assert all_figures(StudyContent("empty", ())) == []


def test_figures_are_written_as_svg_png_and_pdf(tmp_path, synthetic_study, hostile):
    folder = synthetic_study(tmp_path / "s", [hostile[1]], ["none", hostile[0]], seeds=1, failed=0)
    paths = save_figures(analyse(read_content(folder)), tmp_path / "figures" / "deep")
    assert len(paths) == 3 * 5 and sorted((tmp_path / "figures" / "deep").iterdir()) == sorted(paths)
    starts = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}
    for path in paths:
        assert path.read_bytes().startswith(starts[path.suffix]) and path.stat().st_size > 2000
        assert re.fullmatch(r"[A-Za-z0-9._+-]+", path.name)
    svg = next(path for path in paths if path.name.startswith("curves") and path.suffix == ".svg").read_text()
    assert "<img" not in svg and "<script" not in svg and "&lt;img" in svg


def test_a_folder_that_cannot_be_written_is_a_usage_error(study, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write figures"):
        save_figures(analyse(read_content(study))[:1], tmp_path / "file" / "figures")


@given(st.lists(st.text(), max_size=20))
def test_file_names_are_safe_and_unlike(names):
    taken: set[str] = set()
    made = [safe_name(name, taken) for name in names]
    assert len({name.lower() for name in made}) == len(names)
    for name in made:
        assert re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*", name) and len(name) < 120
