"""What the bounds of many models at many levels say together, and the figure of one bound term by term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.evidence import Configuration, model_name
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.bounds.risk import NUMBERS, RiskBound
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.figures.waterfall import waterfall_rows
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Column, Figure, Kind, Record, Reference, Status, Table

STATEMENT = Reference("docs/bounds.md", "statement 12")
EACH = Assumption("bound.each")
SUPPOSED = Assumption("bound.steepest_seen")
WHICH = ("supposed", "certified")
_COLOURS = {"term": "#0072B2", "total": "#D55E00", "measured": "#009E73"}

explain(
    {
        "bound.title": "The bound and the measured risk",
        "bound.link": "Bound",
        "bound.text": "By Kantorovich the risk at a level is at most the risk in training plus a Lipschitz constant "
        "times W1 (in the {metric} metric), plus what sampling adds. The certified constant holds for every model, "
        "and a sum of 1 or more says nothing. The supposed bound would hold if no slope were steeper than the "
        "steepest seen among held-out items of training.",
        "bound.note": "The dashed line is 1, which no risk exceeds.",
        "bound.seeds": "Of several seeds the menu shows the first; the table is over all.",
        "bound.each": "each bound holds with probability 95 % over the items; they were not corrected for their number",
        "bound.steepest_seen": "the steepest slope seen between held-out items of training is the steepest there is",
        "bound.none_below_one": "no supposed bound is below 1",
        "bound.certified_below_one": "certified bounds of the risk below 1",
        "bound.exceeded": "measured risks above the bound from the steepest slope seen in training",
        "bound.steeper": "a slope from training to the level steeper than any seen in training",
        "bound.looseness": "supposed bound minus measured risk, median where the bound is below 1",
        "bound.figure": "The bound, term by term",
        "bound.words": "The terms of the bound on the risk as consecutive bars, their sum, and the measured risk.",
        "bound.menu_model": "Model",
        "bound.menu_axis": "Farthest level of",
        "bound.menu_which": "Bound",
        "bound.supposed": "supposed, from the steepest slope seen in training",
        "bound.certified": "certified",
        "bound.sum": "bound",
        "bound.measured": "measured risk",
        "bound.table": "How loose the bounds are",
        "bound.table_note": "Medians over models and levels, as shares. Exceeded: how often the measured risk is "
        "above the supposed bound, which is then no bound; vacuous: how many certified bounds are 1 or more and say "
        "nothing.",
    }
)


@dataclass(frozen=True)
class BoundPoint:
    """One trained model at one level. `certified` holds for certain and is vacuous but for luck; `supposed` would hold
    if the steepest slope seen among held-out items of training (`slope`) were the steepest there is. `steepest` is the
    steepest seen between training and this level: where it exceeds `slope`, the supposition is false.

    `tolerance` is how far the measured risk may lie above the true one by chance; a bound is broken beyond chance
    where the measured risk exceeds it by more.
    """

    configuration: Configuration
    seed: int
    axis: str
    level: str
    measured: float
    tolerance: float
    certified: RiskBound
    supposed: RiskBound
    slope: float
    steepest: float

    @property
    def broken(self) -> bool:
        """The measured risk exceeds the supposed bound."""
        return self.measured > self.supposed.total

    @property
    def broken_beyond_chance(self) -> bool:
        return self.measured > self.supposed.total + self.tolerance

    @property
    def without_sampling(self) -> float:
        """Source risk and slope times W1 alone, the samples being taken for the truth."""
        sampling = ("sampling_risk", "sampling_distance")
        return math.fsum(term.value for term in self.supposed.terms if term.key not in sampling)

    @property
    def looseness(self) -> float:
        """Supposed bound minus measured risk; below 0 where it is broken."""
        return self.supposed.total - self.measured


@dataclass(frozen=True)
class BoundFinding:
    """All models at all levels. `missing` says what could not be bounded."""

    metric: str
    points: tuple[BoundPoint, ...]
    missing: tuple[Assumption, ...]

    def at(self, configuration: Configuration, seed: int, level: str) -> BoundPoint:
        for point in self.points:
            if (point.configuration, point.seed, point.level) == (configuration, seed, level):
                return point
        raise KeyError(f"no bound was made for {configuration}, seed {seed}, level {level}")

    def claims(self) -> list[Claim]:
        """Does the certified bound say anything; is the supposed one kept; is what it supposes true; how loose."""
        if not self.points:
            return [Claim("bound.exceeded", None, "", "heuristic", "unknown", None, self.missing, STATEMENT)]
        return [self._certified(), self._kept(), self._steeper(), *self._loose()]

    def _count(
        self, key: str, value: int, kind: Kind, status: Status, evidence: dict[str, Any], *assumptions: Assumption
    ) -> Claim:
        of = f"of {len(self.points)} models at levels"
        return Claim(key, value, of, kind, status, None, (*assumptions, *self.missing), STATEMENT, evidence)

    def _certified(self) -> Claim:
        totals = [point.certified.total for point in self.points]
        useful = sum(total < 1 for total in totals)
        assumptions = (EACH, *_checked(self.points[0].certified))
        status: Status = "holds" if useful else "vacuous"
        wrong = sum(point.measured > point.certified.total + point.tolerance for point in self.points)
        totals_seen = {"smallest": min(totals), "median": float(np.median(totals)), "broken": wrong}
        return self._count("bound.certified_below_one", useful, "certified", status, totals_seen, *assumptions)

    def _kept(self) -> Claim:
        broken = [point for point in self.points if point.broken]
        beyond = [point for point in self.points if point.broken_beyond_chance]
        useful = [point for point in self.points if point.supposed.total < 1]
        status: Status = "refuted" if beyond else "holds" if useful else "vacuous"
        evidence = {
            "beyond_chance": len(beyond),
            "configurations": len({point.configuration for point in broken}),
            "by_axis": {a: sum(p.axis == a for p in broken) for a in _axes(self.points)},
            "below_one": len(useful),
            "broken_without_sampling": sum(p.measured > p.without_sampling for p in self.points),
        }
        return self._count("bound.exceeded", len(broken), "heuristic", status, evidence, SUPPOSED, EACH)

    def _steeper(self) -> Claim:
        steeper = sum(point.steepest > point.slope for point in self.points)
        slopes = [point.slope for point in self.points]
        both = {
            "median_in_training": float(np.median(slopes)),
            "median_to_level": float(np.median([point.steepest for point in self.points])),
        }
        return self._count("bound.steeper", steeper, "measured", "holds", both)

    def _loose(self) -> list[Claim]:
        """How far the supposed bound lies above the measured risk, where it says anything."""
        useful = [point for point in self.points if point.supposed.total < 1]
        key = "bound.looseness"
        if not useful:
            none = Assumption("bound.none_below_one", "violated")
            return [Claim(key, None, "risk", "heuristic", "vacuous", None, (none,), STATEMENT)]
        ratios = [point.supposed.total / point.measured for point in useful if point.measured > 0]
        evidence = {
            "points": len(useful),
            "median_ratio": float(np.median(ratios)) if ratios else None,
            "median_terms": _median_terms(useful),
        }
        value = float(np.median([point.looseness for point in useful]))
        return [Claim(key, value, "risk", "heuristic", "holds", None, (SUPPOSED, EACH), STATEMENT, evidence)]


def _checked(bound: RiskBound) -> list[Assumption]:
    """What all certified bounds rest on, apart from their numbers."""
    return [assumption for assumption in bound.assumptions if assumption.key not in NUMBERS]


def _axes(points: tuple[BoundPoint, ...]) -> list[str]:
    return list(dict.fromkeys(point.axis for point in points))


def _median_terms(points: list[BoundPoint]) -> dict[str, float]:
    names = [term.key for term in points[0].supposed.terms]
    columns = zip(*([term.value for term in point.supposed.terms] for point in points), strict=True)
    return {name: float(np.median(values)) for name, values in zip(names, columns, strict=True)}


def bound_record(result: BoundFinding, pictures: bool) -> Record:
    """The claims, the waterfall with its menus, and the table."""
    several = len({point.seed for point in result.points}) > 1
    notes = [sentence("bound.note")]
    drawn = _farthest(result.points)
    models = tuple((name, name) for name in dict.fromkeys(_model(point) for point in drawn))
    axes = tuple((axis, axis) for axis in dict.fromkeys(point.axis for point in drawn))
    menus = (
        Menu("model", sentence("bound.menu_model"), models, sets=True),
        Menu("axis", sentence("bound.menu_axis"), axes, sets=True),
        Menu("which", sentence("bound.menu_which"), tuple((w, sentence(f"bound.{w}")) for w in WHICH), sets=True),
    )
    figures = ()
    if result.points and pictures:
        rows = [row for point in drawn for which in WHICH for row in _rows(point, which)]
        template = _template(menus, _longest(drawn))
        figures = (Figure("bound", template, {"terms": rows}, sentence("bound.figure"), sentence("bound.words")),)
    notes += [sentence("bound.seeds")] if several else []
    layout = PageLayout(sentence("bound.link"), notes=tuple(notes), columns=1, menus=menus if figures else ())
    return Record(
        "bound",
        title=sentence("bound.title"),
        text=(sentence("bound.text", {"metric": result.metric}), *(gap.statement for gap in result.missing)),
        claims=tuple(result.claims()),
        tables=(_table(result.points),) if result.points else (),
        figures=figures,
        data={LAYOUT: layout.plain()},
    )


def _farthest(points: Sequence[BoundPoint]) -> list[BoundPoint]:
    """The last level of every axis, for the first seed of each configuration."""
    seeds: dict[Any, int] = {}
    last: dict[tuple[Any, str], BoundPoint] = {}
    for point in points:
        if seeds.setdefault(point.configuration, point.seed) == point.seed:
            last[point.configuration, point.axis] = point  # levels come in the order of the ladder
    return list(last.values())


def _model(point: BoundPoint) -> str:
    return f"{point.configuration[0]}: {model_name(point.configuration)}"


def _rows(point: BoundPoint, which: str) -> list[dict[str, Any]]:
    """The bars of one bound; none where a term has no number."""
    bound: RiskBound = getattr(point, which)
    if bound.missing or not all(math.isfinite(term.value) for term in bound.terms):
        return []
    held = {"model": _model(point), "axis": point.axis, "which": which, "level": point.level}
    bars = waterfall_rows([(term.name, max(0.0, term.value)) for term in bound.terms], sentence("bound.sum"))
    hows = {term.name: term.how for term in bound.terms}
    name = sentence("bound.measured")
    measured = {"term": name, "value": point.measured, "from": 0.0, "to": point.measured, "kind": "measured"}
    bars = [*bars, measured]
    return [
        {
            **held,
            **bar,
            "how": hows.get(bar["term"], ""),
            "order": order,
            "ceiling": bound.ceiling,
            "room": 1.12 * bar["to"],
        }
        for order, bar in enumerate(bars)
    ]


def _longest(points: Sequence[BoundPoint]) -> int:
    """The most bars of a bound."""
    return 2 + max(max(len(point.supposed.terms), len(point.certified.terms)) for point in points)


def _template(menus: Sequence[Menu], bars: int) -> dict[str, Any]:
    parameters = [alt.param(name=menu.name, value=menu.options[0][0]) for menu in menus]
    chosen = " && ".join(f"datum.{menu.name} == {menu.name}" for menu in menus)
    base = alt.Chart(alt.NamedData("terms")).transform_filter(chosen)
    y = alt.Y("term:N", title=None, sort=alt.EncodingSortField("order"), axis=alt.Axis(labelLimit=190))
    x = alt.X("from:Q", title="risk", scale=alt.Scale(domainMin=0, nice=False))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), legend=None)
    told = hover("term:N", ("value:Q", "", ".4g"), "level:N", ("how:N", "how it is computed"))
    boxes = base.mark_bar().encode(y=y, x=x, x2="to:Q", color=colour, tooltip=told)
    labels = base.mark_text(align="left", dx=4).encode(y=y, x="to:Q", text=alt.Text("value:Q", format=".3g"))
    ceiling = base.mark_rule(strokeDash=[4, 4], color="#888888").encode(x=alt.X("ceiling:Q", aggregate="max"))
    room = base.mark_point(opacity=0).encode(x="room:Q")  # for the number behind the longest bar
    chart = alt.layer(boxes, labels, ceiling, room).add_params(*parameters)
    return template_of(chart.properties(width=560, height=28 * bars))


def _table(points: Sequence[BoundPoint]) -> Table:
    """How loose the bounds are, by task and axis."""
    groups: dict[tuple[str, str], list[BoundPoint]] = {}
    for point in points:
        groups.setdefault((point.configuration[0], point.axis), []).append(point)
    rows = []
    for (task, axis), group in groups.items():
        rows.append(
            (
                task,
                axis,
                len(group),
                _median([point.measured for point in group]),
                _median([point.supposed.total for point in group]),
                _median([point.looseness for point in group]),
                sum(point.broken for point in group),
                sum(point.broken_beyond_chance for point in group),
                _median([point.certified.total for point in group]),
                sum(point.certified.status == "vacuous" for point in group),
            )
        )
    columns = (
        Column("task", "text"),
        Column("axis", "text", "levels of"),
        Column("bounds", "whole"),
        Column("measured"),
        Column("supposed"),
        Column("looseness", title="supposed − measured"),
        Column("exceeded", "whole"),
        Column("beyond_chance", "whole", "beyond chance"),
        Column("certified"),
        Column("vacuous", "whole"),
    )
    note = sentence("bound.table_note")
    return Table("bound.looseness", columns, tuple(rows), sentence("bound.table"), note)


def _median(values: Sequence[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return round(float(np.median(known)), 4) if known else None
