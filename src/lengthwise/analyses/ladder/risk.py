"""Risk against the distance from training: the answer of a study of ladders, one isotonic line per configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    LEARNED_VALUES,
    Evidence,
    by_configuration,
    has_learned,
    layers_text,
    mean,
    model_name,
)
from lengthwise.analyses.ladder.answer import answer
from lengthwise.analyses.ladder.in_range import in_range
from lengthwise.analyses.ladder.looks import encoding_colour, layers_dash
from lengthwise.analyses.ladder.monotone import ALL_AXES, Monotone, monotone
from lengthwise.analyses.ladder.trend import RiskTrend
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.figures.layout import title_lines
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Claim, Column, Figure, Record, Table
from lengthwise.shift.level_shift import LevelShift
from lengthwise.tasks.ladder import TRAINING

_LEARNED, _NOT_LEARNED = 1.6, 0.6  # how thick a line is

explain(
    {
        "risk.title": "Risk against the distance from training",
        "risk.link": "Risk",
        "risk.note": "Each line is one configuration: the rising curve nearest to its risk at every level (isotonic "
        "regression, seeds averaged), against how far that level lies from training. Risk is the mean share of wrong "
        "tokens, the true trace so far being given. Configurations that did not learn their range (a risk above "
        "{learned:g} there) are drawn thin and not judged. Grey: as far as two samples of training are apart by "
        "chance. Hover over a line or a point to see which model and level it belongs to.",
        "risk.menu": "Distance measured by",
        "risk.words": "Risk against the distance from training of {task} by {metric}: {configurations} "
        "configurations, {learned} of them learned their range, and of these {monotone} are called monotone.",
        "risk.counts": "Monotone configurations by metric and axis",
        "risk.counts_note": "Of the configurations that learned, how many are monotone (rank correlation of risk and "
        "W1 of 0.8 or more, p < 0.05). The control shuffles the distances among the levels of a task; p is the share "
        "of shuffles in which as many configurations come out monotone. Levels of one axis resemble each other, so "
        "the control is a weak one.",
        "risk.distances": "How far the levels are",
        "risk.distances_note": "W1 from training to the last level of each axis, and in brackets how many times its "
        "null that is.",
        "risk.losses": "What is lost",
        "risk.losses_note": "Mean risk of the models whose configuration learned its range, level by level along each "
        "axis.",
    }
)


@analyses.register("risk")
@dataclass(frozen=True)
class RiskAnalysis(Analysis):
    """Does risk rise with the distance from training?"""

    def analyse(self, study: StudyContent) -> Record:
        evidence = study.evidence
        assert evidence is not None
        found, results, learned = answer(evidence), monotone(evidence), in_range(evidence)
        together = [result for result in results if result.axis == ALL_AXES]
        figures = (
            [figure for one in together for figure in risk_panels(evidence, one, study.encodings)]
            if study.pictures
            else []
        )
        options = tuple((result.metric, result.metric) for result in together)
        menus = (Menu("metric", sentence("risk.menu"), options),) if figures and len(options) > 1 else ()
        layout = PageLayout(
            sentence("risk.link"),
            lead=2,
            notes=(sentence("risk.note", LEARNED_VALUES),),
            claims=len(found.claims),
            columns=3,
            menus=menus,
        )
        others = [claim for part in (learned, *results) for claim in part.claims()]
        return Record(
            "risk",
            title=sentence("risk.title"),
            text=found.text,
            claims=tuple(_once([*found.claims, *others])),
            tables=(learned.table(), _counts(results), _distances(evidence), _losses(evidence)),
            figures=tuple(figures),
            data={LAYOUT: layout.plain()},
        )

    def applies(self, study: StudyContent) -> bool:
        return study.evidence is not None and bool(study.evidence.climbs)


def _once(claims: Sequence[Claim]) -> list[Claim]:
    """The claims without those that are there already."""
    found: list[Claim] = []
    for claim in claims:
        if claim not in found:
            found.append(claim)
    return found


def risk_panels(evidence: Evidence, result: Monotone, encodings: Sequence[str]) -> list[Figure]:
    """The panels of one metric, which share their template and the scale of the risk."""
    highest = max((max(trend.risk) for trend in result.trends if trend.risk), default=1.0)
    template = _template(result.unit, highest, encodings, evidence.layers)
    found = []
    for place, task in enumerate(evidence.tasks):
        trends = [trend for trend in result.trends if trend.configuration[0] == task and trend.names]
        if not trends:
            continue
        values = {
            "task": task,
            "metric": result.metric,
            "configurations": len(trends),
            "learned": sum(trend.learned for trend in trends),
            "monotone": sum(bool(trend.monotone) for trend in trends),
        }
        data = {
            "null": _null(evidence, task, result.metric),
            "points": [row for trend in trends for row in _rows(trend, trend.risk)],
            "lines": [row for trend in trends for row in _rows(trend, trend.fitted)],
        }
        key, words = f"risk.{result.metric}.{place + 1}", sentence("risk.words", values)
        found.append(Figure(key, template, data, task, words, result.metric))
    return found


def _null(evidence: Evidence, task: str, metric: str) -> list[dict[str, Any]]:
    """The band from 0 to the largest null of a level."""
    nulls = [shift.null for shift in evidence.shift_of(task, metric).values()]
    return [{"from": 0.0, "to": max(nulls), "what": "two samples of training"}] if nulls else []


def _rows(trend: RiskTrend, values: Sequence[float]) -> list[dict[str, Any]]:
    _, position, depth, _ = trend.configuration
    unjudged = "not judged" if trend.learned else "not judged: not learned in range"
    verdict = {True: "monotone", False: "not monotone", None: unjudged}[trend.monotone]
    held = {
        "encoding": position,
        "layers": layers_text(depth),
        "configuration": model_name(trend.configuration),
        "rho": "–" if trend.rho is None else f"{trend.rho:.2f}",
        "verdict": verdict,
        "thickness": _LEARNED if trend.learned else _NOT_LEARNED,
    }
    levels = zip(trend.names, trend.w1, values, strict=True)
    return [{**held, "level": level, "w1": w1, "risk": float(value)} for level, w1, value in levels]


def _template(unit: str, highest: float, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    hovered = alt.selection_point(
        name="hovered", fields=["configuration"], on="pointerover", clear="pointerout", empty=False
    )
    x = alt.X(
        "w1:Q", title=title_lines(f"W1 from training ({unit})"), scale=alt.Scale(zero=True, nice=False, padding=6)
    )
    scale = alt.Scale(domain=[0, min(1.0, 1.05 * highest) or 1.0])
    y = alt.Y("risk:Q", title="risk (share of wrong tokens)", scale=scale, axis=alt.Axis(format="%", tickCount=5))
    band = (
        alt.Chart(alt.NamedData("null"))
        .mark_rect(color="#888888", opacity=0.2)
        .encode(x=alt.X("from:Q"), x2="to:Q", tooltip=hover("what:N", ("to:Q", "", ".3g")))
    )
    colour, dash = encoding_colour(encodings), layers_dash(layers)
    told = hover(
        ("configuration:N", "model"),
        "level:N",
        ("w1:Q", "W1", ".3g"),
        ("risk:Q", "", ".1%"),
        ("rho:N", "Spearman, all levels"),
        "verdict:N",
    )
    points = (
        alt.Chart(alt.NamedData("points"))
        .mark_point(filled=True, size=14)
        .encode(
            x=x,
            y=y,
            color=colour,
            opacity=alt.condition(hovered, alt.value(0.9), alt.value(0.16)),
            tooltip=told,
        )
    )
    base = alt.Chart(alt.NamedData("lines")).encode(x=x, y=y, color=colour, detail="configuration:N")
    lines = base.mark_line(strokeJoin="round").encode(
        strokeDash=dash,
        opacity=alt.condition(hovered, alt.value(1.0), alt.value(0.6)),
        strokeWidth=alt.condition(hovered, alt.value(3.5), alt.StrokeWidth("thickness:Q", legend=None, scale=None)),
    )
    # A thin line is hard to hit: points that cannot be seen lie on it.
    grips = base.mark_point(filled=True, size=120, opacity=0).encode(tooltip=told)
    return template_of(alt.layer(band, lines.add_params(hovered), grips, points).properties(width=330, height=210))


def _counts(results: Sequence[Monotone]) -> Table:
    """How many configurations are monotone by each metric and axis, and in the shuffled control."""
    columns = (
        Column("metric", "text"),
        Column("axis", "text", "levels of"),
        Column("monotone", "text"),
        Column("rising", "whole", "rising at all"),
        Column("shuffled", title="monotone if shuffled"),
        Column("quantile", title="at most in 95 %"),
        Column("p_value", title="p"),
        Column("correlation", title="mean correlation"),
        Column("status", "text", "claim"),
    )
    rows = []
    for result in results:
        control, page = result.control, result.page
        numbers = (None, None, None) if control is None else (control.mean, control.quantile, control.p_value)
        correlation = page.value if page is not None and isinstance(page.value, float) else None
        count = f"{result.count} of {result.judged}"
        status = result.verdict().status
        rows.append((result.metric, result.axis, count, result.rising, *numbers, correlation, status))
    title, note = sentence("risk.counts"), sentence("risk.counts_note")
    return Table("risk.counts", columns, tuple(rows), title, note, detail=True)


def _distances(evidence: Evidence) -> Table:
    metrics = evidence.metrics()
    columns = (Column("task", "text", "problem"), Column("level", "text"), *(Column(name, "text") for name in metrics))
    rows = []
    for task in evidence.tasks:
        for axis in evidence.axes:
            along = [shift for shift in evidence.shifts if (shift.task, shift.axis) == (task, axis)]
            if along:
                last = max(shift.value for shift in along)
                far = {shift.metric: shift for shift in along if shift.value == last}
                name = next(iter(far.values())).name
                rows.append((task, name, *(_distance(far.get(metric)) for metric in metrics)))
    title, note = sentence("risk.distances"), sentence("risk.distances_note")
    return Table("risk.distances", columns, tuple(rows), title, note, detail=True)


def _distance(shift: LevelShift | None) -> str:
    return "–" if shift is None else f"{shift.w1:.3g} ({shift.ratio:.1f})"


def _losses(evidence: Evidence) -> Table:
    axes = (TRAINING, *evidence.axes)
    columns = (Column("task", "text", "problem"), Column("models", "whole"), *(Column(axis, "text") for axis in axes))
    groups = {key: group for key, group in by_configuration(evidence.climbs).items() if has_learned(group)}
    rows = []
    for task in evidence.tasks:
        climbs = [climb for key, group in groups.items() if key[0] == task for climb in group]
        if climbs:
            points = [point for climb in climbs for point in climb.ladder.points]
            cells = []
            for axis in axes:
                values = sorted({point.value for point in points if point.axis == axis})
                risks = (mean(p.risk for p in points if (p.axis, p.value) == (axis, value)) for value in values)
                cells.append(" ".join(f"{risk:.2f}" for risk in risks))
            rows.append((task, len(climbs), *cells))
    title, note = sentence("risk.losses"), sentence("risk.losses_note")
    return Table("risk.losses", columns, tuple(rows), title, note, detail=True)
