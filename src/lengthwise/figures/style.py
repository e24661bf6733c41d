"""The look that figures of records share, in a page and on paper.

Names that users gave are in the data of a figure, never in its template, so figures of one kind can share a template.
The page and the files for a paper are made from the same figure: in the page a script puts the columns back into rows,
here `paper_spec` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lengthwise.figures.curves import PALETTE
from lengthwise.figures.layout import wrapping_legend
from lengthwise.figures.lazy import alt
from lengthwise.records import Figure

# Text and lines of the page follow its colour scheme; a file is read on paper.
PAGE_INK, PAPER_INK = "currentColor", "#222222"
DASHES = [[1, 0], [6, 2], [2, 2], [8, 2, 2, 2]]

Rows = Sequence[Mapping[str, Any]]
Columns = dict[str, Any]


def paper_spec(figure: Figure) -> dict[str, Any]:
    """A whole figure as Vega-Lite, for paper."""
    titled = {"text": figure.title, "limit": 600}
    data = {name: list(rows) for name, rows in figure.data.items()}
    return {**figure.template, "title": titled, "datasets": data, "config": config(PAPER_INK), "background": "white"}


def packed(figure: Figure) -> dict[str, Columns]:
    """The data of a figure by columns: texts as indices into the list of different texts, numbers rounded."""
    return {name: _columns(rows) for name, rows in figure.data.items()}


def _columns(rows: Rows) -> Columns:
    return {name: _column([row[name] for row in rows]) for name in (rows[0] if rows else ())}


def _column(values: list[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return [rounded(value) if isinstance(value, float) else value for value in values]
    texts = {text: place for place, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(texts), "places": [texts[value] for value in values]}


def rounded(value: float) -> float:
    """Four decimals, or three digits of a number so small that a logarithmic axis would miss the others."""
    return round(value, 4) if abs(value) >= 0.01 or not value else float(f"{value:.3g}")


def template_of(chart: Any) -> dict[str, Any]:
    """A chart as Vega-Lite. The schema is left to the tests, as checking it takes longer than all the rest."""
    return chart.to_dict(validate=False)


def config(ink: str) -> dict[str, Any]:
    """Fonts and colours; the palette is told apart by colour-blind readers, its black is the ink of the page."""
    palette = [ink if colour == "#000000" else colour for colour in PALETTE]
    text = {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    grid = {"gridColor": "#888888", "gridOpacity": 0.22, "domainColor": "#888888", "tickColor": "#888888"}
    return {
        "font": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        "background": "transparent",
        "view": {"stroke": None},
        "axis": {**text, **grid, "labelLimit": 230},
        "legend": {**text, "labelLimit": 260, "symbolStrokeWidth": 2.5},
        "title": {"color": ink, "fontSize": 13, "anchor": "start", "fontWeight": 600},
        "text": {"color": ink},
        "range": {"category": palette},
    }


def coloured_by_encoding(encodings: Sequence[str], legend: bool = True) -> tuple[Any, Any]:
    """The colour and the dashes of encodings, the same in all figures; the pair is unlike for up to 32 of them."""
    names = list(encodings)
    shown = wrapping_legend(names, symbolType="stroke")
    dashes = [DASHES[(index + index // len(PALETTE)) % len(DASHES)] for index in range(len(names))]
    colour = alt.Color("encoding:N", scale=alt.Scale(domain=names), legend=shown if legend else None)
    dash = alt.StrokeDash("encoding:N", scale=alt.Scale(domain=names, range=dashes), legend=shown if legend else None)
    return colour, dash


def thinned(values: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def hover(*fields: str | tuple[str, ...]) -> list[Any]:
    """What a reader finds by hovering: fields such as "size:Q", each alone or with its title and format."""
    given = [(field,) if isinstance(field, str) else field for field in fields]
    extras = [dict(zip(("title", "format"), rest, strict=False)) for _, *rest in given]
    return [
        alt.Tooltip(field, **{name: text for name, text in extra.items() if text})
        for (field, *_), extra in zip(given, extras, strict=True)
    ]
