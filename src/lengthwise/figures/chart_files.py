"""A chart as a file: SVG, PNG, or a page that needs no network and fits the window, on a phone as on a desk.

A chart has the size that its author gave it, and charts side by side are as wide as all of them. So the page takes a
chart apart: every panel is drawn by itself, as wide as its place, and places stand below each other where there is no
room for two in a row; titles become text of the page, which the browser wraps.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.design import light_sheet
from lengthwise.figures.drawing import png_of, svg_of
from lengthwise.figures.policy import bundle, policy
from lengthwise.outputs import replace_output, write_output

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title>
<style>{style}</style>
</head>
<body>
<h1>{heading}</h1>
{words}
{above}
<div class="panels" id="figure">
{panels}
</div>
{below}
<script type="application/json" id="chart-data">{data}</script>
<script>{bundle}</script>
<script>{script}</script>
</body>
</html>
"""
_SHARED = ("$schema", "config", "datasets", "background", "padding")
_SIDE_BY_SIDE = ("hconcat", "concat")


def save_chart(path: Path, chart: Any, heading: str, paragraphs: Sequence[str]) -> None:
    """Write an altair chart as .svg, .png or .html, by the file's ending; a page also has a heading and some words.

    The file is whole or not there.
    """
    kind = path.suffix.lower()
    if kind == ".html":
        write_output(path, chart_html(chart, heading, paragraphs))
    elif kind == ".png":
        drawn = png_of(chart.to_json())
        with replace_output(path) as part:
            part.write_bytes(drawn)
    elif kind == ".svg":
        write_output(path, svg_of(chart.to_json()))
    else:
        raise UsageError(f"a figure is written to a .svg, .png or .html file, not to {path.name!r}")


def chart_html(chart: Any, heading: str, paragraphs: Sequence[str]) -> str:
    """A page with one chart. Names stay text: no `<` of theirs reaches the page unescaped."""
    spec = chart.to_dict()
    row = next((name for name in (*_SIDE_BY_SIDE, "vconcat") if name in spec), None)
    title = spec.get("title") if row else None
    below = isinstance(title, Mapping) and title.get("orient") == "bottom"
    panels = spec[row] if row else [spec]
    wide = "" if row in _SIDE_BY_SIDE else " wide"
    places = [
        f'<div class="panel{wide}">{_titled(panel.get("title"), "h3")}<div id="panel-{number}"></div></div>'
        for number, panel in enumerate(panels)
    ]
    data = {
        "shared": {name: spec[name] for name in _SHARED if name in spec},
        "panels": [_fitted(panel) for panel in panels],
    }
    style = light_sheet() + _own("chart_page.css")
    scripts = bundle(), _own("chart_page.js")
    return _PAGE.format(
        policy=policy(style, scripts),
        heading=html.escape(heading),
        style=style,
        words="\n".join(f"<p>{html.escape(text)}</p>" for text in paragraphs),
        above="" if below else _titled(title, "h2"),
        panels="\n".join(places),
        below=_titled(title, "p") if below else "",
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        bundle=scripts[0],
        script=scripts[1],
    )


def _fitted(panel: Mapping[str, Any]) -> dict[str, Any]:
    """The panel without its title, as wide as the place it is drawn into."""
    left_out = {"title", *_SHARED}
    fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**{name: value for name, value in panel.items() if name not in left_out}, **fit}


def _titled(given: Any, tag: str) -> str:
    """A title of Vega-Lite (a text, lines, or these with lines below them in smaller letters) as an element."""
    text, notes = (given.get("text"), given.get("subtitle")) if isinstance(given, Mapping) else (given, ())
    if not text:
        return ""
    note = ' class="note"' if tag == "p" else ""
    words = "".join(f'<p class="note">{html.escape(line)}</p>' for line in _lines(notes))
    return f"<{tag}{note}>{html.escape(' '.join(_lines(text)))}</{tag}>{words}"


def _lines(text: str | Sequence[str] | None) -> Sequence[str]:
    return [text] if isinstance(text, str) else text or ()


def _own(name: str) -> str:
    return files("lengthwise.figures").joinpath(name).read_text(encoding="utf-8")
