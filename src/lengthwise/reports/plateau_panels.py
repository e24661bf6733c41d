"""Fitted plateaus of the test loss against the training length, one panel a family of tasks and encoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lengthwise.figures.layout import title_lines, wrapping_legend
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.plateaus import Plateau

KIND = "plateaus"


def plateau_panels(fits: Sequence[Plateau]) -> list[Figure]:
    """A panel for every family with a plateau; `simple_task:omega=2` is of the family simple_task."""
    families: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for fit in fits:
        if fit.claim.value is None or fit.claim.interval is None:
            continue
        family, _, settings = fit.cell.task.partition(":")
        names = [name for name in (settings, fit.cell.variant) if name]
        families.setdefault((family, fit.cell.position, fit.unit), []).append(
            {
                "setting": ", ".join(names) or family,
                "trained": fit.cell.train_size,
                "plateau": fit.claim.value,
                "low": fit.claim.interval.low,
                "high": fit.claim.interval.high,
            }
        )
    settings = {row["setting"]: None for rows in families.values() for row in rows}
    templates = {unit: _template(unit, settings) for _, _, unit in families}
    panels = []
    for place, ((family, position, unit), rows) in enumerate(families.items()):
        title = f"{family}, encoding {position}"
        words = f"Fitted plateau of the test loss against the training length for {title}, a line a setting."
        kind = f"{KIND}, {unit}"  # figures of one kind share a template
        panels.append(Figure(f"plateaus-{place + 1}-{family}", kind, title, words, templates[unit], {"plateaus": rows}))
    return panels


def _template(unit: str, settings: Iterable[str]) -> dict[str, Any]:
    import altair as alt

    picked = alt.selection_point(name="picked", fields=["setting"], bind="legend")
    legend = wrapping_legend(settings, 3)
    x = alt.X(
        "trained:Q",
        title="training length",
        scale=alt.Scale(type="log", base=2, nice=False, padding=14),
        axis=alt.Axis(tickCount=5, grid=False),
    )
    colour = alt.Color("setting:N", legend=legend)
    faded = alt.condition(picked, alt.value(1.0), alt.value(0.1))
    base = alt.Chart(alt.NamedData("plateaus"))
    title = title_lines(f"plateau of the test loss ({unit})")
    hover = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("trained:Q", title="training length"),
        alt.Tooltip("plateau:Q", format=".4g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4g"),
        alt.Tooltip("high:Q", title="95 % to", format=".4g"),
    ]
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=alt.Y("plateau:Q", title=title), color=colour, opacity=faded)
    spans = base.mark_rule().encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q", color=colour, opacity=faded)
    points = base.mark_point(filled=True, size=50).encode(
        x=x, y="plateau:Q", color=colour, opacity=faded, tooltip=hover
    )
    return template_of(alt.layer(spans, lines.add_params(picked), points).properties(width=420, height=230))
