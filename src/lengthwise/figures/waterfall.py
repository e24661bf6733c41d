"""A sum as a waterfall: every term stands on those before it, the total at the end, and a line at the ceiling.

The input is plain: pairs of a name and a value of 0 or more. Altair is imported when a figure is drawn, not before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.curves import PALETTE
from lengthwise.figures.lazy import alt, vl_convert

Terms = Sequence[tuple[str, float]]
_ROOM = 1.25  # of the largest bar, for its number behind it


def waterfall_rows(terms: Terms, total: str = "bound") -> list[dict[str, Any]]:
    """A row a term, from where to where it reaches, and one for the total."""
    if not terms:
        raise UsageError("a waterfall has at least one term")
    rows, level = [], 0.0
    for name, value in terms:
        if not 0 <= value < math.inf:
            raise UsageError(f"a term of a waterfall is a finite number of 0 or more, and {name!r} is {value}")
        rows.append({"term": name, "value": value, "from": level, "to": level + value, "kind": "term"})
        level += value
    rows.append({"term": total, "value": level, "from": 0.0, "to": level, "kind": "total"})
    return rows


def waterfall_chart(terms: Terms, title: str = "", ceiling: float | None = None, total: str = "bound") -> Any:
    """An altair chart, a bar a term from left to right; the dashed line is where the bound begins to say nothing."""
    rows = waterfall_rows(terms, total)
    order = [row["term"] for row in rows]
    y = alt.Y("term:N", sort=order, title=None)
    base = alt.Chart(alt.Data(values=rows))
    ends = [row["to"] for row in rows]
    furthest = max(*ends, ceiling or 0.0) if _finite(ceiling) else max(ends)
    scale = alt.Scale(domain=[0, _ROOM * furthest or 1.0], nice=False)
    color = alt.Color("kind:N", scale=alt.Scale(domain=["term", "total"], range=PALETTE[:2]), legend=None)
    tooltip = [alt.Tooltip("term:N"), alt.Tooltip("value:Q", format=".4g"), alt.Tooltip("to:Q", title="up to here")]
    bars = base.mark_bar().encode(
        y=y, x=alt.X("from:Q", title="risk", scale=scale), x2="to:Q", color=color, tooltip=tooltip
    )
    labels = base.mark_text(align="left", dx=4).encode(y=y, x="to:Q", text=alt.Text("value:Q", format=".3g"))
    layers = [bars, labels]
    if _finite(ceiling):
        line = alt.Chart(alt.Data(values=[{"at": ceiling}])).mark_rule(strokeDash=[4, 4], color="#666")
        layers.append(line.encode(x="at:Q"))
    return alt.layer(*layers).properties(width=420, height=26 * len(rows), title=title)


def _finite(ceiling: float | None) -> bool:
    return ceiling is not None and math.isfinite(ceiling)


def waterfall_svg(terms: Terms, title: str = "", ceiling: float | None = None, total: str = "bound") -> str:
    """The figure as SVG text, drawn without a browser."""
    return vl_convert.vegalite_to_svg(waterfall_chart(terms, title, ceiling, total).to_json())


def waterfall_text(terms: Terms, ceiling: float | None = None, total: str = "bound", width: int = 40) -> str:
    """The same for a terminal: a line a term, its bar where it stands, `|` at the ceiling."""
    rows = waterfall_rows(terms, total)
    finite = _finite(ceiling)
    end = max([row["to"] for row in rows] + ([ceiling or 0.0] if finite else [])) or 1.0
    names = max(len(row["term"]) for row in rows)
    lines = []
    for row in rows:
        left, right = round(row["from"] / end * width), round(row["to"] / end * width)
        bar = [" "] * (width + 1)
        bar[left:right] = ["█" if row["kind"] == "total" else "▒"] * (right - left)
        if row["value"] > 0 and left == right:
            bar[min(left, width - 1)] = "▏"
        if finite:
            bar[round((ceiling or 0.0) / end * width)] = "|"
        lines.append(f"{row['term']:<{names}}  {''.join(bar)} {row['value']:.4g}".rstrip())
    return "\n".join(lines)
