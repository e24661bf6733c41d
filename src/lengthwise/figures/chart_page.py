"""A page with one chart that fits the window, on a phone as on a desk.

A chart has the size that its author gave it, and charts side by side are as wide as all of them. So the page takes a
chart apart: every panel is drawn by itself, as wide as its place, and places stand below each other where there is no
room beside; titles become text of the page, which the browser wraps.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from lengthwise.figures.policy import bundle, policy

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
body { color: #222; background: #fff; }
h1, h2, h3, p { overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
h3 { font-size: .95rem; margin: .75rem 0 .25rem; }
.note { color: #555; font-size: .9rem; margin: 0 0 .25rem; }
.panels { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.panel { flex: 1 1 17rem; min-width: 0; }
.panel.wide { flex-basis: 28rem; max-width: 46rem; }
.panel .vega-embed { display: block; width: 100%; }
.vega-actions a { margin-right: 1rem; }
.vg-tooltip { position: fixed; visibility: hidden; padding: 8px; background: #fff; border: 1px solid #bbb; }
.vg-tooltip.visible { visibility: visible; }
"""

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
_ROWS = ("hconcat", "concat", "vconcat")
_SIDE_BY_SIDE = ("hconcat", "concat")


@dataclass(frozen=True)
class _Title:
    """The words of a title, and those below it in smaller letters."""

    text: str = ""
    notes: tuple[str, ...] = ()
    below: bool = False  # it stands below the chart


def chart_html(chart: Any, heading: str, paragraphs: Sequence[str]) -> str:
    """A page with one chart. Names stay text: no `<` of theirs reaches the page unescaped."""
    spec = chart.to_dict()
    row = next((name for name in _ROWS if name in spec), None)
    title = _title(spec.get("title")) if row else _Title()
    panels = spec[row] if row else [spec]
    wide = row not in _SIDE_BY_SIDE
    data = {
        "shared": {name: spec[name] for name in _SHARED if name in spec},
        "panels": [_fitted(panel) for panel in panels],
    }
    scripts = bundle(), files("lengthwise.figures").joinpath("chart_page.js").read_text(encoding="utf-8")
    return _PAGE.format(
        policy=policy(_STYLE, scripts),
        heading=html.escape(heading),
        style=_STYLE,
        words="\n".join(f"<p>{html.escape(text)}</p>" for text in paragraphs),
        above="" if title.below else _titled(title, "h2"),
        panels="\n".join(_place(number, panel, wide) for number, panel in enumerate(panels)),
        below=_titled(title, "p") if title.below else "",
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        bundle=scripts[0],
        script=scripts[1],
    )


def _fitted(panel: Mapping[str, Any]) -> dict[str, Any]:
    """The panel without its title, as wide as the place it is drawn into."""
    left_out = {"title", *_SHARED}
    fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**{name: value for name, value in panel.items() if name not in left_out}, **fit}


def _place(number: int, panel: Mapping[str, Any], wide: bool) -> str:
    title = _title(panel.get("title"))
    return f'<div class="panel{" wide" * wide}">{_titled(title, "h3")}<div id="panel-{number}"></div></div>'


def _title(given: Any) -> _Title:
    """A title of Vega-Lite: a text, lines, or these with lines below them."""
    if given is None:
        return _Title()
    if not isinstance(given, Mapping):
        return _Title(_joined(given))
    notes = given.get("subtitle") or []
    notes = [notes] if isinstance(notes, str) else notes
    return _Title(_joined(given.get("text", "")), tuple(notes), given.get("orient") == "bottom")


def _joined(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


def _titled(title: _Title, tag: str) -> str:
    if not title.text:
        return ""
    note = ' class="note"' if tag == "p" else ""
    words = "".join(f'<p class="note">{html.escape(text)}</p>' for text in title.notes)
    return f"<{tag}{note}>{html.escape(title.text)}</{tag}>{words}"
