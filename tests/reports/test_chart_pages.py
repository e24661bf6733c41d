"""Pages with one chart in a browser: they fit a phone, cut nothing off, and no tick is written twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lengthwise.cli import main
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.curves import curve_chart
from lengthwise.figures.plan_chart import plan_chart
from lengthwise.figures.plots import line_figure
from lengthwise.figures.spectrum import spectrum_chart
from lengthwise.figures.waterfall import waterfall_chart
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.records import Record
from lengthwise.reports.particles.phases import phase_chart
from lengthwise.reports.record_section import RecordPage, write_record_page

pytestmark = pytest.mark.system

PHONE, DESK = 390, 1280
FOUND = """(() => {
    const shown = text => text.textContent.trim() && text.getAttribute('opacity') !== '0';
    const found = {wide: document.documentElement.scrollWidth, axes: [], cut: [], drawings: 0};
    for (const svg of document.querySelectorAll('.panel svg, .plot svg')) {
        const box = svg.getBoundingClientRect();
        found.drawings += box.width > 100;
        for (const axis of svg.querySelectorAll('.role-axis'))
            found.axes.push([...axis.querySelectorAll('.role-axis-label text')].filter(shown).map(t => t.textContent));
        for (const text of [...svg.querySelectorAll('text')].filter(shown)) {
            const own = text.getBoundingClientRect();
            const across = Math.max(box.left - own.left, own.right - box.right);
            if (Math.max(across, box.top - own.top, own.bottom - box.bottom) > 1) found.cut.push(text.textContent);
        }
        const room = svg.closest('.panel, .plot').getBoundingClientRect();
        if (box.right > room.right + 1) found.cut.push('the drawing');
    }
    return found;
})()"""


def curves() -> Any:
    plain = []
    for position in ("learned+offset", "rope:base=500000", "alibi+randomized:limit=512"):
        points = tuple(Point(n, n, 20, 20 - 5 * n, 20, 20 - 5 * n, 0.1, 0.25, 0.25) for n in (1, 2, 3))
        plain.append(Curve("sort", position, 2, 0, points).plain())
    return curve_chart(plain)


def plan() -> Any:
    sizes = [10 ** (7 + step / 10) for step in range(61)]
    edges = [{"params": n, "level": level, "ratio": 100 / level} for level in (0.5, 1.0, 2.0, 10.8) for n in sizes]
    point = {"params": 7e9, "ratio": 280.0, "label": "7B on 2T tokens:\ngap 0.148 nats"}
    words = ["A long sentence about the gap between the training loss and its bound, in nats per token."] * 2
    return plan_chart(edges, point, 20.0, "How many tokens does a guarantee take?", words)


def phases() -> Any:
    rows = [
        {"d": d, "time": 10.0 * t, "beta": float(b), "share_pairs": 0.3 * t}
        for d in (2, 8)
        for t in range(4)
        for b in (1, 2)
    ]
    line = [{"time": 5.0 + t, "beta": t / 4} for t in range(8)]
    return phase_chart(rows, line, "share_pairs")


CHARTS: Mapping[str, Callable[[], Any]] = {
    "curves": curves,
    "plan": plan,
    "phases": phases,
    "spectrum": lambda: spectrum_chart([0.5, 0.2], [0.45, 0.2]),
    "waterfall": lambda: waterfall_chart([("on the data", 4.1), ("complexity", 0.137)], "nats per token " * 6, 4.2),
}


COMMANDS = {
    "shift": ["shift", "sort", "--from", "1-2", "--to", "3-4", "--items", "20", "--resamples", "20", "--quiet"],
    "density": ["particles", "density", "--beta", "1", "--cells", "60", "--time", "2", "--frames", "9", "--quiet"],
}


def written(name: str, path: Path) -> None:
    """The page of that name, by the command that makes it or from a chart."""
    if name in COMMANDS:
        assert main([*COMMANDS[name], "--figure", str(path)]) == 0
    else:
        save_chart(path, CHARTS[name](), "A chart with a heading of some length", ["Words about it."])


def check(found: Mapping[str, Any], width: int) -> None:
    assert found["wide"] <= width
    assert found["cut"] == [] and found["drawings"] >= 1
    for labels in found["axes"]:
        assert len(set(labels)) == len(labels), labels


@pytest.mark.parametrize("name", [*CHARTS, *COMMANDS])
def test_a_chart_fits_the_window(name: str, visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    written(name, path)
    for width, scheme in ((PHONE, "light"), (PHONE, "dark"), (DESK, "light")):
        opened = visit(path, viewport={"width": width, "height": 800}, color_scheme=scheme)
        check(opened.ask(FOUND), width)
        assert opened.complaints == []


def test_panels_stand_side_by_side_where_there_is_room(visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    written("phases", path)
    tops = "[...document.querySelectorAll('.panel')].map(panel => panel.getBoundingClientRect().top)"
    assert len(set(visit(path, viewport={"width": DESK, "height": 800}).ask(tops))) == 1
    assert len(set(visit(path, viewport={"width": PHONE, "height": 800}).ask(tops))) == 2


def test_a_chart_follows_the_window(visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    written("curves", path)
    opened = visit(path, viewport={"width": DESK, "height": 800})
    opened.page.set_viewport_size({"width": PHONE, "height": 800})
    opened.wait(f"document.documentElement.scrollWidth <= {PHONE}")
    opened.wait("document.querySelector('.panel svg').getBoundingClientRect().width < 360")
    check(opened.ask(FOUND), PHONE)


@pytest.mark.parametrize("layers", [1, 2, 3, 12])
def test_the_figures_of_a_record_fit_and_count_layers_once(layers: int, visit: Any, tmp_path: Path) -> None:
    series = {name: [(x, 1.0 + x) for x in range(layers + 1)] for name in ("least", "greatest")}
    figure = line_figure("s.norms", "Norms", "words", ("blocks passed", "norm"), series)
    path = write_record_page(RecordPage("m", (), (), (Record("s", figures=(figure,)),)), tmp_path / "i.html")
    for width in (PHONE, DESK):
        opened = visit(path, "?all", viewport={"width": width, "height": 800}, color_scheme="dark")
        opened.wait("document.querySelectorAll('.plot[data-drawn]').length === 1")
        found = opened.ask(FOUND)
        check(found, width)
        assert {label for labels in found["axes"] for label in labels} >= {"0", str(layers)}


def test_no_axis_of_the_reports_writes_a_tick_twice(visit: Any, ladder_report: Path, report: Path) -> None:
    for path in (ladder_report, report):
        for width in (PHONE, DESK):
            opened = visit(path, "?all", viewport={"width": width, "height": 800})
            found = opened.ask(FOUND)
            assert found["wide"] <= width
            for labels in found["axes"]:
                assert len(set(labels)) == len(labels), labels
