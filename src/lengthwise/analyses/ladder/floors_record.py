"""What width cannot take away, as a record: risk against width for every number of layers, with the fitted floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import LEARNED_VALUES, layers_text, place_text
from lengthwise.analyses.ladder.floors import PLACES, Floor, Floors, floors
from lengthwise.analyses.ladder.looks import encoding_colour, layers_dash
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Column, Figure, Record, Table

_STEPS = 12

explain(
    {
        "floors.title": "Depth against width: floors",
        "floors.link": "Floors",
        "floors.text": "Beyond training, the claim about depth is made only from models that learned their range at "
        "every width (a risk of {learned:g} or less there): the risk of the others is what they lack in range, not "
        "the cost of a shift.",
        "floors.note": "Points: the measured risk by width, seeds averaged. Lines: the fit floor + b / width^c with c "
        "from ¼ to 1. At the right, the floor that the fit leaves at any width, with a bar over all floors that some "
        "such c gives{seeds}.",
        "floors.no_fit": "With fewer than three widths no floor can be fitted; points are the measured risk by width.",
        "floors.menu": "Risk",
        "floors.words": "Risk of {task} ({place}) against the width of the model, one line per encoding and number of "
        "layers.",
        "floors.table": "Does the floor fall with depth?",
        "floors.table_note": "Over problems and encodings of which every depth and width learned; with fewer than two "
        "nothing can be said.",
    }
)


@analyses.register("floors")
@dataclass(frozen=True)
class FloorsAnalysis(Analysis):
    """What width cannot take away, and whether depth lowers it."""

    def analyse(self, study: StudyContent) -> Record:
        assert study.evidence is not None
        result = floors(study.evidence)
        figures = floor_panels(result, study.encodings) if study.pictures else []
        shown = [floor for floor in result.floors if len(floor.widths) > 1]
        several = any(len(floor.seeds) > 1 for floor in shown)
        seeds = "; where there are several seeds the claims have an interval" if several else " (one seed)"
        fitted = any(floor.floor is not None for floor in shown)
        note = sentence("floors.note", {"seeds": seeds}) if fitted else sentence("floors.no_fit")
        options = tuple((place, place_text(place)) for place in dict.fromkeys(figure.group for figure in figures))
        menus = (Menu("place", sentence("floors.menu"), options),) if len(options) > 1 else ()
        leading = [claim for group in (result.falling, result.difference) for _, claim in group]
        others = [*(claim for _, claim in result.page), *(floor.claim() for floor in result.floors)]
        layout = PageLayout(sentence("floors.link"), notes=(note,), claims=len(leading), columns=3, menus=menus)
        return Record(
            "floors",
            title=sentence("floors.title"),
            text=(sentence("floors.text", LEARNED_VALUES),) if fitted else (),
            claims=(*leading, *others),
            tables=(_table(result),),
            figures=tuple(figures),
            data={LAYOUT: layout.plain()},
        )

    def applies(self, study: StudyContent) -> bool:
        """Whether a task and encoding has models of one depth and two widths."""
        if study.evidence is None:
            return False
        widths: dict[tuple[str, str, int], set[int]] = {}
        for climb in study.evidence.climbs:
            widths.setdefault((climb.task, climb.position, climb.depth), set()).add(climb.width)
        return any(len(found) > 1 for found in widths.values())


def floor_panels(result: Floors, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and place; none where no model was trained at two widths."""
    shown = [floor for floor in result.floors if len(floor.widths) > 1]
    if not shown:
        return []
    widths = sorted({width for floor in shown for width in floor.widths})
    layers = sorted({floor.depth for floor in shown})
    template = _template(widths, layers, encodings)
    return [
        _figure(place, task, number, shown, widths, template)
        for place in PLACES
        if any(floor.place == place for floor in shown)
        for number, task in enumerate(dict.fromkeys(floor.task for floor in shown))
    ]


def _table(result: Floors) -> Table:
    columns = (
        Column("place", "text"),
        Column("blocks", "text", "problems and encodings"),
        Column("falls", "text", "falls with depth"),
        Column("p_value", title="Page's p"),
        Column("difference", title="shallowest minus deepest"),
        Column("low", title="from"),
        Column("high", title="to"),
    )
    rows = []
    for (place, verdict), (_, difference) in zip(result.falling, result.difference, strict=True):
        blocks = f"{len(verdict.evidence['blocks'])} of {verdict.evidence['blocks_measured']}"
        ends = difference.interval and (difference.interval.low, difference.interval.high)
        value = difference.value if isinstance(difference.value, float) else None
        rows.append(
            (place_text(place), blocks, verdict.status, verdict.evidence.get("p_value"), value, *(ends or (None, None)))
        )
    title, note = sentence("floors.table"), sentence("floors.table_note")
    return Table("floors.falling", columns, tuple(rows), title, note, detail=True)


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
    words = sentence("floors.words", {"task": task, "place": place_text(place)})
    return Figure(f"floors.{place}.{number + 1}", template, data, task, words, place)


def _between(widths: Sequence[int]) -> list[float]:
    """Widths from the least to the greatest, evenly spaced on the logarithmic axis."""
    low, high = min(widths), max(widths)
    return [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]


def _floor_place(widths: Sequence[int]) -> float:
    """Where on the axis of widths the floors stand: behind all of them."""
    return 2.6 * max(widths)


def _template(widths: Sequence[int], layers: Sequence[int], encodings: Sequence[str]) -> dict[str, Any]:
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
    told = hover("model:N", ("width:Q", "", ".0f"), ("risk:Q", "", ".1%"))
    lines = (
        alt.Chart(alt.NamedData("fitted")).mark_line(strokeWidth=1.6).encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    points = (
        alt.Chart(alt.NamedData("measured"))
        .mark_point(filled=True, size=32, opacity=0.85)
        .encode(x=x, y=y, color=colour, tooltip=told)
    )
    floors = alt.Chart(alt.NamedData("floors"))
    range_told = hover("model:N", ("risk:Q", "floor", ".1%"), ("low:Q", "from", ".1%"), ("high:Q", "to", ".1%"))
    bars = floors.mark_rule(strokeWidth=2.5).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour, strokeDash=dash, tooltip=range_told
    )
    marks = floors.mark_point(shape="diamond", filled=True, size=60, opacity=1).encode(
        x=x, y=y, color=colour, tooltip=range_told
    )
    return template_of(alt.layer(lines, points, bars, marks).properties(width=330, height=210))
