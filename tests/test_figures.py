"""Figures: that they show the numbers they are given, keep curves apart, and need no network."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lengthwise.errors import UsageError
from lengthwise.figures import curve_chart, curve_svg
from lengthwise.figures.chart_files import chart_html
from lengthwise.figures.curves import save_figure
from lengthwise.probes.curve.curve import Curve, Point


def plain(position: str = "none", seed: int = 0, task: str = "sort", train_size: int = 2) -> dict[str, Any]:
    points = tuple(Point(n, n, 20, 20 - 5 * n, 20, 20 - 5 * n, 0.1, 0.25, 0.25) for n in (1, 2, 3, 4))
    return Curve(task, position, train_size, seed, points).plain()


def layers(*curves: dict[str, Any]) -> dict[str, Any]:
    return json.loads(curve_chart(curves).to_json())


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of data in a chart, where it stands by itself and where altair has named it."""
    rows = [row for data in spec.get("datasets", {}).values() for row in data]
    for part in (spec, *spec["layer"]):
        rows += part.get("data", {}).get("values", [])
    return rows


def test_the_numbers_are_those_of_the_curve() -> None:
    curve = plain()
    rows = {row["size"]: row for row in values(layers(curve)) if "exact" in row}
    assert set(rows) == {1, 2, 3, 4}
    for point in curve["points"]:
        row = rows[point["size"]]
        assert (row["exact"], [row["low"], row["high"]]) == (point["exact"], point["exact_interval"])
        assert (row["token"], row["chance"], row["items"]) == (point["token"], 0.25, 20)


def test_the_training_range_and_the_threshold_are_marked() -> None:
    rows = values(layers(plain(train_size=3)))
    assert {"from": 1, "to": 3, "label": "trained"} in rows
    assert {"y": 0.95} in rows


@pytest.mark.parametrize(
    ("curves", "names"),
    [
        ([plain("rope"), plain("alibi")], {"rope", "alibi"}),
        ([plain(seed=0), plain(seed=1)], {"seed 0", "seed 1"}),
        ([plain("rope", 0), plain("rope", 1), plain("alibi", 0)], {"rope, seed 0", "rope, seed 1", "alibi, seed 0"}),
        ([plain(task="sort"), plain(task="copy")], {"sort", "copy"}),
        ([plain(train_size=2), plain(train_size=4)], {"trained to 2", "trained to 4"}),
        ([plain("rope")], {"rope"}),
    ],
)
def test_curves_are_named_by_what_sets_them_apart(curves: list[dict[str, Any]], names: set[str]) -> None:
    assert {row["run"] for row in values(layers(*curves)) if "run" in row} == names


def test_titles() -> None:
    assert layers(plain("rope"))["title"] == "sort, position rope"
    assert layers(plain("rope"), plain("alibi"))["title"] == "sort"
    assert json.loads(curve_chart([plain()], "mine").to_json())["title"] == "mine"


def test_svg_text() -> None:
    picture = curve_svg([plain("rope"), plain("alibi")])
    assert picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    assert "exact match" in picture and "rope" in picture and "alibi" in picture


def test_more_curves_than_colours() -> None:
    many = [plain(seed=seed) for seed in range(11)]
    assert "seed 10" in curve_svg(many)


def test_a_page_needs_no_network() -> None:
    page = chart_html(curve_chart([plain("rope"), plain("alibi")], "<script>"), "a < b & c", ["d < e"])
    assert "<h1>a &lt; b &amp; c</h1>" in page and "<title>a &lt; b &amp; c</title>" in page
    assert "<p>d &lt; e</p>" in page and page.count("<script>") == 2, "names and words stay text"
    assert not re.search(r"<script[^>]+src=|<link[^>]+href=", page), "nothing is fetched by a tag"
    assert not re.search(r"import\s*\(?\s*[\"']https?:", page), "nor by a script"
    assert "vegaEmbed" in page and '"rope"' in page and '"alibi"' in page


def test_files_by_their_ending(tmp_path: Path) -> None:
    curves = [plain("rope")]
    for name in ("a.svg", "b.PNG", "c.html"):
        save_figure(tmp_path / name, curves, "a title")
    assert (tmp_path / "a.svg").read_text().startswith("<svg") and "a title" in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "b.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert "a title" in (tmp_path / "c.html").read_text()
    for name in ("d.pdf", "e"):
        with pytest.raises(UsageError, match=r"a figure is written to a \.svg, \.png or \.html file, not to"):
            save_figure(tmp_path / name, curves)
        assert not (tmp_path / name).exists()
