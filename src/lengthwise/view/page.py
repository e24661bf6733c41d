"""The page itself: one document, its style and scripts as files next to it, and the figures that it draws live.

The same files are served and written as a static copy. Nothing in them comes from a run: names reach the page as JSON,
and its script writes them as text.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from importlib.resources import files
from typing import Any

from lengthwise.errors import LengthwiseError
from lengthwise.figures.plots import line_figure
from lengthwise.figures.policy import bundle
from lengthwise.figures.style import wrapping_legend
from lengthwise.messages import explain, sentence
from lengthwise.records import Figure
from lengthwise.reports.record_section import asset, figure_data, marked, page_style, page_templates, script_safe

# What a browser may do with the page. Its scripts and styles are files of the same origin; it brings none inside.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
VEGA = "vega.js"
_SCRIPTS = ("source.js", "table.js", "charts.js", "opened.js", "view.js")

explain(
    {
        "view.curves": "Exact match by size",
        "view.curves_words": "One line per run: the share of items of each size that are answered exactly.",
        "view.losses": "Training loss by step",
        "view.losses_words": "One line per run: the mean training loss between two checks.",
    }
)


def page_html(shown: str, bundled: bool) -> str:
    """The document; `shown` is the name of the folder, and a static copy (`bundled`) reads its data from files."""
    compared, opened = _live_figures(), _live_figures()
    figures = [*compared, *opened]
    data = {**figure_data(figures), "tables": {}, "live": True}
    values = {"folder": shown, "bundled": bundled, "compared": compared, "opened": opened, "policy": POLICY}
    text = page_templates(figures).from_string(_own("view.html.jinja")).render(data=marked(script_safe(data)), **values)
    return text.encode("utf-8", "replace").decode("utf-8")


def page_files() -> dict[str, tuple[str, str]]:
    """Name, type and text of the files that the document names, without Vega."""
    style = page_style("records") + _own("view.css")
    scripts = {"page.js": asset("page.js"), **{name: _own(name) for name in _SCRIPTS}}
    return {"view.css": ("text/css", style), **{name: ("text/javascript", text) for name, text in scripts.items()}}


class Vega:
    """The library that draws figures. Putting it together takes seconds, so that begins when this is made, while the
    server starts."""

    def __init__(self) -> None:
        self._made: Future[bytes] = Future()
        threading.Thread(target=self._make, daemon=True).start()

    def _make(self) -> None:
        try:
            self._made.set_result(bundle().encode())
        except LengthwiseError as error:
            self._made.set_exception(error)

    def text(self) -> bytes:
        """The script, once it is there."""
        return self._made.result()


def _live_figures() -> list[Figure]:
    """Figures without data, which the page's script fills."""
    curves = _live_figure("view.curves", ("size", "exact match"))
    losses = _live_figure("view.losses", ("step", "training loss"))
    curves.template["encoding"]["y"] |= {"scale": {"domain": [0, 1]}, "axis": {"format": "%", "tickCount": 5}}
    return [curves, losses]


def _live_figure(key: str, axes: tuple[str, str]) -> Figure:
    drawn = line_figure(key, sentence(key), sentence(f"{key}_words"), axes, {})
    template: dict[str, Any] = json.loads(json.dumps(drawn.template))
    template["mark"] |= {"tooltip": True, "point": {"size": 16}}
    names: Mapping[str, Any] = {"legend": wrapping_legend((), 1, symbolType="stroke"), "sort": None}
    template["encoding"]["color"] |= names
    return Figure(key, template, drawn.data, drawn.title, drawn.words)


def _own(name: str) -> str:
    return files("lengthwise.view").joinpath("assets", name).read_text(encoding="utf-8")
