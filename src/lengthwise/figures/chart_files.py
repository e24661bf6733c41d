"""A chart as a file: SVG, PNG, or a page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.chart_page import chart_html
from lengthwise.figures.lazy import vl_convert
from lengthwise.outputs import replace_output, write_output


def save_chart(path: Path, chart: Any, heading: str, paragraphs: Sequence[str]) -> None:
    """Write an altair chart as .svg, .png or .html, by the file's ending; a page also has a heading and some words.

    The file is whole or not there.
    """
    kind = path.suffix.lower()
    if kind == ".html":
        write_output(path, chart_html(chart, heading, paragraphs))
    elif kind == ".png":
        drawn = vl_convert.vegalite_to_png(chart.to_json(), scale=2)
        with replace_output(path) as part:
            part.write_bytes(drawn)
    elif kind == ".svg":
        write_output(path, vl_convert.vegalite_to_svg(chart.to_json()))
    else:
        raise UsageError(f"a figure is written to a .svg, .png or .html file, not to {path.name!r}")
