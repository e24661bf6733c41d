"""Plateaus against the training length, one panel per family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lengthwise.analyses.plateau.levels import PlateauCell
from lengthwise.analyses.plateau.series import Series
from lengthwise.figures.style import alt, ends_of, hover, template_of, title_lines, wrapping_legend
from lengthwise.messages import explain, sentence
from lengthwise.records import Figure

explain(
    {
        "plateau.panel": "{series} over {parameter}",
        "plateau.words": "Plateau of the error against the training length for {title}, one line per setting, both on "
        "logarithmic scales.",
        "plateau.axis": "{measure} error in the last doubling of test sizes",
    }
)


def plateau_panels(found: Sequence[Series], measure: str) -> list[Figure]:
    """A panel for every series."""
    panels = []
    for place, series in enumerate(found, start=1):
        rows = [_row(series, value, cell) for value, cell in series.cells]
        title = sentence("plateau.panel", {"series": series.name, "parameter": series.parameter})
        settings = dict.fromkeys(row["setting"] for row in rows)
        words = sentence("plateau.words", {"title": title})
        panels.append(Figure(f"plateaus.{place}", _template(measure, settings), {"plateaus": rows}, title, words))
    return panels


def _row(series: Series, value: float, cell: PlateauCell) -> dict[str, Any]:
    ends = cell.claim.interval
    low, high = (cell.plateau, cell.plateau) if ends is None else (ends.low, ends.high)
    setting = f"{series.parameter} {value:g}"
    return {"setting": setting, "trained": cell.cell.train_size, "plateau": cell.plateau, "low": low, "high": high}


def _template(measure: str, settings: Iterable[str]) -> dict[str, Any]:
    picked = alt.selection_point(name="picked", fields=["setting"], bind="legend")
    x = alt.X(
        "trained:Q",
        title="training length",
        scale=alt.Scale(type="log", base=2, nice=False, padding=14),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    base = alt.Chart(alt.NamedData("plateaus")).encode(
        x=x,
        color=alt.Color("setting:N", legend=wrapping_legend(settings, 3)),
        opacity=alt.condition(picked, alt.value(1.0), alt.value(0.1)),
    )
    title, scale = title_lines(sentence("plateau.axis", {"measure": measure})), alt.Scale(type="log", nice=False)
    numbers = (("trained:Q", "training length"), ("plateau:Q", "", ".4g"), *ends_of(".4g", "95 % "))
    told = hover("setting:N", *numbers)
    lines = base.mark_line(strokeWidth=2).encode(y=alt.Y("plateau:Q", title=title, scale=scale))
    spans = base.mark_rule().encode(y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q")
    points = base.mark_point(filled=True, size=50).encode(y=alt.Y("plateau:Q", scale=scale), tooltip=told)
    return template_of(alt.layer(spans, lines.add_params(picked), points).properties(width=420, height=230))
