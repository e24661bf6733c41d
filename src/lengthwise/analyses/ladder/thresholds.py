"""How many layers a depth of search takes: what the oracle says and what was measured.

The bars, chosen before any data: a number of layers reaches a depth level if, with its best width, 90 % of the tokens
are right there (the true trace being given), or if half of the problems are solved by writing freely; seeds averaged.

A threshold of the oracle that is enough for some class of models says that a model exists, not that training finds it:
reaching the level with as few layers or fewer agrees; not reaching it says nothing. A threshold that is needed is
contradicted by fewer layers that reach the level; reaching it with no fewer agrees; not reaching it says nothing.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import DEPTH, Climb, Evidence, by_configuration, layers_text, mean
from lengthwise.analyses.ladder.looks import encoding_colour, layers_dash
from lengthwise.analyses.ladder.redraw import redrawn
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.analyses.words import percent
from lengthwise.figures.layout import whole_axis
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.oracle.depth import Nesting
from lengthwise.records import Assumption, Claim, Column, Figure, Record, Table
from lengthwise.tasks.ladder import TRAINING
from lengthwise.tasks.search.search_task import SearchTask

TOKEN_BAR, SOLVED_BAR = 0.9, 0.5
_DEPTHS = (TRAINING, DEPTH)  # the training range is as deep as its largest size
LOOKED_AT = 16  # items of a level whose nesting is looked at
NEEDED = "depth.needed_pointers"  # of the oracle's thresholds, those that are needed; the others are enough
Agreement = Literal["agrees", "contradicted", "silent"]

explain(
    {
        "thresholds.agrees": "agrees",
        "thresholds.contradicted": "contradicted",
        "thresholds.silent": "says nothing",
        "thresholds.best_width": "of all widths the best is taken, so chance favours the models; no interval is given",
        "thresholds.followed": "models that get {percent:g} % of the tokens right follow the stack",
        "thresholds.tried": "only the depths and widths of the study were tried, with its training",
        "thresholds.bar": "reached means that {percent:g} % of the tokens are right, seeds averaged",
        "thresholds.row": "layers that reach {level}: {task}, {position}",
        "thresholds.over_rows": "{prediction}: levels where the measurement agrees",
        "thresholds.needed_unreached": "{wanted} layers are said to be needed, and no number that was tried reached "
        "the level",
        "thresholds.needed_broken": "{wanted} layers are said to be needed, and {reached} reached the level",
        "thresholds.needed_kept": "{wanted} layers are said to be needed, and the fewest that reached the level are "
        "{reached}",
        "thresholds.enough_kept": "{wanted} layers are enough for some model, and {reached} reached the level by "
        "training",
        "thresholds.enough_untried": "{wanted} layers are enough for some model, and as many were not tried",
        "thresholds.enough_unfound": "{wanted} layers are enough for some model, but training found none",
        "thresholds.enough_more": "{wanted} layers are enough for some model, but training took {reached}",
    }
)
BEST = Assumption("thresholds.best_width")
FOLLOWED = Assumption("thresholds.followed", values={"percent": 100 * TOKEN_BAR})
TRIED = Assumption("thresholds.tried")
MEASURES = ("token", "solved")
_BARS = {"token": TOKEN_BAR, "solved": SOLVED_BAR}

explain(
    {
        "thresholds.title": "Layers against depth of search",
        "thresholds.link": "Layers",
        "thresholds.text": "The best width of each number of layers, by how deep the search goes. A number of layers "
        "is enough where it has {token} of the tokens right, or solves {solved} of the problems (dashed).",
        "thresholds.menu": "Shown",
        "thresholds.token": "tokens right",
        "thresholds.solved": "problems solved",
        "thresholds.words": "The share of {what} by depth of the search for {task}, the best width of each number of "
        "layers.",
        "thresholds.summary": "What the oracle said of the layers",
        "thresholds.summary_note": "Counted over tasks, encodings and depths of search. A theorem about what exists "
        "says nothing of training.",
        "thresholds.measured": "Layers that were enough, by depth of search",
        "thresholds.predicted": "Every prediction of the oracle",
    }
)


@dataclass(frozen=True)
class LayerPrediction:
    """A threshold of the oracle, and what the measurement says of it; `because` is the key of the reason."""

    claim: Claim  # of oracle.depth
    agreement: Agreement
    because: str
    reached: int | None

    @property
    def reason(self) -> str:
        return sentence(self.because, {"wanted": self.claim.value, "reached": self.reached})


def predictions(kinds: int, nesting: int, layers: Sequence[int], reached: int | None) -> tuple[LayerPrediction, ...]:
    """The thresholds in layers for brackets of `kinds` kinds nested `nesting` deep, judged by the layers that reached
    the level (None: none of `layers` did). The threshold in bits is for models that do not look back, and left out."""
    claims = (claim for claim in Nesting(kinds, nesting).claims() if claim.unit == "layers")
    return tuple(
        LayerPrediction(claim, *(_needed if claim.key == NEEDED else _enough)(claim, layers, reached), reached)
        for claim in claims
    )


def _needed(claim: Claim, layers: Sequence[int], reached: int | None) -> tuple[Agreement, str]:  # noqa: ARG001
    if reached is None:
        return "silent", "thresholds.needed_unreached"
    if reached < int(claim.value or 0):
        return "contradicted", "thresholds.needed_broken"
    return "agrees", "thresholds.needed_kept"


def _enough(claim: Claim, layers: Sequence[int], reached: int | None) -> tuple[Agreement, str]:
    wanted = int(claim.value or 0)
    if reached is not None and reached <= wanted:
        return "agrees", "thresholds.enough_kept"
    if not any(tried >= wanted for tried in layers):
        return "silent", "thresholds.enough_untried"
    return "silent", "thresholds.enough_unfound" if reached is None else "thresholds.enough_more"


@dataclass(frozen=True)
class Threshold:
    """One task and encoding at one depth level, or in the training range, whose `value` is its largest depth.

    `layers` are the depths that were tried; `accurate` and `solving` are the smallest that reach the bar with their
    best width (token accuracy, share of problems solved), None if none. `nesting` is how deep the traces nest, None
    where the task has no brackets.
    """

    task: str
    position: str
    level: str
    value: int
    nesting: int | None
    layers: tuple[int, ...]
    accurate: int | None
    solving: int | None
    best_token: tuple[float, ...]  # by layers
    best_solved: tuple[float, ...]
    predictions: tuple[LayerPrediction, ...]


@dataclass(frozen=True)
class Thresholds:
    """All thresholds. The predictions of a row are judged by the layers that reach the bar of tokens."""

    rows: tuple[Threshold, ...]

    def claims(self) -> list[Claim]:
        """One per row, then one for every prediction of the oracle over all rows."""
        return [*(_claim(row) for row in self.rows), *self._verdicts()]

    def _verdicts(self) -> list[Claim]:
        judged: dict[str, list[LayerPrediction]] = {}
        for row in self.rows:
            for prediction in row.predictions:
                judged.setdefault(prediction.claim.key, []).append(prediction)
        return [_over_rows(found) for found in judged.values()]


@functools.lru_cache(maxsize=4)
def thresholds(evidence: Evidence) -> Thresholds:
    """The measured and the predicted thresholds of every task and encoding in the training range and at every depth."""
    groups: dict[tuple[str, str], list[Climb]] = {}
    for climb in evidence.climbs:
        groups.setdefault((climb.task, climb.position), []).append(climb)
    shapes: dict[tuple[str, int, int], dict[str, tuple[int, int]]] = {}
    rows = []
    for (task, position), climbs in groups.items():
        ladder = climbs[0].ladder
        key = (task, ladder.train_size, ladder.settings.items)
        if key not in shapes:
            shapes[key] = _shapes(*key)
        points = [point for climb in climbs for point in climb.ladder.points if point.axis in _DEPTHS]
        if all(point.axis == TRAINING for point in points):
            continue
        values = {point.name: ladder.train_size if point.axis == TRAINING else point.value for point in points}
        for name, value in sorted(values.items(), key=lambda one: one[1]):
            rows.append(_row(task, position, (name, value), climbs, shapes[key].get(name)))
    return Thresholds(tuple(rows))


def _row(
    task: str, position: str, level: tuple[str, int], climbs: Sequence[Climb], shape: tuple[int, int] | None
) -> Threshold:
    best: dict[int, tuple[float, float]] = {}
    for (_, _, depth, _), seeds in by_configuration(climbs).items():
        points = [point for climb in seeds for point in climb.ladder.points if point.name == level[0]]
        token, solved = mean(p.token for p in points), mean(p.solved / p.decoded for p in points)
        if token is not None and solved is not None:
            before = best.get(depth, (0.0, 0.0))
            best[depth] = (max(token, before[0]), max(solved, before[1]))
    layers = tuple(sorted(best))
    accurate = next((depth for depth in layers if best[depth][0] >= TOKEN_BAR), None)
    return Threshold(
        task=task,
        position=position,
        level=level[0],
        value=level[1],
        nesting=shape[1] if shape else None,
        layers=layers,
        accurate=accurate,
        solving=next((depth for depth in layers if best[depth][1] >= SOLVED_BAR), None),
        best_token=tuple(best[depth][0] for depth in layers),
        best_solved=tuple(best[depth][1] for depth in layers),
        predictions=predictions(*shape, layers, accurate) if shape else (),
    )


def _shapes(task: str, train_size: int, items: int) -> dict[str, tuple[int, int]]:
    """Level → (kinds of brackets, how deep they nest in the items measured); nothing for a task without brackets."""
    shapes = {}
    for name, drawn in redrawn(task, train_size, items).items():
        search = drawn.level.task
        if drawn.level.axis in _DEPTHS and isinstance(search, SearchTask):
            asked = ((item.tokens[: item.asked], item.tokens[item.asked or 0 :]) for item in drawn.items[:LOOKED_AT])
            shapes[name] = (search.kinds, max(max(search.contour(prompt, trace)) for prompt, trace in asked))
    return shapes


def _claim(row: Threshold) -> Claim:
    evidence = {
        "task": row.task,
        "position": row.position,
        "level": row.level,
        "layers": row.layers,
        "best_token": row.best_token,
        "best_solved": row.best_solved,
        "solving": row.solving,
        "nesting": row.nesting,
        "agreement": {prediction.claim.key: prediction.agreement for prediction in row.predictions},
    }
    bar = Assumption("thresholds.bar", "checked", {"percent": 100 * TOKEN_BAR})
    value = "none" if row.accurate is None else row.accurate
    return Claim("thresholds.row", value, "layers", "measured", assumptions=(bar, BEST, TRIED), evidence=evidence)


def _over_rows(found: Sequence[LayerPrediction]) -> Claim:
    """How often a threshold agrees with the measurement, is contradicted, or says nothing about it."""
    count = {one: sum(p.agreement == one for p in found) for one in ("agrees", "contradicted", "silent")}
    status = "refuted" if count["contradicted"] else "holds" if count["agrees"] else "vacuous"
    source = found[0].claim
    return Claim(
        "thresholds.over_rows",
        count["agrees"],
        f"of {count['agrees'] + count['contradicted']} it can judge, of {len(found)}",
        "measured",
        status,
        None,
        (*source.assumptions, BEST, TRIED, FOLLOWED),
        source.reference,
        {
            "prediction": source.title,
            "predicted": source.key,
            **count,
            "example": next((p.reason for p in found if p.agreement != "silent"), found[0].reason),
        },
    )


@analyses.register("thresholds")
@dataclass(frozen=True)
class ThresholdsAnalysis(Analysis):
    """How many layers a depth of search takes."""

    def analyse(self, study: StudyContent) -> Record:
        assert study.evidence is not None
        result = thresholds(study.evidence)
        predicted = any(row.predictions for row in result.rows)
        figures = threshold_panels(result, study.encodings) if study.pictures else []
        options = tuple((measure, sentence(f"thresholds.{measure}")) for measure in MEASURES)
        text = sentence("thresholds.text", {measure: percent(bar) for measure, bar in _BARS.items()})
        menus = (Menu("reached", sentence("thresholds.menu"), options),) if figures else ()
        layout = PageLayout(sentence("thresholds.link"), claims=0, columns=3, menus=menus)
        tables = (_summary(result), _measured(result), _predicted(result)) if predicted else (_measured(result),)
        return Record(
            "thresholds",
            title=sentence("thresholds.title"),
            text=(text,),
            claims=tuple(result.claims()),
            tables=tables,
            figures=tuple(figures),
            data={LAYOUT: layout.plain()},
        )

    def applies(self, study: StudyContent) -> bool:
        return study.evidence is not None and bool(thresholds(study.evidence).rows)


def threshold_panels(result: Thresholds, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure."""
    layers = sorted({depth for row in result.rows for depth in row.layers})
    panels = []
    for measure in MEASURES:
        what = sentence(f"thresholds.{measure}")
        template = _template(measure, what, encodings, layers)
        for number, task in enumerate(dict.fromkeys(row.task for row in result.rows)):
            rows = [point for row in result.rows if row.task == task for point in _points(row, measure)]
            words = sentence("thresholds.words", {"what": what, "task": task})
            key = f"thresholds.{measure}.{number + 1}"
            panels.append(Figure(key, template, {"depths": rows}, task, words, measure))
    return panels


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
    titles = {}
    for row in result.rows:
        for prediction in row.predictions:
            titles[prediction.claim.key] = prediction.claim.title
            found.setdefault(prediction.claim.key, Counter())[prediction.agreement] += 1
    names = ("agrees", "contradicted", "silent")
    columns = (Column("prediction", "text"), *(Column(name, "whole", sentence(f"thresholds.{name}")) for name in names))
    rows = tuple((titles[key], *(counts[name] for name in names)) for key, counts in found.items())
    title, note = sentence("thresholds.summary"), sentence("thresholds.summary_note")
    return Table("thresholds.summary", columns, rows, title, note)


def _measured(result: Thresholds) -> Table:
    columns = (
        Column("task", "text"),
        Column("position", "text", "encoding"),
        Column("level", "text"),
        Column("nesting", "whole"),
        Column("layers", "text", "layers tried"),
        Column("best_token", "text", "tokens right"),
        Column("accurate", "text", "for the tokens"),
        Column("solving", "text", "for the problems"),
    )
    rows = tuple(
        (
            row.task,
            row.position,
            row.level,
            row.nesting,
            ", ".join(map(str, row.layers)),
            " ".join(f"{token:.2f}" for token in row.best_token),
            "none" if row.accurate is None else str(row.accurate),
            "none" if row.solving is None else str(row.solving),
        )
        for row in result.rows
    )
    return Table("thresholds.measured", columns, rows, sentence("thresholds.measured"), detail=True)


def _predicted(result: Thresholds) -> Table:
    """Every prediction, what it rests on and the verdict; the same for several cases is written once."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in result.rows:
        for prediction in row.predictions:
            claim, said = prediction.claim, sentence(f"thresholds.{prediction.agreement}")
            value = "–" if claim.value is None else f"{claim.value} {claim.unit}".strip()
            key = (claim.title, value, claim.kind, said, prediction.reason)
            found.setdefault(key, []).append(f"{row.task}, {row.position}, {row.level}")
    rows = tuple(
        (*key, names[0] + (f" and {len(names) - 1} more" if names[1:] else "")) for key, names in found.items()
    )
    names = ("prediction", "value", "kind", "verdict", "because", "where")
    columns = tuple(Column(name, "text") for name in names)
    return Table("thresholds.predicted", columns, rows, sentence("thresholds.predicted"), detail=True)


def _template(measure: str, title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    base = alt.Chart(alt.NamedData("depths")).encode(
        x=alt.X("depth:Q", title="depth of the search", axis=whole_axis(grid=False)),
        y=alt.Y("share:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        color=encoding_colour(encodings),
        detail="model:N",
    )
    told = hover("model:N", "level:N", ("share:Q", title, ".1%"))
    bar = alt.Chart(alt.Data(values=[{"at": _BARS[measure]}])).mark_rule(color="#888888", strokeDash=[4, 4])
    lines = base.mark_line(strokeWidth=1.6).encode(strokeDash=layers_dash(layers))
    points = base.mark_point(filled=True, size=30, opacity=0.9).encode(tooltip=told)
    return template_of(alt.layer(bar.encode(y="at:Q"), lines, points).properties(width=330, height=200))
