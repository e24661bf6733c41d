"""The grid that pictures of cells share: tasks down, encodings across, filled cells, hatched and hollow ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.content import StudyContent
from lengthwise.figures.style import GREY, PAGE_INK, alt, template_of

_INNER = (0.03, 0.06)  # share of a step between two columns, and between two rows
_STRIPE = 10  # pixels from one line of a hatch to the next, along a row
_WORDS = 78  # pixels that a cell needs to say that it was not learned
_WIDE = 840  # pixels of all columns together, as far as that leaves cells readable


@dataclass(frozen=True)
class CellGrid:
    """A picture of `filled` cells, coloured and with a text in their own ink, of `hatched` cells, which were not
    learned and so say nothing about length, and of `others` in a dashed frame.

    The data of all have `row`, `encoding` and `text`; `hover` maps what else a reader finds by hovering to its title.
    """

    study: StudyContent
    filled: str
    hover: Mapping[str, str]
    tall: int  # pixels of all rows together, as far as that leaves cells readable
    shortest: int = 15  # pixels of a row

    @property
    def row_height(self) -> int:
        return max(self.shortest, min(42, self.tall // max(1, len(self.study.rows))))

    @property
    def column_width(self) -> int:
        return max(46, min(150, _WIDE // max(1, len(self.study.encodings))))

    @property
    def roomy(self) -> bool:
        """Whether a cell has room for two words."""
        return self.column_width >= 72

    def template(self, colour: Any, ink: Any) -> dict[str, Any]:
        """The Vega-Lite template, with the colour of filled cells and the ink of their texts."""
        x, y = self._axes()
        hover = [alt.Tooltip(f"{name}:N", title=title) for name, title in self.hover.items()]
        filled, hatched, others = (
            alt.Chart(alt.NamedData(name)).encode(x=x, y=y, tooltip=hover)
            for name in (self.filled, "hatched", "others")
        )
        # The text of a hatched cell, or a sign in its place where the cell is narrow, as on a phone.
        roomy = alt.condition(f"bandwidth('x') < {_WORDS}", alt.value("×"), alt.Text("text:N"))
        size = 13 if self.row_height >= 20 and self.column_width >= 60 else 11
        layers = [
            filled.mark_rect(cornerRadius=2).encode(color=colour),
            hatched.mark_rect(stroke=GREY, cornerRadius=2, fill=self._hatch()),
            others.mark_rect(filled=False, stroke=GREY, strokeDash=[3, 3], cornerRadius=2, fill="transparent"),
            filled.mark_text(fontSize=size).encode(text="text:N", color=ink),
            hatched.mark_text(fontSize=size, color=PAGE_INK).encode(text=roomy),
            others.mark_text(fontSize=size, color=PAGE_INK).encode(text="text:N"),
        ]
        chart = alt.layer(*layers).resolve_scale(color="independent")
        return template_of(chart.properties(width={"step": self.column_width}, height={"step": self.row_height}))

    def _hatch(self) -> Any:
        """Diagonal lines, as a gradient whose stops change at once: Vega has no patterns, and a gradient fits its cell
        at every width and in every kind of file. In a cell of W x H pixels the direction (1, e), in shares of the cell
        with e = H / W, makes lines of 45 degrees; the last corner is (1 + e) / (1 + e^2) of it away."""
        wide, high = self.column_width * (1 - _INNER[0]), self.row_height * (1 - _INNER[1])
        e, lines = high / wide, max(3, round((wide + high) / _STRIPE))
        far = (1 + e) / (1 + e * e)
        stops = []
        for line in range(lines):
            ends = [(line + part) / lines for part in (0.0, 0.22, 0.22, 1.0)]
            colours = [GREY + strength for strength in ("99", "99", "00", "00")]  # with its opacity
            stops += [alt.GradientStop(offset=at, color=ink) for at, ink in zip(ends, colours, strict=True)]
        return alt.LinearGradient(gradient="linear", x1=0, y1=0, x2=far, y2=far * e, stops=stops)

    def _axes(self) -> tuple[Any, Any]:
        rows, columns = [row.label for row in self.study.rows], list(self.study.encodings)
        angle = -30 if max(map(len, columns), default=0) * 6.5 > self.column_width else 0
        bare = {"domain": False, "ticks": False, "grid": False, "labelFontSize": 12}
        x = alt.Axis(orient="top", labelAngle=angle, **bare)
        y = alt.Axis(labelLimit=300, labelPadding=8, **bare)
        return (
            alt.X("encoding:N", title=None, scale=alt.Scale(domain=columns, paddingInner=_INNER[0]), axis=x),
            alt.Y("row:N", title=None, scale=alt.Scale(domain=rows, paddingInner=_INNER[1]), axis=y),
        )
