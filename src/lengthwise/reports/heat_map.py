"""The first picture: how far each task holds with each encoding, in training lengths."""

from __future__ import annotations

from typing import Any

from lengthwise.reports.content import Content
from lengthwise.reports.figure import PAGE_INK, Figure, template_of
from lengthwise.reports.words import counted, short
from lengthwise.studies.cells import Cell

KIND = "heat map"
WORDS = (
    "Heat map of the reach, the largest size up to which exact match stays at 95 % or more, divided by the training "
    "length: a row a task, a column an encoding, the mean over seeds in each cell."
)
LIGHT_FROM = 0.42  # below this share of viridis white contrasts by 4.5 or more, above it black does
_TALL, _WIDE = 380, 840


def heat_map(content: Content) -> Figure:
    """The reach of every cell relative to its training length."""
    furthest = max((cell.test_size / cell.train_size for cell in content.cells), default=1.0)
    rows = []
    for row in content.rows:
        for encoding, cell in content.row_cells(row).items():
            rows.append({"row": row.label, "encoding": encoding, **_shown(cell, furthest)})
    learned = [row for row in rows if row["state"] == "learned"]
    others = [row for row in rows if row["state"] != "learned"]
    data = {"learned": learned, "others": others}
    return Figure("heat-map", KIND, "Reach relative to the training length", WORDS, _template(content, furthest), data)


def _shown(cell: Cell, furthest: float) -> dict[str, Any]:
    """What a cell says: its number, whether it was learned, and what a reader finds by hovering."""
    seeds = f"{len(cell.kept)} of {counted(len(cell.runs), 'seed')} kept"
    if not cell.done:
        state = "failed" if cell.failed else "waiting"
        found = {"state": state, "text": state, "value": None, "reach": "–", "ink": "page"}
        return {**found, "seeds": f"{counted(len(cell.runs), 'run')} {state}", "trained": cell.train_size}
    values = cell.values("reach")
    mean = sum(values.values()) / len(values)
    multiple = mean / cell.train_size
    bound = "≥" if cell.censored else ""
    number = f"{bound}{multiple:.1f}"
    failed = f", {len(cell.failed)} failed" if cell.failed else ""
    return {
        "state": "learned" if cell.learned else "not learned in range",
        "text": number if cell.learned else f"× {number}",
        "value": multiple,
        "reach": f"{bound}{short(mean)}",
        "ink": ("dark" if multiple / furthest > LIGHT_FROM else "light") if cell.learned else "page",
        "seeds": seeds + failed,
        "trained": cell.train_size,
    }


def _template(content: Content, furthest: float) -> dict[str, Any]:
    import altair as alt

    rows, columns = [row.label for row in content.rows], list(content.encodings)
    tall = max(15, min(42, _TALL // max(1, len(rows))))
    wide = max(46, min(150, _WIDE // max(1, len(columns))))
    tilted = max(map(len, columns), default=0) * 6.5 > wide
    x = alt.X(
        "encoding:N",
        title=None,
        scale=alt.Scale(domain=columns, paddingInner=0.03),
        axis=alt.Axis(
            orient="top", labelAngle=-30 if tilted else 0, domain=False, ticks=False, grid=False, labelFontSize=12
        ),
    )
    y = alt.Y(
        "row:N",
        title=None,
        scale=alt.Scale(domain=rows, paddingInner=0.06),
        axis=alt.Axis(domain=False, ticks=False, grid=False, labelLimit=300, labelPadding=8, labelFontSize=12),
    )
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, furthest]),
        legend=alt.Legend(title=["reach ÷", "training length"], gradientLength=max(60, min(160, tall * len(rows)))),
    )
    hover = [
        alt.Tooltip(f"{name}:N", title=title)
        for name, title in (
            ("row", "task"),
            ("encoding", "encoding"),
            ("reach", "mean reach"),
            ("text", "in training lengths"),
            ("trained", "trained to"),
            ("seeds", "seeds"),
            ("state", "state"),
        )
    ]
    learned = alt.Chart(alt.NamedData("learned")).encode(x=x, y=y, tooltip=hover)
    others = alt.Chart(alt.NamedData("others")).encode(x=x, y=y, tooltip=hover)
    inks = alt.Scale(domain=["dark", "light"], range=["#000000", "#ffffff"])
    size = 13 if tall >= 20 else 11
    number = learned.mark_text(fontSize=size).encode(text="text:N", color=alt.Color("ink:N", scale=inks, legend=None))
    hollow = others.mark_rect(filled=False, stroke="#888888", strokeDash=[3, 3], cornerRadius=2, fill="transparent")
    layers = [
        learned.mark_rect(cornerRadius=2).encode(color=colour),
        hollow,
        number,
        others.mark_text(fontSize=size, color=PAGE_INK).encode(text="text:N"),
    ]
    chart = alt.layer(*layers).resolve_scale(color="independent")
    return template_of(chart.properties(width={"step": wide}, height={"step": tall}))
