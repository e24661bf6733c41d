"""A spectrum: the squares of singular values by their number, and a curve fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.figures.style import PALETTE, alt, hover, whole_axis, wrapping_legend

_MOST = 200  # values that are drawn


def spectrum_chart(squares: Sequence[float], fitted: Sequence[float] = ()) -> Any:
    """An altair chart: points for s_1², s_2², …, and a line for the curve where there is one."""
    names = {"as found": squares, "exponential fit": fitted}
    rows = [
        {"number": number, "square": square, "what": what}
        for what, values in names.items()
        for number, square in enumerate(values[:_MOST], start=1)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("number:Q", title="number i", scale=alt.Scale(zero=True), axis=whole_axis()),
        y=alt.Y("square:Q", title="association s_i²", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color(
            "what:N",
            scale=alt.Scale(domain=list(names), range=list(PALETTE[:2])),
            legend=wrapping_legend(names) if fitted else None,
        ),
        tooltip=hover("number:Q", ("square:Q", "", ".4f"), "what:N"),
    )
    points = base.transform_filter("datum.what == 'as found'").mark_point(filled=True, size=36)
    line = base.transform_filter("datum.what == 'exponential fit'").mark_line()
    return alt.layer(line, points).properties(width=460, height=260)
