"""A chart as a file: SVG, PNG, or a page that needs no network."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import replace_file, write_text

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{heading}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222; }}
#figure {{ overflow-x: auto; }}
</style>
</head>
<body>
<h1>{heading}</h1>
{words}
<div id="figure"></div>
<script>{bundle}</script>
<script>
vegaEmbed("#figure", {spec}, {{actions: {{export: true, source: false, compiled: false, editor: false}}}});
</script>
</body>
</html>
"""


def save_chart(path: Path, chart: Any, heading: str, paragraphs: Sequence[str]) -> None:
    """Write an altair chart as .svg, .png or .html, by the file's ending; a page also has a heading and some words.

    The file is whole or not there.
    """
    import vl_convert

    kind = path.suffix.lower()
    if kind == ".html":
        write_text(path, chart_html(chart, heading, paragraphs))
    elif kind == ".png":
        drawn = vl_convert.vegalite_to_png(chart.to_json(), scale=2)
        with replace_file(path) as part:
            part.write_bytes(drawn)
    elif kind == ".svg":
        write_text(path, vl_convert.vegalite_to_svg(chart.to_json()))
    else:
        raise UsageError(f"a figure is written to a .svg, .png or .html file, not to {path.name!r}")


def chart_html(chart: Any, heading: str, paragraphs: Sequence[str]) -> str:
    """A page with one chart. Names stay text: no `<` of theirs reaches the page unescaped."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # pyright: ignore[reportCallIssue]  # its stub lacks the default
    return _PAGE.format(
        heading=html.escape(heading),
        words="\n".join(f"<p>{html.escape(text)}</p>" for text in paragraphs),
        bundle=bundle.replace("</script", "<\\/script"),
        spec=chart.to_json(indent=None).replace("<", "\\u003c"),
    )
