"""The measured risk at a level and what Kantorovich's inequality allows, term by term.

The error of a model is a function of the trajectory (prompt and true trace) with values in [0, 1]. In the edit metric,
which distinguishes all trajectories, it has a Lipschitz constant L, and the risk at a level is at most the risk in
training plus L W1. Two constants are tried. The certified one (`steepest_possible`) needs no model and is large. The
supposed one is the steepest slope between held-out items of the training level: what somebody without test data would
have to go by. Nothing guarantees it, and where the measured risk exceeds the bound it was wrong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Climb, Configuration, Evidence
from lengthwise.analyses.ladder.redraw import redrawn
from lengthwise.analyses.ladder.section import LadderAnalysis
from lengthwise.analyses.layout import Menu, PageLayout, arranged
from lengthwise.bounds.kantorovich import realizable_bound
from lengthwise.bounds.risk import NUMBERS, RiskBound
from lengthwise.bounds.sampling import Sampling, risk_deviation
from lengthwise.figures.style import GREY, PALETTE, alt, hover, template_of
from lengthwise.figures.waterfall import waterfall_rows
from lengthwise.messages import explain, sentence
from lengthwise.probes.ladder.levels import LevelPoint
from lengthwise.records import Assumption, Claim, Figure, Kind, Record, Reference, Status, Table, columns
from lengthwise.seeds import Floats
from lengthwise.shift.level_shift import LevelShift
from lengthwise.tasks.ladder import TRAINING
from lengthwise.transport.metrics import metrics
from lengthwise.transport.trajectories import Sample, Trajectory

METRIC = "edit"
DELTA = 0.05  # shared by the two sampling terms of a bound; and once more for the measured risk
STATEMENT = Reference("docs/explanation/bounds.md", "statement 12")
EACH = Assumption("bound.each")
SUPPOSED = Assumption("bound.steepest_seen")
WHICH = ("supposed", "certified")
_KINDS = ("term", "total", "measured")  # of bars
_SAMPLING = ("sampling_risk", "sampling_distance")

explain(
    {
        "bound.title": "The bound and the measured risk",
        "bound.link": "Bound",
        "bound.text": (
            "By Kantorovich duality, the risk at a level is at most the risk in training plus a Lipschitz "
            "constant times W1 (in the {metric} metric), plus what sampling adds. The certified constant "
            "holds for every model; a sum of 1 or more says nothing. The supposed bound would hold if no "
            "slope were steeper than the steepest one seen among held-out training items."
        ),
        "bound.note": "The dashed line is 1, which no risk exceeds.",
        "bound.seeds": "With several seeds, the menu shows the first; the table covers all of them.",
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
        "bound.no_distance": "no distance is known in the metric {metric}",
        "bound.no_items": "the items of {task} cannot be drawn here",
        "bound.no_training": "a model of {task} was not measured in the training range",
        "bound.certified_slope": "Lipschitz constant of any error in [0, 1] in the edit metric",
        "bound.supposed_slope": "steepest slope of the error between held-out items of training",
    }
)


@analyses.register("bound")
@dataclass(frozen=True)
class BoundAnalysis(LadderAnalysis):
    """Whether the measured risk is below what Kantorovich's inequality allows."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        result = bound(evidence)
        points, several = result.points, len({point.seed for point in result.points}) > 1
        notes = (sentence("bound.note"), *([sentence("bound.seeds")] if several else []))
        menus, figures = _waterfall(points) if points and study.pictures else ((), ())
        text = (sentence("bound.text", {"metric": METRIC}), *(gap.statement for gap in result.missing))
        layout = PageLayout(notes=notes, columns=1, menus=menus)
        return arranged("bound", layout, text, result.claims(), [_table(points)] if points else (), figures)

    def says(self, evidence: Evidence) -> bool:
        return bool(bound(evidence).points)


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
        return math.fsum(term.value for term in self.supposed.terms if term.key not in _SAMPLING)

    @property
    def looseness(self) -> float:
        """Supposed bound minus measured risk; below 0 where it is broken."""
        return self.supposed.total - self.measured


@dataclass(frozen=True)
class BoundFinding:
    """All models at all levels. `missing` says what could not be bounded."""

    points: tuple[BoundPoint, ...]
    missing: tuple[Assumption, ...]

    def claims(self) -> list[Claim]:
        """Does the certified bound say anything; is the supposed one kept; is what it supposes true; how loose."""
        if not self.points:
            return [Claim("bound.exceeded", None, "", "heuristic", "unknown", None, self.missing, STATEMENT)]
        return [self._certified(), self._kept(), self._steeper(), self._loose()]

    def _count(
        self, key: str, value: int, kind: Kind, status: Status, evidence: dict[str, Any], *assumptions: Assumption
    ) -> Claim:
        of = f"of {len(self.points)} models at levels"
        return Claim(key, value, of, kind, status, None, (*assumptions, *self.missing), STATEMENT, evidence)

    def _certified(self) -> Claim:
        totals = [point.certified.total for point in self.points]
        useful = sum(total < 1 for total in totals)
        # What all certified bounds rest on, apart from their numbers.
        rests_on = [one for one in self.points[0].certified.assumptions if one.key not in NUMBERS]
        wrong = sum(point.measured > point.certified.total + point.tolerance for point in self.points)
        seen = {"smallest": min(totals), "median": float(np.median(totals)), "broken": wrong}
        status: Status = "holds" if useful else "vacuous"
        return self._count("bound.certified_below_one", useful, "certified", status, seen, EACH, *rests_on)

    def _kept(self) -> Claim:
        broken = [point for point in self.points if point.broken]
        beyond = sum(point.broken_beyond_chance for point in self.points)
        useful = sum(point.supposed.total < 1 for point in self.points)
        status: Status = "refuted" if beyond else "holds" if useful else "vacuous"
        axes = dict.fromkeys(point.axis for point in self.points)
        evidence = {
            "beyond_chance": beyond,
            "configurations": len({point.configuration for point in broken}),
            "by_axis": {axis: sum(point.axis == axis for point in broken) for axis in axes},
            "below_one": useful,
            "broken_without_sampling": sum(p.measured > p.without_sampling for p in self.points),
        }
        return self._count("bound.exceeded", len(broken), "heuristic", status, evidence, SUPPOSED, EACH)

    def _steeper(self) -> Claim:
        steeper = sum(point.steepest > point.slope for point in self.points)
        both = {
            "median_in_training": float(np.median([point.slope for point in self.points])),
            "median_to_level": float(np.median([point.steepest for point in self.points])),
        }
        return self._count("bound.steeper", steeper, "measured", "holds", both)

    def _loose(self) -> Claim:
        """How far the supposed bound lies above the measured risk, where it says anything."""
        useful = [point for point in self.points if point.supposed.total < 1]
        if not useful:
            none = (Assumption("bound.none_below_one", "caveat"),)
            return Claim("bound.looseness", None, "risk", "heuristic", "vacuous", None, none, STATEMENT)
        ratios = [point.supposed.total / point.measured for point in useful if point.measured > 0]
        terms = zip(*(point.supposed.terms for point in useful), strict=True)
        evidence = {
            "points": len(useful),
            "median_ratio": float(np.median(ratios)) if ratios else None,
            "median_terms": {own[0].key: float(np.median([term.value for term in own])) for own in terms},
        }
        value, given = float(np.median([point.looseness for point in useful])), (SUPPOSED, EACH)
        return Claim("bound.looseness", value, "risk", "heuristic", "holds", None, given, STATEMENT, evidence)


@functools.lru_cache(maxsize=4)
def bound(evidence: Evidence) -> BoundFinding:
    """The bounds of every model at every level beyond training whose distance is known in the edit metric."""
    if METRIC not in evidence.metrics():
        return BoundFinding((), (Assumption("bound.no_distance", "caveat", {"metric": METRIC}),))
    points: list[BoundPoint] = []
    missing: dict[tuple[str, str], None] = {}
    known: dict[tuple[str, int, int], dict[str, tuple[Floats, int]]] = {}
    for climb in evidence.climbs:
        ladder = climb.ladder
        key = (climb.task, ladder.train_size, ladder.settings.items)
        if key not in known:
            known[key] = _places(*key)
        source = next((point for point in ladder.points if point.axis == TRAINING), None)
        if not known[key]:
            missing["bound.no_items", climb.task] = None
        elif source is None or source.items != ladder.settings.items:
            missing["bound.no_training", climb.task] = None
        else:
            points += _points(climb, source, known[key], evidence.shift_of(climb.task, METRIC))
    gaps = tuple(Assumption(key, "caveat", {"task": task}) for key, task in missing)
    return BoundFinding(tuple(points), gaps)


def _places(task: str, train_size: int, items: int) -> dict[str, tuple[Floats, int]]:
    """Level → distances of the measured items from those of training, and the most tokens of a trajectory there or in
    training; nothing for a task that is not known here, such as a file of somebody else's."""
    levels = redrawn(task, train_size, items)
    training = levels.get(TRAINING)
    return {
        name: (edit_distances(training.items, level.items), max(level.longest, training.longest))
        for name, level in levels.items()
        if training
    }


def _points(
    climb: Climb, source: LevelPoint, places: Mapping[str, tuple[Floats, int]], shifts: Mapping[str, LevelShift]
) -> list[BoundPoint]:
    slope = steepest_seen(places[TRAINING][0], source.errors, source.errors)
    unit, items = "per unit of distance", {"items": climb.ladder.settings.items}
    supposed = Claim("bound.supposed_slope", slope, unit, "measured", evidence=items)
    reference = Reference("lengthwise", "docs/findings/findings.md, the certified slope")
    found = []
    for point in climb.ladder.points:
        name = point.name
        usable = name in shifts and name in places and point.items == source.items
        if point.axis == TRAINING or not usable:
            continue
        distances, longest = places[name]
        steepest, known = steepest_possible(longest), {"longest": longest}
        certified = Claim("bound.certified_slope", steepest, unit, "certified", reference=reference, evidence=known)
        found.append(
            BoundPoint(
                configuration=climb.configuration,
                seed=climb.seed,
                axis=point.axis,
                level=name,
                measured=point.risk,
                tolerance=risk_deviation(point.items, 1.0, DELTA),
                certified=_bound(source, shifts[name], certified),
                supposed=_bound(source, shifts[name], supposed),
                slope=slope,
                steepest=steepest_seen(distances, source.errors, point.errors),
            )
        )
    return found


def _bound(source: LevelPoint, shift: LevelShift, slope: Claim) -> RiskBound:
    """Statement 12 with the error as the model, 0 as the label and the difference as the loss.

    W1 of the distributions exceeds W1 of samples by more than its sampling term with probability DELTA / 2 at most
    (McDiarmid; see `shift/sampling_error.py`); the diameter of the metric is 1.
    """
    return realizable_bound(
        source.risk,
        shift.w1,
        model_lipschitz=slope,
        target_lipschitz=0.0,
        loss_range=1.0,
        sampling=Sampling(
            risk=risk_deviation(source.items, 1.0, DELTA / 2), distance=math.sqrt(math.log(2 / DELTA) / shift.items)
        ),
        metric="normalised edit distance of prompt and trace",
    )


def steepest_possible(longest: int) -> float:
    """n + 1/2: a Lipschitz constant of every function into [0, 1] on trajectories of at most n = `longest` tokens.

    The metric is D(x, y) = 2 d / (|x| + |y| + d), d the Levenshtein distance. It grows with d and falls with
    |x| + |y|; different trajectories have d >= 1, and |x| + |y| <= 2n. So D >= 2 / (2n + 1) between different ones,
    which two of n tokens that differ at one place attain, and a function into [0, 1] changes by 1 at most over that.

    A bound made from it is never better than total variation: whatever a coupling moves at all it moves by 2 / (2n + 1)
    or more, so (n + 1/2) W1 is at least the mass that must move. Where training and test share no trajectory, as when
    depth shifts, that is all of it, and the bound is vacuous.
    """
    return longest + 0.5


def edit_distances(first: Sequence[Trajectory], second: Sequence[Trajectory]) -> Floats:
    """The normalised edit distances of two lists of trajectories, [first, second]."""
    one, two = Sample.of(first, name="first"), Sample.of(second, name="second")
    return metrics.restore(METRIC).fit(one).distances(one, two)[one.owner][:, two.owner]


def steepest_seen(distances: Floats, first: Sequence[float], second: Sequence[float]) -> float:
    """The largest |e(x) - e(y)| / d(x, y) over pairs that differ, a lower bound of the Lipschitz constant; 0 without
    such pairs. `first` and `second` are the errors, `distances` is [first, second]."""
    gaps = np.abs(np.asarray(first, dtype=np.float64)[:, None] - np.asarray(second, dtype=np.float64)[None, :])
    apart = distances > 0
    return float((gaps[apart] / distances[apart]).max()) if apart.any() else 0.0


def _waterfall(points: Sequence[BoundPoint]) -> tuple[tuple[Menu, ...], tuple[Figure, ...]]:
    """One bound term by term, and the menus that choose it: a model, the last level of an axis, and which bound. Of
    several seeds the first is shown."""
    seeds: dict[Configuration, int] = {}
    last: dict[tuple[Configuration, str], BoundPoint] = {}
    for point in points:
        if seeds.setdefault(point.configuration, point.seed) == point.seed:
            last[point.configuration, point.axis] = point  # levels come in the order of the ladder
    drawn = list(last.values())
    options = {
        "model": tuple((name, name) for name in dict.fromkeys(map(_model, drawn))),
        "axis": tuple((axis, axis) for axis in dict.fromkeys(point.axis for point in drawn)),
        "which": tuple((which, sentence(f"bound.{which}")) for which in WHICH),
    }
    menus = tuple(Menu(name, sentence(f"bound.menu_{name}"), own, sets=True) for name, own in options.items())
    rows = [row for point in drawn for which in WHICH for row in _rows(point, which)]
    most = 2 + max(len(getattr(point, which).terms) for point in drawn for which in WHICH)
    title, words = sentence("bound.figure"), sentence("bound.words")
    return menus, (Figure("bound", _template(menus, most), {"terms": rows}, title, words),)


def _model(point: BoundPoint) -> str:
    return f"{point.configuration.task}: {point.configuration.model}"


def _rows(point: BoundPoint, which: str) -> list[dict[str, Any]]:
    """The bars of one bound; none where a term has no number."""
    bound: RiskBound = getattr(point, which)
    if bound.missing or not all(math.isfinite(term.value) for term in bound.terms):
        return []
    bars = waterfall_rows([(term.name, max(0.0, term.value)) for term in bound.terms], sentence("bound.sum"))
    risk = {"value": point.measured, "from": 0.0, "to": point.measured, "kind": "measured"}
    bars.append({"term": sentence("bound.measured"), **risk})
    held = {"model": _model(point), "axis": point.axis, "which": which, "level": point.level, "ceiling": bound.ceiling}
    hows = {term.name: term.how for term in bound.terms}
    return [
        {**held, **bar, "how": hows.get(bar["term"], ""), "order": order, "room": 1.12 * bar["to"]}
        for order, bar in enumerate(bars)
    ]


def _template(menus: Sequence[Menu], bars: int) -> dict[str, Any]:
    parameters = [alt.param(name=menu.name, value=menu.options[0][0]) for menu in menus]
    chosen = " && ".join(f"datum.{menu.name} == {menu.name}" for menu in menus)
    base = alt.Chart(alt.NamedData("terms")).transform_filter(chosen)
    y = alt.Y("term:N", title=None, sort=alt.EncodingSortField("order"), axis=alt.Axis(labelLimit=190))
    x = alt.X("from:Q", title="risk", scale=alt.Scale(domainMin=0, nice=False))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=_KINDS, range=PALETTE[:3]), legend=None)
    told = hover("term:N", ("value:Q", "", ".4g"), "level:N", ("how:N", "how it is computed"))
    boxes = base.mark_bar().encode(y=y, x=x, x2="to:Q", color=colour, tooltip=told)
    labels = base.mark_text(align="left", dx=4).encode(y=y, x="to:Q", text=alt.Text("value:Q", format=".3g"))
    ceiling = base.mark_rule(strokeDash=[4, 4], color=GREY).encode(x=alt.X("ceiling:Q", aggregate="max"))
    room = base.mark_point(opacity=0).encode(x="room:Q")  # for the number behind the longest bar
    chart = alt.layer(boxes, labels, ceiling, room).add_params(*parameters)
    return template_of(chart.properties(width=560, height=28 * bars))


def _table(points: Sequence[BoundPoint]) -> Table:
    """How loose the bounds are, by task and axis."""
    described = columns(
        "task:text | axis:text levels of | bounds:whole | measured | supposed | looseness supposed − measured | "
        "exceeded:whole | beyond_chance:whole beyond chance | certified | vacuous:whole"
    )
    groups: dict[tuple[str, str], list[BoundPoint]] = {}
    for point in points:
        groups.setdefault((point.configuration.task, point.axis), []).append(point)
    rows = tuple(
        (
            *place,
            len(group),
            _median(point.measured for point in group),
            _median(point.supposed.total for point in group),
            _median(point.looseness for point in group),
            sum(point.broken for point in group),
            sum(point.broken_beyond_chance for point in group),
            _median(point.certified.total for point in group),
            sum(point.certified.status == "vacuous" for point in group),
        )
        for place, group in groups.items()
    )
    return Table("bound.looseness", described, rows, sentence("bound.table"), sentence("bound.table_note"))


def _median(values: Iterable[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return round(float(np.median(known)), 4) if known else None
