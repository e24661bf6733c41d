"""What width cannot take away: risk against width for every number of layers, with the fitted floor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.findings.floors import PLACES, Floor, Floors
from lengthwise.findings.grouping import LEARNED
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.looks import encoding_colour, layers_dash
from lengthwise.reports.ladder.models import layers_text
from lengthwise.reports.ladder.section import Choice, Panel, Section

PLACE = "place"
_STEPS = 12


def floors_section(result: Floors, encodings: Sequence[str]) -> Section | None:
    """A panel a task and place; None where no model was trained at two widths."""
    shown = [floor for floor in result.floors if len(floor.widths) > 1]
    if not shown:
        return None
    widths = sorted({width for floor in shown for width in floor.widths})
    layers = sorted({floor.depth for floor in shown})
    template = _template(widths, layers, encodings)
    places = [place for place in PLACES if any(floor.place == place for floor in shown)]
    panels = [
        Panel(_figure(place, task, number, shown, widths, template), place)
        for place in places
        for number, task in enumerate(dict.fromkeys(floor.task for floor in shown))
    ]
    text = (
        "Points: the measured risk by width, seeds averaged. Lines: the fit floor + b / width^c with c from ¼ to 1. At "
        "the right, the floor that the fit leaves at any width, with a bar over all floors that some such c gives"
        + ("; where there are several seeds the claims have an interval." if _several(shown) else " (one seed)."),
        "Beyond training, the claim about depth is made from models alone that learned their range at every width (a "
        f"risk of {LEARNED:g} or less there): the risk of the others is what they lack in range, not the cost of a "
        "shift.",
    )
    if all(floor.floor is None for floor in shown):
        text = ("With fewer than three widths there is no floor to be fitted; points are the measured risk by width.",)
    claims = tuple(claim for group in (result.falling, result.difference) for _, claim in group)
    choices = (Choice(PLACE, "Risk", tuple((place, place) for place in places)),) if len(places) > 1 else ()
    title = "Depth against width: floors"
    return Section("floors", title, "Floors", text, choices, tuple(panels), claims=claims, three=True)


def _several(shown: Sequence[Floor]) -> bool:
    return any(len(floor.seeds) > 1 for floor in shown)


def _figure(
    place: str, task: str, number: int, shown: Sequence[Floor], widths: Sequence[int], template: dict[str, Any]
) -> Figure:
    own = [floor for floor in shown if floor.task == task and floor.place == place]
    data: dict[str, list[dict[str, Any]]] = {"measured": [], "fitted": [], "floors": []}
    for order, floor in enumerate(own):
        held = {
            "encoding": floor.position,
            "layers": layers_text(floor.depth),
            "model": f"{floor.position}, {layers_text(floor.depth)}" + ("" if floor.learned else " (not all learned)"),
        }
        for width, risk in zip(floor.widths, floor.risks, strict=True):
            data["measured"].append({**held, "width": width, "risk": risk})
        for width in _between(floor.widths):
            if (risk := floor.risk_at(width)) is not None:
                data["fitted"].append({**held, "width": width, "risk": risk})
        if floor.floor is not None and floor.low is not None and floor.high is not None:
            beside = _floor_place(widths) * 1.09 ** (order - (len(own) - 1) / 2)
            low, high = min(floor.low, floor.floor), max(floor.high, floor.floor)
            data["floors"].append({**held, "width": beside, "risk": floor.floor, "low": low, "high": high})
    words = f"Risk of {task} ({place}) against the width of the model, a line an encoding and number of layers."
    name = f"floors-{place.replace(' ', '-')}-{number + 1}-{task}"
    return Figure(name, "floors", task, words, template, data)


def _between(widths: Sequence[int]) -> list[float]:
    """Widths from the least to the greatest, evenly spaced on the logarithmic axis."""
    low, high = min(widths), max(widths)
    return [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]


def _floor_place(widths: Sequence[int]) -> float:
    """Where on the axis of widths the floors stand: behind all of them."""
    return 2.6 * max(widths)


def _template(widths: Sequence[int], layers: Sequence[int], encodings: Sequence[str]) -> dict[str, Any]:
    import altair as alt

    last = _floor_place(widths)
    x = alt.X(
        "width:Q",
        title="width of the model",
        scale=alt.Scale(type="log", base=2, domain=[0.8 * min(widths), 1.5 * last], nice=False),
        axis=alt.Axis(
            values=[*widths, last], grid=False, labelExpr=f"datum.value > {max(widths)} ? 'floor' : datum.label"
        ),
    )
    y = alt.Y("risk:Q", title="risk (share of wrong tokens)", axis=alt.Axis(format="%", tickCount=5))
    colour, dash = encoding_colour(encodings), layers_dash(layers)
    told = [alt.Tooltip("model:N"), alt.Tooltip("width:Q", format=".0f"), alt.Tooltip("risk:Q", format=".1%")]
    lines = (
        alt.Chart(alt.NamedData("fitted")).mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    points = (
        alt.Chart(alt.NamedData("measured"))
        .mark_point(filled=True, size=32, opacity=0.85)
        .encode(x=x, y=y, color=colour, tooltip=told)
    )
    floors = alt.Chart(alt.NamedData("floors"))
    range_told = [
        alt.Tooltip("model:N"),
        alt.Tooltip("risk:Q", title="floor", format=".1%"),
        alt.Tooltip("low:Q", title="from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    bars = floors.mark_rule(strokeWidth=2.5).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour, strokeDash=dash, tooltip=range_told
    )
    marks = floors.mark_point(shape="diamond", filled=True, size=60, opacity=1).encode(
        x=x, y=y, color=colour, tooltip=range_told
    )
    return template_of(alt.layer(lines, points, bars, marks).properties(width=330, height=210))
