"""What all charts share so that they can be read at any width: ticks at whole numbers, legends that wrap, long titles.

Altair is imported when a chart is made, not before.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from lengthwise.figures.lazy import alt

WHOLE = "datum.value % 1 === 0"
LETTER, SYMBOL = 6.4, 34  # pixels of a letter of a legend, and of a symbol with what is left free around it
_TITLE = 36  # letters that a narrow chart has room for


def whole_axis(**settings: Any) -> Any:
    """An axis of whole numbers: no tick, line or label stands anywhere else.

    `tickMinStep` alone does not do it: Vega divides an axis from 0 to 1 or 2 in halves all the same, and the format
    `d` then writes 0, 1, 1, 2, 2.
    """
    only_whole = {"condition": {"test": WHOLE, "value": 1}, "value": 0}
    given = {"format": ",d", "tickMinStep": 1, "gridWidth": only_whole, "tickOpacity": only_whole, **settings}
    return alt.Axis(labelExpr=f"{WHOLE} ? datum.label : ''", **given)


def wrapping_legend(names: Iterable[object], most: int = 4, **settings: Any) -> Any:
    """A legend in as many columns, up to `most`, as the chart has room for whatever its width."""
    texts = [str(name) for name in names]
    wide = round(LETTER * max(map(len, texts), default=1) + SYMBOL)
    columns = alt.ExprRef(expr=f"max(1, min({max(1, min(most, len(texts)))}, floor(width / {wide})))")
    room = alt.ExprRef(expr="max(100, width - 20)")
    given = {"title": None, "orient": "bottom", "offset": 6, "symbolOpacity": 1, "labelLimit": room, **settings}
    return alt.Legend(columns=columns, **given)


def heat_colours(field: str, low: float, high: float, legend: Any, **scale: Any) -> dict[str, Any]:
    """The channels of the cells of a heat map: their colour, with a gradient below as its legend, and the same colour
    for their outline, without which seams would show between the cells.

    The outline's scale ends a hair above: two scales with one domain would share a legend, which then has symbols.
    """

    def scaled(end: float) -> Any:
        return alt.Scale(scheme="viridis", domain=[low, end], clamp=True, **scale)

    return {
        "color": alt.Color(f"{field}:Q", scale=scaled(high), legend=legend),
        "stroke": alt.Stroke(f"{field}:Q", scale=scaled(high * (1 + 1e-9)), legend=None),
    }


def gradient_below(title: str, length: int = 170, **settings: Any) -> Any:
    """A gradient that a narrow chart has room for."""
    return alt.Legend(title=title, orient="bottom", direction="horizontal", gradientLength=length, **settings)


def title_lines(text: str) -> str | list[str]:
    """The title of an axis in lines that a narrow chart has room for."""
    lines = textwrap.wrap(text, _TITLE)
    return lines if len(lines) > 1 else text
