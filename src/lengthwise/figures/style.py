"""The look that all figures share, in a page, in a file and on paper.

Names that users gave are in the data of a figure, never in its template, so figures of one kind can share a template.
The page and the files for a paper are made from the same figure: in the page a script puts the columns back into rows,
here `paper_spec` does.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from lengthwise.figures import design
from lengthwise.records import Figure


class _Lazy:
    """A module that takes a second to import, so it is imported when the first chart is made, not before."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


alt: Any = _Lazy("altair")

PALETTE = design.series("series", 8)
DASHES = [[1, 0], [6, 2], [2, 2], [8, 2, 2, 2]]
# Text and lines of the page follow its colour scheme; a file is read on paper.
PAGE_INK, PAPER_INK, GREY = "currentColor", design.value("paper-ink"), design.value("grey")
_LETTER, _SYMBOL = 6.4, 34  # pixels of a letter of a legend, and of a symbol with the space around it
_TITLE = 36  # letters that a narrow chart has room for
_WHOLE = "datum.value % 1 === 0"


def paper_spec(figure: Figure) -> dict[str, Any]:
    """A whole figure as Vega-Lite, for paper."""
    titled = {"text": figure.title, "limit": 600}
    data = {name: list(rows) for name, rows in figure.data.items()}
    return {**figure.template, "title": titled, "datasets": data, "config": config(PAPER_INK), "background": "white"}


def packed(figure: Figure) -> dict[str, dict[str, Any]]:
    """The data of a figure by columns: texts as indices into the list of different texts, numbers rounded."""
    return {
        name: {column: _packed([row[column] for row in rows]) for column in (rows[0] if rows else ())}
        for name, rows in figure.data.items()
    }


def _packed(values: list[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return [rounded(value) if isinstance(value, float) else value for value in values]
    texts = {text: place for place, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(texts), "places": [texts[value] for value in values]}


def rounded(value: float) -> float:
    """Four decimals, or three digits of a number so small that a logarithmic axis would miss the others."""
    return round(value, 4) if abs(value) >= 0.01 or not value else float(f"{value:.3g}")


def thinned(values: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of the values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def template_of(chart: Any) -> dict[str, Any]:
    """A chart as Vega-Lite. The schema is left to the tests, as checking it takes longer than all the rest."""
    return chart.to_dict(validate=False)


def config(ink: str) -> dict[str, Any]:
    """Fonts and colours. On a page, colours that tell series apart follow its colour scheme as its ink does; on paper,
    the black of the palette is the ink."""
    palette = [ink if colour == design.value("on-light") else colour for colour in PALETTE]
    if ink == PAGE_INK:
        palette = [f"var(--series-{place})" for place in range(1, len(PALETTE) + 1)]
    text = {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    grid = {"gridColor": GREY, "gridOpacity": 0.22, "domainColor": GREY, "tickColor": GREY}
    return {
        "font": design.value("font"),
        "background": "transparent",
        "view": {"stroke": None},
        "axis": {**text, **grid, "labelLimit": 230},
        "legend": {**text, "labelLimit": 260, "symbolStrokeWidth": 2.5},
        "title": {"color": ink, "fontSize": 13, "anchor": "start", "fontWeight": 600},
        "text": {"color": ink},
        "range": {"category": palette},
    }


# --- axes, legends and colours, which can be read at any width --------------------------------------------------------


def whole_axis(**settings: Any) -> dict[str, Any]:
    """An axis of whole numbers: no tick, line or label stands anywhere else.

    `tickMinStep` alone does not do it: Vega divides an axis from 0 to 1 or 2 in halves all the same, and the format
    `d` then writes 0, 1, 1, 2, 2.
    """
    only_whole = {"condition": {"test": _WHOLE, "value": 1}, "value": 0}
    usual = {"format": ",d", "tickMinStep": 1, "gridWidth": only_whole, "tickOpacity": only_whole}
    return {**usual, "labelExpr": f"{_WHOLE} ? datum.label : ''", **settings}


def share_axis(field: str, title: str, channel: Any = None, **scale: Any) -> Any:
    """An axis in per cent, vertical unless the channel is given, from 0 to 100 % unless the scale is."""
    given = {"title": title, "scale": scale or {"domain": [0, 1]}, "axis": {"format": "%", "tickCount": 5}}
    return (channel or alt.Y)(f"{field}:Q", **given)


def multiple_axis(title: str, **scale: Any) -> Any:
    """A horizontal axis of the column `multiple`, in training lengths."""
    axis = {"tickMinStep": 0.5, "format": "~g", "labelExpr": "datum.label + '×'", "tickCount": 6}
    return alt.X("multiple:Q", title=title, scale={"nice": False, **scale}, axis=axis)


def wrapping_legend(names: Iterable[object], most: int = 4, **settings: Any) -> dict[str, Any]:
    """A legend in as many columns, up to `most`, as the chart has room for whatever its width."""
    texts = [str(name) for name in names]
    wide = round(_LETTER * max(map(len, texts), default=1) + _SYMBOL)
    columns = {"expr": f"max(1, min({max(1, min(most, len(texts)))}, floor(width / {wide})))"}
    room = {"expr": "max(100, width - 20)"}
    usual = {"title": None, "orient": "bottom", "offset": 6, "symbolOpacity": 1, "labelLimit": room}
    return {"columns": columns, **usual, **settings}


def coloured_by_encoding(encodings: Sequence[str]) -> tuple[Any, Any]:
    """The colour and the dashes of encodings, the same in all figures; the pair is unlike for up to 32 of them."""
    names = list(encodings)
    legend = wrapping_legend(names, symbolType="stroke")
    dashes = [DASHES[(index + index // len(PALETTE)) % len(DASHES)] for index in range(len(names))]
    colour = alt.Color("encoding:N", scale={"domain": names}, legend=legend)
    return colour, alt.StrokeDash("encoding:N", scale={"domain": names, "range": dashes}, legend=legend)


def heat_colours(field: str, low: float, high: float, legend: Any, **scale: Any) -> dict[str, Any]:
    """The channels of the cells of a heat map: their colour, with a gradient below as its legend, and the same colour
    for their outline, without which seams would show between the cells.

    The outline's scale ends a hair above: two scales with one domain would share a legend, which then has symbols.
    """

    def scaled(end: float) -> dict[str, Any]:
        return {"scheme": "viridis", "domain": [low, end], "clamp": True, **scale}

    return {
        "color": alt.Color(f"{field}:Q", scale=scaled(high), legend=legend),
        "stroke": alt.Stroke(f"{field}:Q", scale=scaled(high * (1 + 1e-9)), legend=None),
    }


def gradient_below(title: str, length: int = 170, **settings: Any) -> dict[str, Any]:
    """A gradient that a narrow chart has room for."""
    return {"title": title, "orient": "bottom", "direction": "horizontal", "gradientLength": length, **settings}


def title_lines(text: str) -> str | list[str]:
    """The title of an axis in lines that a narrow chart has room for."""
    lines = textwrap.wrap(text, _TITLE)
    return lines if len(lines) > 1 else text


# --- layers -----------------------------------------------------------------------------------------------------------


def hover(*fields: str | tuple[str, ...]) -> list[Any]:
    """What a reader finds by hovering: fields such as "size:Q", each alone or with its title and format."""
    given = [(field,) if isinstance(field, str) else field for field in fields]
    extras = [dict(zip(("title", "format"), rest, strict=False)) for _, *rest in given]
    return [
        alt.Tooltip(field, **{name: text for name, text in extra.items() if text})
        for (field, *_), extra in zip(given, extras, strict=True)
    ]


def ends_of(form: str, words: str = "") -> tuple[tuple[str, ...], ...]:
    """The fields of an interval, `low` and `high`, for `hover`."""
    return ("low:Q", f"{words}from", form), ("high:Q", f"{words}to", form)


def rule_at(axis: str, value: float, **mark: Any) -> Any:
    """A dashed line at a number of one axis, x or y."""
    drawn = alt.Chart(alt.Data(values=[{"at": value}]))
    return drawn.mark_rule(color=GREY, strokeDash=[4, 4], **mark).encode(**{axis: "at:Q"})


def shade(low: float, high: float, **mark: Any) -> Any:
    """The part of the horizontal axis that a model was trained on."""
    drawn = alt.Chart(alt.Data(values=[{"from": low, "to": high}])).mark_rect(color=GREY, opacity=0.13, **mark)
    return drawn.encode(x="from:Q", x2="to:Q")


def lines_and_points(base: Any, told: list[Any], dash: Any, **line: Any) -> list[Any]:
    """A line with its points, over which a reader hovers."""
    points = base.mark_point(filled=True, size=28, opacity=0.9).encode(tooltip=told)
    return [base.mark_line(strokeWidth=1.6, opacity=0.85).encode(strokeDash=dash, **line), points]
