"""The grid that pictures of cells share: tasks down, encodings across, filled cells and hollow ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.reports.content import Content
from lengthwise.reports.figure import PAGE_INK, template_of

_WIDE = 840  # pixels of all columns together, as far as that leaves cells readable


@dataclass(frozen=True)
class CellGrid:
    """A picture of `filled` cells, coloured and with a text in their own ink, and of `others` in a dashed frame.

    The data of both have `row`, `encoding` and `text`; `hover` names what is shown beside them and its title.
    """

    content: Content
    filled: str
    hover: Mapping[str, str]
    tall: int  # pixels of all rows together, as far as that leaves cells readable
    shortest: int = 15  # pixels of a row

    @property
    def row_height(self) -> int:
        return max(self.shortest, min(42, self.tall // max(1, len(self.content.rows))))

    @property
    def column_width(self) -> int:
        return max(46, min(150, _WIDE // max(1, len(self.content.encodings))))

    def template(self, colour: Any, ink: Any) -> dict[str, Any]:
        """The Vega-Lite template, with the colour of filled cells and the ink of their texts."""
        import altair as alt

        x, y = self._axes()
        hover = [alt.Tooltip(f"{name}:N", title=title) for name, title in self.hover.items()]
        filled = alt.Chart(alt.NamedData(self.filled)).encode(x=x, y=y, tooltip=hover)
        others = alt.Chart(alt.NamedData("others")).encode(x=x, y=y, tooltip=hover)
        size = 13 if self.row_height >= 20 and self.column_width >= 60 else 11
        layers = [
            filled.mark_rect(cornerRadius=2).encode(color=colour),
            others.mark_rect(filled=False, stroke="#888888", strokeDash=[3, 3], cornerRadius=2, fill="transparent"),
            filled.mark_text(fontSize=size).encode(text="text:N", color=ink),
            others.mark_text(fontSize=size, color=PAGE_INK).encode(text="text:N"),
        ]
        chart = alt.layer(*layers).resolve_scale(color="independent")
        return template_of(chart.properties(width={"step": self.column_width}, height={"step": self.row_height}))

    def _axes(self) -> tuple[Any, Any]:
        import altair as alt

        rows, columns = [row.label for row in self.content.rows], list(self.content.encodings)
        angle = -30 if max(map(len, columns), default=0) * 6.5 > self.column_width else 0
        x = alt.X(
            "encoding:N",
            title=None,
            scale=alt.Scale(domain=columns, paddingInner=0.03),
            axis=alt.Axis(orient="top", labelAngle=angle, domain=False, ticks=False, grid=False, labelFontSize=12),
        )
        y = alt.Y(
            "row:N",
            title=None,
            scale=alt.Scale(domain=rows, paddingInner=0.06),
            axis=alt.Axis(domain=False, ticks=False, grid=False, labelLimit=300, labelPadding=8, labelFontSize=12),
        )
        return x, y
