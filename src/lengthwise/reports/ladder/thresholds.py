"""How many layers a depth of search takes: what the oracle says beside what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lengthwise.figures.layout import whole_axis
from lengthwise.findings.thresholds import SOLVED_BAR, TOKEN_BAR, Threshold, Thresholds
from lengthwise.inspection.content import Table
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour, layers_dash
from lengthwise.reports.ladder.models import layers_text
from lengthwise.reports.ladder.section import Choice, Panel, Section
from lengthwise.reports.words import percent

MEASURES = {"token": "tokens right", "solved": "problems solved"}
_BARS = {"token": TOKEN_BAR, "solved": SOLVED_BAR}


def thresholds_section(result: Thresholds, encodings: Sequence[str]) -> Section | None:
    """A panel a task and measure, and the predictions with their verdicts."""
    if not result.rows:
        return None
    layers = sorted({depth for row in result.rows for depth in row.layers})
    panels = []
    for measure, title in MEASURES.items():
        template = _template(measure, title, encodings, layers)
        for number, task in enumerate(dict.fromkeys(row.task for row in result.rows)):
            rows = [point for row in result.rows if row.task == task for point in _points(row, measure)]
            words = f"The share of {title} by depth of the search for {task}, the best width of each number of layers."
            name = f"thresholds-{measure}-{number + 1}-{task}"
            kind = f"thresholds, {measure}"
            panels.append(Panel(Figure(name, kind, task, words, template, {"depths": rows}), measure))
    text = (
        "The best width of each number of layers, by how deep the search goes. A number of layers is enough where it "
        f"has {percent(TOKEN_BAR)} of the tokens right, or solves {percent(SOLVED_BAR)} of the problems (dashed).",
    )
    choices = (Choice("reached", "Shown", tuple(MEASURES.items())),)
    tables = (_summary(result),) if any(row.predictions for row in result.rows) else ()
    return Section(
        "thresholds",
        "Layers against depth of search",
        "Layers",
        text,
        choices,
        tuple(panels),
        tables=tables,
        details=(_measured(result), *((_predicted(result),) if tables else ())),
        three=True,
    )


def _points(row: Threshold, measure: str) -> list[dict[str, Any]]:
    shares = row.best_token if measure == "token" else row.best_solved
    return [
        {
            "encoding": row.position,
            "layers": layers_text(depth),
            "model": f"{row.position}, {layers_text(depth)}",
            "depth": row.value,
            "level": row.level,
            "share": float(share),
        }
        for depth, share in zip(row.layers, shares, strict=True)
    ]


def _summary(result: Thresholds) -> Table:
    """How often the measurement agrees with each kind of prediction."""
    found: dict[str, Counter[str]] = {}
    for row in result.rows:
        for prediction in row.predictions:
            found.setdefault(prediction.claim.title, Counter())[prediction.verdict] += 1
    verdicts = ("agrees", "contradicted", "says nothing")
    rows = tuple((name, *(counts[verdict] for verdict in verdicts)) for name, counts in found.items())
    note = "Counted over tasks, encodings and depths of search. A theorem about what exists says nothing of training."
    return Table("What the oracle said of the layers", ("prediction", *verdicts), rows, note)


def _measured(result: Thresholds) -> Table:
    columns = ("task", "encoding", "level", "nesting", "layers tried", "for the tokens", "for the problems")
    rows = tuple(
        (
            row.task,
            row.position,
            row.level,
            row.nesting,
            ", ".join(map(str, row.layers)),
            "none" if row.accurate is None else str(row.accurate),
            "none" if row.solving is None else str(row.solving),
        )
        for row in result.rows
    )
    return Table("Layers that were enough, by depth of search", columns, rows)


def _predicted(result: Thresholds) -> Table:
    """Every prediction, what it rests on and the verdict; the same for several cases is written once."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in result.rows:
        for prediction in row.predictions:
            claim = prediction.claim
            value = "–" if claim.value is None else f"{claim.value} {claim.unit}".strip()
            key = (claim.title, value, claim.kind, prediction.verdict, prediction.because)
            found.setdefault(key, []).append(f"{row.task}, {row.position}, {row.level}")
    rows = tuple(
        (*key, f"{names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")) for key, names in found.items()
    )
    columns = ("prediction", "value", "kind", "verdict", "because", "where")
    return Table("Every prediction of the oracle", columns, rows)


def _template(measure: str, title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("depths")).encode(
        x=alt.X("depth:Q", title="depth of the search", axis=whole_axis(grid=False)),
        y=alt.Y("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        color=encoding_colour(encodings),
        detail="model:N",
    )
    told = [alt.Tooltip("model:N"), alt.Tooltip("level:N"), alt.Tooltip("share:Q", title=title, format=".1%")]
    bar = alt.Chart(alt.Data(values=[{"at": _BARS[measure]}])).mark_rule(color="#888888", strokeDash=[4, 4])
    lines = base.mark_line(strokeWidth=1.6).encode(strokeDash=layers_dash(layers))
    points = base.mark_point(filled=True, size=30, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(bar.encode(y="at:Q"), lines, points).properties(width=330, height=200))
