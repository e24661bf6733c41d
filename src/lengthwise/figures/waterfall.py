"""A sum as a waterfall: every term stands on those before it, the total at the end, and a line at the ceiling.

The input is plain: pairs of a name and a value of 0 or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.style import GREY, PALETTE, alt, hover

Terms = Sequence[tuple[str, float]]
_ROOM = 1.25  # of the largest bar, for its number behind it


def waterfall_rows(terms: Terms, total: str = "bound") -> list[dict[str, Any]]:
    """One row per term, from where to where it reaches, and one for the total."""
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
    """An altair chart, one bar per term from left to right; from the dashed line on the bound says nothing."""
    rows, line = waterfall_rows(terms, total), _line(ceiling)
    y = alt.Y("term:N", sort=[row["term"] for row in rows], title=None)
    base = alt.Chart(alt.Data(values=rows))
    scale = alt.Scale(domain=[0, _ROOM * max([row["to"] for row in rows] + line) or 1.0], nice=False)
    color = alt.Color("kind:N", scale=alt.Scale(domain=["term", "total"], range=PALETTE[:2]), legend=None)
    told = hover("term:N", ("value:Q", "", ".4g"), ("to:Q", "up to here"))
    bars = base.mark_bar().encode(
        y=y, x=alt.X("from:Q", title="risk", scale=scale), x2="to:Q", color=color, tooltip=told
    )
    labels = base.mark_text(align="left", dx=4).encode(y=y, x="to:Q", text=alt.Text("value:Q", format=".3g"))
    ceilings = alt.Chart(alt.Data(values=[{"at": at} for at in line])).mark_rule(strokeDash=[4, 4], color=GREY)
    layers = [bars, labels, *([ceilings.encode(x="at:Q")] if line else [])]
    return alt.layer(*layers).properties(width=420, height=26 * len(rows), title=title)


def _line(ceiling: float | None) -> list[float]:
    """Where the line stands; nowhere without a finite ceiling."""
    return [] if ceiling is None or not math.isfinite(ceiling) else [ceiling]


def waterfall_text(terms: Terms, ceiling: float | None = None, total: str = "bound", width: int = 40) -> str:
    """The same for a terminal: one line per term, its bar where it stands, `|` at the ceiling."""
    rows, line = waterfall_rows(terms, total), _line(ceiling)
    end = max([row["to"] for row in rows] + line) or 1.0
    names = max(len(row["term"]) for row in rows)
    lines = []
    for row in rows:
        left, right = round(row["from"] / end * width), round(row["to"] / end * width)
        bar = [" "] * (width + 1)
        bar[left:right] = ["█" if row["kind"] == "total" else "▒"] * (right - left)
        if row["value"] > 0 and left == right:
            bar[min(left, width - 1)] = "▏"
        for at in line:
            bar[round(at / end * width)] = "|"
        lines.append(f"{row['term']:<{names}}  {''.join(bar)} {row['value']:.4g}".rstrip())
    return "\n".join(lines)
