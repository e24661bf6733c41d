"""The page of an inspection: one HTML file without a script, its pictures drawn in it, in the look of the reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lengthwise.figures.layout import title_lines, whole_axis, wrapping_legend
from lengthwise.figures.policy import policy
from lengthwise.inspection.content import Inspection, Picture
from lengthwise.reports.claims import claim_rows
from lengthwise.reports.drawing import WIDTH, drawn_svg
from lengthwise.reports.page import asset, marked, pieces
from lengthwise.reports.page_file import write_page_file
from lengthwise.reports.table_cells import numeric, shown


def write_inspection(inspection: Inspection, path: Path) -> Path:
    """Write the page, whole or not at all."""
    return write_page_file(path, render_inspection(inspection))


def render_inspection(inspection: Inspection) -> str:
    """The page as text. All text of it is escaped by Jinja; pictures are drawn by Vega, which escapes theirs."""
    import jinja2

    style = asset("page.css") + asset("inspection.css")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(pieces=pieces, shown=shown, pythonid=id)
    text = environment.from_string(asset("inspection.html.jinja")).render(
        inspection=inspection,
        claims={section.name: claim_rows(section.claims) for section in inspection.sections},
        numeric={id(table): numeric(table) for s in inspection.sections for table in (*s.tables, *s.details)},
        drawings={id(picture): _drawn(picture) for s in inspection.sections for picture in s.pictures},
        style=marked(style),
        policy=policy(style, ()),
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # a file's name may hold what UTF-8 cannot


def _drawn(picture: Picture) -> Any:
    """The picture as SVG that takes its ink from the page."""
    return marked(drawn_svg(_lines(picture) if picture.kind == "lines" else _heat(picture)))


def _lines(picture: Picture) -> Any:
    import altair as alt

    rows = [row for row in picture.rows if picture.logarithmic != "y" or float(row["y"] or 0.0) > 0]
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    across = alt.Scale(type="log", base=2, nice=False) if picture.logarithmic == "x" else alt.Scale(nice=False)
    upward = alt.Scale(type="log", nice=False) if picture.logarithmic == "y" else alt.Scale(zero=True)
    legend = wrapping_legend(series) if len(series) > 1 else None
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("x:Q", title=title_lines(picture.x), scale=across, axis=whole_axis()),
            y=alt.Y("y:Q", title=title_lines(picture.y), scale=upward),
            color=alt.Color("series:N", legend=legend, sort=series),
        )
        .properties(width=WIDTH, height=220)
    )


def _heat(picture: Picture) -> Any:
    import altair as alt

    across = {row["x"] for row in picture.rows}
    return (
        alt.Chart(alt.Data(values=list(picture.rows)))
        .mark_rect()
        .encode(
            x=alt.X("x:O", title=picture.x, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("y:O", title=picture.y),
            color=alt.Color("value:Q", title="", scale=alt.Scale(scheme="viridis", zero=True)),
        )
        .properties(width=max(120, min(WIDTH, 34 * len(across))), height=alt.Step(16))
    )
