"""One design sheet: pages, figures and the documentation take their colours, type and distances from it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import lengthwise
from lengthwise.figures import design
from lengthwise.figures.style import PAGE_INK, PALETTE, PAPER_INK, config
from lengthwise.reports.record_section import page_style

PACKAGE = Path(lengthwise.__file__).parent
ROOT = PACKAGE.parent.parent
SHEET = PACKAGE / "figures" / "design.css"
ROOMS = ("figures", "reports", "view", "analyses", "shift", "geometry")
SOURCES = sorted(
    path for room in ROOMS for path in (PACKAGE / room).rglob("*") if path.suffix in (".py", ".js", ".css", ".jinja")
)
STYLES = [path for path in SOURCES if path.suffix == ".css" and path != SHEET]
# `&#39;` is a character and `#answer` a place in the page, not colours.
COLOUR = re.compile(r"(?<![&\w])#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b(?![-\w])|\b(?:rgb|hsl)a?\(")


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", [path for path in SOURCES if path != SHEET], ids=name_of)
def test_only_the_sheet_names_colours(path: Path) -> None:
    assert COLOUR.findall(path.read_text(encoding="utf-8")) == []


def test_a_colour_would_be_seen() -> None:
    for text in ("color: #fff;", '"#0072B2"', "rgb(0 0 0 / .2)", "fill:#12345678", "hsla(0, 0%, 0%, 1)"):
        assert COLOUR.search(text), text
    for text in ("&#39;", "#answer .plot", "#found", "#decade-1", "href='#map'"):
        assert not COLOUR.search(text), text


@pytest.mark.parametrize("path", STYLES, ids=name_of)
def test_type_and_distances_come_from_the_sheet(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"font-size: [\d.]+(?:rem|pt)", text) == []
    assert re.findall(r"(?:margin|padding|gap)[\w-]*:[^;}]*[\d.]+rem", text) == []
    assert "system-ui" not in text and "monospace" not in text


@pytest.mark.parametrize("path", STYLES, ids=name_of)
def test_every_name_that_a_style_uses_is_in_the_sheet(path: Path) -> None:
    used = set(re.findall(r"var\(--([\w-]+)", path.read_text(encoding="utf-8")))
    assert used <= set(design.values())


def test_the_sheet_leads_every_page() -> None:
    assert page_style("records").startswith(design.sheet())
    assert "(prefers-color-scheme: dark)" not in design.light_sheet() and "@media print" in design.light_sheet()


def test_the_dark_scheme_changes_colours_and_nothing_else() -> None:
    light, dark = design.values("light"), design.values("dark")
    changed = {name for name in light if light[name] != dark[name]}
    assert set(dark) == set(light) and {"paper", "ink", "link"} <= changed
    assert all(COLOUR.match(light[name]) for name in changed)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    shares = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_series_can_be_seen_on_dark_panels_and_are_on_paper_what_they_are_in_light() -> None:
    light, dark, paper = (design.values(scheme) for scheme in ("light", "dark", "print"))
    names = [f"series-{number}" for number in range(1, 9)]
    ground = luminance(dark["raised"])
    assert min((luminance(dark[name]) + 0.05) / (ground + 0.05) for name in names) >= 4.5
    assert len({dark[name] for name in names}) == 8 and all(paper[name] == light[name] for name in names)


def test_figures_have_the_colours_and_the_font_of_the_sheet() -> None:
    sheet = design.values()
    assert [sheet[f"series-{number}"] for number in range(1, 9)] == PALETTE and len(set(PALETTE)) == 8
    assert config(PAGE_INK)["range"]["category"] == [f"var(--series-{number})" for number in range(1, 9)]
    assert config(PAPER_INK)["font"] == sheet["font"] and config(PAPER_INK)["text"]["color"] == sheet["paper-ink"]


def test_the_documentation_has_the_colours_type_and_distances_of_the_sheet() -> None:
    options = runpy.run_path(str(ROOT / "docs" / "conf.py"))["html_theme_options"]
    for scheme in ("light", "dark"):
        given, sheet = options[f"{scheme}_css_variables"], design.values(scheme)
        assert given["color-brand-primary"] == sheet["link"] and given["font-stack"] == sheet["font"]
        assert given["color-background-primary"] == sheet["paper"] and given["color-foreground-primary"] == sheet["ink"]
        assert given["font-size--small"] == sheet["type-small"] and given["toc-spacing-vertical"] == sheet["space-5"]
