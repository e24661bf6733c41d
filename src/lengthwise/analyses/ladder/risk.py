"""Risk against the distance from training: the answer of a study of ladders, one isotonic line per configuration.

What was learned before anything was shifted comes with it: a model that never had it cannot lose it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    IN_RANGE,
    LEARNED_VALUES,
    Configuration,
    Evidence,
    by_configuration,
    has_learned,
    mean,
)
from lengthwise.analyses.ladder.answer import answer
from lengthwise.analyses.ladder.better_half import better_half, better_half_table
from lengthwise.analyses.ladder.monotone import ALL_AXES, Monotone, RiskTrend, monotone
from lengthwise.analyses.ladder.section import LadderAnalysis, encoding_colour, layers_dash, looks
from lengthwise.analyses.layout import PageLayout, arranged, menu_of
from lengthwise.figures.style import GREY, alt, hover, share_axis, template_of, title_lines
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Claim, Column, Figure, Record, Table, columns
from lengthwise.tasks.ladder import TRAINING

_LEARNED, _NOT_LEARNED = 1.6, 0.6  # how thick a line is

explain(
    {
        "risk.title": "Risk against the distance from training",
        "risk.link": "Risk",
        "risk.note": (
            "Each line is one configuration: the rising curve nearest to its risk at every level (isotonic "
            "regression, averaged over seeds), against how far that level lies from training. Risk is the "
            "mean share of wrong tokens, given the true trace so far. Configurations that did not learn their "
            "range (a risk above {learned:g} there) are drawn thin and not judged. Grey: the distance that "
            "two samples of training have by chance. Hover over a line or a point to see which model and "
            "level it belongs to."
        ),
        "risk.menu": "Distance measured by",
        "risk.words": "Risk against the distance from training of {task} by {metric}: {configurations} "
        "configurations, {learned} of them learned their range, and of these {monotone} are called monotone.",
        "risk.counts": "Monotone configurations by metric and axis",
        "risk.counts_note": "Of the configurations that learned, how many are monotone (rank correlation of risk and "
        "W1 of 0.8 or more, p < 0.05). The control shuffles the distances among the levels of a task; p is the share "
        "of shuffles in which as many configurations come out monotone. Levels of one axis resemble each other, so "
        "the control is a weak one.",
        "risk.distances": "How far the levels are from training",
        "risk.distances_note": (
            "W1 from training to the last level of each axis, and in brackets how many times the null distance that is."
        ),
        "risk.losses": "What each shift costs",
        "risk.losses_note": "Mean risk of the models whose configuration learned its range, level by level along each "
        "axis.",
        "in_range.pooled": "tokens and solutions are pooled over seeds",
        "in_range.best_of_several": "the best of several is above its own mean",
        "in_range.learned": "{task}: configurations that learned",
        "in_range.tokens": "{task}: tokens right in the training range, best configuration",
        "in_range.solved": ("{task}: problems solved when decoding freely in the training range, best configuration"),
        "in_range.table": "What was learned in range",
        "in_range.note": (
            "A configuration has learned if its risk in range, averaged over seeds, is {learned:g} or less: "
            "{share:.0%} of the tokens right on average over items. The cost of a shift is judged only for "
            "those. For the best configuration, seeds are pooled."
        ),
    }
)
_PER_SEED = Assumption("in_range.pooled")


@analyses.register("risk")
@dataclass(frozen=True)
class RiskAnalysis(LadderAnalysis):
    """Does risk rise with the distance from training?"""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        said, results, learned = answer(evidence), monotone(evidence), in_range(evidence)
        steps = better_half(evidence)
        together = [result for result in results if result.axis == ALL_AXES] if study.pictures else []
        figures = [figure for one in together for figure in risk_panels(evidence, one, study.encodings)]
        layout = PageLayout(
            lead=1,
            notes=(sentence("risk.note", LEARNED_VALUES),),
            claims=len(said.claims),
            columns=3,
            menus=menu_of(figures, "metric", "risk.menu"),
            not_learned=said.missed,
            advice=said.advice,
        )
        claims: list[Claim] = []
        for claim in (*said.claims, *(claim for part in (*learned, *steps, *results) for claim in part.claims())):
            if claim not in claims:
                claims.append(claim)
        tables = [
            *(in_range_table(learned), better_half_table(steps)),
            *(_counts(results), _distances(evidence), _losses(evidence)),
        ]
        return arranged("risk", layout, said.text, claims, tables, figures)


@dataclass(frozen=True)
class LearnedTask:
    """The configurations of one task in the training range. `best` is the one with the most tokens right."""

    task: str
    configurations: int
    learned: int
    best: Configuration
    token: float
    solved: int
    decoded: int

    def claims(self) -> list[Claim]:
        about = {"task": self.task, "configuration": self.best.label}
        counted = {**about, "solved": self.solved, "decoded": self.decoded}
        learned, of = {"task": self.task, **LEARNED_VALUES}, f"of {self.configurations}"
        best = (_PER_SEED, Assumption("in_range.best_of_several"))
        share, interval = self.solved / self.decoded, wilson(self.solved, self.decoded)
        return [
            Claim("in_range.learned", self.learned, of, "measured", evidence=learned),
            Claim("in_range.tokens", self.token, "share", "measured", assumptions=best, evidence=about),
            Claim("in_range.solved", share, "share", "measured", "holds", interval, (_PER_SEED,), evidence=counted),
        ]


def in_range(evidence: Evidence) -> list[LearnedTask]:
    """How well every task was learned whose training range was measured."""
    found = []
    for task in evidence.tasks:
        own = by_configuration(climb for climb in evidence.climbs if climb.task == task and climb.points_at(IN_RANGE))
        points = {key: [point for climb in group for point in climb.points_at(IN_RANGE)] for key, group in own.items()}
        tokens = {key: mean(point.token for point in reached) or 0.0 for key, reached in points.items()}
        if tokens:
            best = max(tokens, key=lambda key: tokens[key])
            solved, decoded = (sum(getattr(point, name) for point in points[best]) for name in ("solved", "decoded"))
            learned = sum(has_learned(group) for group in own.values())
            found.append(LearnedTask(task, len(own), learned, best, tokens[best], solved, decoded))
    return found


def in_range_table(tasks: Iterable[LearnedTask]) -> Table:
    described = columns(
        "task:text problem | learned:text configurations that learned | token:share best: tokens right | "
        "solved:text best: problems solved | best:text best"
    )
    rows = []
    for one in tasks:
        learned, solved = f"{one.learned} of {one.configurations}", f"{one.solved} of {one.decoded}"
        rows.append((one.task, learned, one.token, solved, one.best.label.removeprefix(f"{one.task}, ")))
    title, note = sentence("in_range.table"), sentence("in_range.note", LEARNED_VALUES)
    return Table("in_range.tasks", described, tuple(rows), title, note)


def risk_panels(evidence: Evidence, result: Monotone, encodings: Sequence[str]) -> list[Figure]:
    """The panels of one metric, which share their template and the scale of the risk."""
    highest = max((float(trend.risk.max()) for trend in result.trends if trend.names), default=1.0)
    template = _template(result.unit, highest, encodings, evidence.layers)
    found = []
    for place, task in enumerate(evidence.tasks):
        trends = [trend for trend in result.trends if trend.configuration.task == task and trend.names]
        if not trends:
            continue
        values = {
            "task": task,
            "metric": result.metric,
            "configurations": len(trends),
            "learned": sum(trend.learned for trend in trends),
            "monotone": sum(bool(trend.monotone) for trend in trends),
        }
        nulls = [shift.null for shift in evidence.shift_of(task, result.metric).values()]
        data = {
            "null": [{"from": 0.0, "to": max(nulls), "what": "two samples of training"}] if nulls else [],
            "points": [row for trend in trends for row in _rows(trend, trend.risk.tolist())],
            "lines": [row for trend in trends for row in _rows(trend, trend.fitted.tolist())],
        }
        key, words = f"risk.{result.metric}.{place + 1}", sentence("risk.words", values)
        found.append(Figure(key, template, data, task, words, result.metric))
    return found


def _rows(trend: RiskTrend, values: Sequence[float]) -> list[dict[str, Any]]:
    unjudged = "not judged" if trend.learned else "not judged: not learned in range"
    held = {
        **looks(trend.configuration, "configuration"),
        "rho": "–" if trend.rho is None else f"{trend.rho:.2f}",
        "verdict": {True: "monotone", False: "not monotone", None: unjudged}[trend.monotone],
        "thickness": _LEARNED if trend.learned else _NOT_LEARNED,
    }
    levels = zip(trend.names, trend.w1.tolist(), values, strict=True)
    return [{**held, "level": level, "w1": w1, "risk": value} for level, w1, value in levels]


def _template(unit: str, highest: float, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    hovered = alt.selection_point(
        name="hovered", fields=["configuration"], on="pointerover", clear="pointerout", empty=False
    )
    across = title_lines(f"W1 from training ({unit})")
    look = {
        "x": alt.X("w1:Q", title=across, scale=alt.Scale(zero=True, nice=False, padding=6)),
        "y": share_axis("risk", "risk (share of wrong tokens)", domain=[0, min(1.0, 1.05 * highest) or 1.0]),
        "color": encoding_colour(encodings),
    }
    place, rho = (("w1:Q", "W1", ".3g"), ("risk:Q", "", ".1%")), ("rho:N", "Spearman, all levels")
    told = hover(("configuration:N", "model"), "level:N", *place, rho, "verdict:N")
    band = alt.Chart(alt.NamedData("null")).mark_rect(color=GREY, opacity=0.2)
    band = band.encode(x=alt.X("from:Q"), x2="to:Q", tooltip=hover("what:N", ("to:Q", "", ".3g")))
    points = alt.Chart(alt.NamedData("points")).mark_point(filled=True, size=14)
    faint = alt.condition(hovered, alt.value(0.9), alt.value(0.16))
    points = points.encode(**look, opacity=faint, tooltip=told)
    base = alt.Chart(alt.NamedData("lines")).encode(**look, detail="configuration:N")
    lines = base.mark_line(strokeJoin="round").encode(
        strokeDash=layers_dash(layers),
        opacity=alt.condition(hovered, alt.value(1.0), alt.value(0.6)),
        strokeWidth=alt.condition(hovered, alt.value(3.5), alt.StrokeWidth("thickness:Q", legend=None, scale=None)),
    )
    # A thin line is hard to hit: points that cannot be seen lie on it.
    grips = base.mark_point(filled=True, size=120, opacity=0).encode(tooltip=told)
    return template_of(alt.layer(band, lines.add_params(hovered), grips, points).properties(width=330, height=210))


def _counts(results: Sequence[Monotone]) -> Table:
    """How many configurations are monotone by each metric and axis, and in the shuffled control."""
    described = columns(
        "metric:text | axis:text levels of | monotone:text | rising:whole rising at all | "
        "shuffled monotone if shuffled | quantile at most in 95 % | p_value p | correlation mean correlation | "
        "status:text claim"
    )
    rows = []
    for result in results:
        control, page = result.control, result.page
        numbers = (None, None, None) if control is None else (control.mean, control.quantile, control.p_value)
        correlation = page.value if page is not None and isinstance(page.value, float) else None
        count = f"{result.count} of {result.judged}"
        rows.append((result.metric, result.axis, count, result.rising, *numbers, correlation, result.verdict().status))
    return _detail("counts", described, rows)


def _distances(evidence: Evidence) -> Table:
    metrics = evidence.metrics()
    rows = []
    for task in evidence.tasks:
        for axis in evidence.axes:
            along = [shift for shift in evidence.shifts if (shift.task, shift.axis) == (task, axis)]
            if along:
                last = max(shift.value for shift in along)
                far = {shift.metric: shift for shift in along if shift.value == last}
                texts = {metric: f"{shift.w1:.3g} ({shift.ratio:.1f})" for metric, shift in far.items()}
                name = next(iter(far.values())).name
                rows.append((task, name, *(texts.get(metric, "–") for metric in metrics)))
    return _detail("distances", (*columns("task:text problem | level:text"), *_texts(metrics)), rows)


def _losses(evidence: Evidence) -> Table:
    axes = (TRAINING, *evidence.axes)
    groups = {key: group for key, group in evidence.configurations.items() if has_learned(group)}
    rows = []
    for task in evidence.tasks:
        climbs = [climb for key, group in groups.items() if key.task == task for climb in group]
        if climbs:
            points = [point for climb in climbs for point in climb.ladder.points]
            cells = []
            for axis in axes:
                values = sorted({point.value for point in points if point.axis == axis})
                risks = (mean(p.risk for p in points if (p.axis, p.value) == (axis, value)) for value in values)
                cells.append(" ".join(f"{risk:.2f}" for risk in risks))
            rows.append((task, len(climbs), *cells))
    return _detail("losses", (*columns("task:text problem | models:whole"), *_texts(axes)), rows)


def _texts(names: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(name, "text") for name in names)


def _detail(name: str, described: tuple[Column, ...], rows: list[tuple[Any, ...]]) -> Table:
    key = f"risk.{name}"
    return Table(key, described, tuple(rows), sentence(key), sentence(f"{key}_note"), detail=True)
