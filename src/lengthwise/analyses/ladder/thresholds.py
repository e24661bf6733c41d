"""How many layers a depth of search takes: what the oracle says and what was measured.

The bars, chosen before any data: a number of layers reaches a depth level if, with its best width, 90 % of the tokens
are right there (the true trace being given), or if half of the problems are solved by writing freely; seeds averaged.

A threshold of the oracle that is enough for some class of models says that a model exists, not that training finds it:
reaching the level with as few layers or fewer agrees; not reaching it says nothing. A threshold that is needed is
contradicted by fewer layers that reach the level; reaching it with no fewer agrees; not reaching it says nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import DEPTH, Climb, Evidence, by_configuration, layers_text, mean
from lengthwise.analyses.ladder.redraw import redrawn
from lengthwise.analyses.ladder.section import LadderAnalysis, encoding_colour, layers_dash, task_panels
from lengthwise.analyses.layout import PageLayout, arranged, menu_of
from lengthwise.analyses.words import percent
from lengthwise.figures.style import alt, hover, lines_and_points, rule_at, share_axis, template_of, whole_axis
from lengthwise.messages import explain, sentence
from lengthwise.oracle.depth import Nesting
from lengthwise.records import Assumption, Claim, Column, Figure, Record, Table, columns
from lengthwise.tasks.ladder import TRAINING
from lengthwise.tasks.search.search_task import SearchTask

TOKEN_BAR, SOLVED_BAR = 0.9, 0.5
BARS = {"token": TOKEN_BAR, "solved": SOLVED_BAR}
_DEPTHS = (TRAINING, DEPTH)  # the training range is as deep as its largest size
LOOKED_AT = 16  # items of a level whose nesting is looked at
NEEDED = "depth.needed_pointers"  # of the oracle's thresholds, those that are needed; the others are enough
Agreement = Literal["agrees", "contradicted", "silent"]
AGREEMENTS = get_args(Agreement)

explain(
    {
        "thresholds.agrees": "agrees",
        "thresholds.contradicted": "contradicted",
        "thresholds.silent": "says nothing",
        "thresholds.best_width": (
            "the best of all widths is taken, so chance favours the models; no interval is given"
        ),
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
        "thresholds.enough_untried": "{wanted} layers are enough for some model, but that many were not tried",
        "thresholds.enough_unfound": "{wanted} layers are enough for some model, but training found none",
        "thresholds.enough_more": "{wanted} layers are enough for some model, but training took {reached}",
        "thresholds.title": "Layers against depth of search",
        "thresholds.link": "Layers",
        "thresholds.text": (
            "The best width for each number of layers, by how deep the search goes. A number of layers is "
            "enough where it gets {token} of the tokens right, or solves {solved} of the problems (dashed)."
        ),
        "thresholds.menu": "Shown",
        "thresholds.token": "tokens right",
        "thresholds.solved": "problems solved",
        "thresholds.words": "The share of {what} by depth of the search for {task}, the best width of each number of "
        "layers.",
        "thresholds.summary": "What the oracle predicted about layers",
        "thresholds.summary_note": (
            "Counted over tasks, encodings and depths of search. A theorem about what exists says nothing "
            "about training."
        ),
        "thresholds.measured": "Layers that were enough, by depth of search",
        "thresholds.predicted": "Every prediction of the oracle",
    }
)
BEST = Assumption("thresholds.best_width")
FOLLOWED = Assumption("thresholds.followed", values={"percent": 100 * TOKEN_BAR})
TRIED = Assumption("thresholds.tried")
BAR = Assumption("thresholds.bar", "checked", {"percent": 100 * TOKEN_BAR})


@analyses.register("thresholds")
@dataclass(frozen=True)
class ThresholdsAnalysis(LadderAnalysis):
    """How many layers a depth of search takes."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        result = thresholds(evidence)
        figures = threshold_panels(result, study.encodings) if study.pictures else []
        text = sentence("thresholds.text", {measure: percent(bar) for measure, bar in BARS.items()})
        menus = menu_of(figures, "reached", "thresholds.menu", lambda measure: sentence(f"thresholds.{measure}"))
        tables = [_measured(result)]
        if result.judged:
            tables = [_summary(result), *tables, _predicted(result)]
        layout = PageLayout(claims=0, columns=3, menus=menus)
        return arranged("thresholds", layout, [text], result.claims(), tables, figures)

    def says(self, evidence: Evidence) -> bool:
        return bool(thresholds(evidence).rows)


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

    @property
    def judged(self) -> dict[str, list[LayerPrediction]]:
        """The key of a threshold of the oracle → what it predicts in each row."""
        found: dict[str, list[LayerPrediction]] = {}
        for prediction in (one for row in self.rows for one in row.predictions):
            found.setdefault(prediction.claim.key, []).append(prediction)
        return found

    def claims(self) -> list[Claim]:
        """One per row, then one for every prediction of the oracle over all rows."""
        return [*map(_claim, self.rows), *map(_over_rows, self.judged.values())]


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
    accurate, solving = (
        next((depth for depth in layers if best[depth][place] >= bar), None) for place, bar in enumerate(BARS.values())
    )
    return Threshold(
        task=task,
        position=position,
        level=level[0],
        value=level[1],
        nesting=shape[1] if shape else None,
        layers=layers,
        accurate=accurate,
        solving=solving,
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
    own = ("task", "position", "level", "layers", "best_token", "best_solved", "solving", "nesting")
    evidence = {name: getattr(row, name) for name in own}
    evidence["agreement"] = {prediction.claim.key: prediction.agreement for prediction in row.predictions}
    value = "none" if row.accurate is None else row.accurate
    return Claim("thresholds.row", value, "layers", "measured", assumptions=(BAR, BEST, TRIED), evidence=evidence)


def _counted(found: Iterable[LayerPrediction]) -> dict[str, int]:
    agreements = [prediction.agreement for prediction in found]
    return {name: agreements.count(name) for name in AGREEMENTS}


def _over_rows(found: Sequence[LayerPrediction]) -> Claim:
    """How often a threshold agrees with the measurement, is contradicted, or says nothing about it."""
    count, source = _counted(found), found[0].claim
    return Claim(
        "thresholds.over_rows",
        count["agrees"],
        f"of {count['agrees'] + count['contradicted']} it can judge, of {len(found)}",
        "measured",
        "refuted" if count["contradicted"] else "holds" if count["agrees"] else "vacuous",
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


def threshold_panels(result: Thresholds, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure."""
    layers = sorted({depth for row in result.rows for depth in row.layers})
    panels = []
    for measure in BARS:
        what = sentence(f"thresholds.{measure}")
        data: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for row in result.rows:
            data.setdefault(row.task, {"depths": []})["depths"] += _points(row, measure)
        template = _template(measure, what, encodings, layers)
        panels += task_panels(f"thresholds.{measure}", "thresholds.words", template, data, {"what": what})
    return panels


def _points(row: Threshold, measure: str) -> list[dict[str, Any]]:
    found = []
    for depth, share in zip(row.layers, getattr(row, f"best_{measure}"), strict=True):
        layers = layers_text(depth)
        held = {"encoding": row.position, "layers": layers, "model": f"{row.position}, {layers}"}
        found.append({**held, "depth": row.value, "level": row.level, "share": float(share)})
    return found


def _template(measure: str, title: str, encodings: Sequence[str], layers: Sequence[int]) -> dict[str, Any]:
    base = alt.Chart(alt.NamedData("depths")).encode(
        x=alt.X("depth:Q", title="depth of the search", axis=whole_axis(grid=False)),
        y=share_axis("share", title),
        color=encoding_colour(encodings),
        detail="model:N",
    )
    told = hover("model:N", "level:N", ("share:Q", title, ".1%"))
    drawn = lines_and_points(base, told, layers_dash(layers))
    return template_of(alt.layer(rule_at("y", BARS[measure]), *drawn).properties(width=330, height=200))


def _summary(result: Thresholds) -> Table:
    """How often the measurement agrees with each kind of prediction."""
    counts = [Column(name, "whole", sentence(f"thresholds.{name}")) for name in AGREEMENTS]
    rows = tuple((found[0].claim.title, *_counted(found).values()) for found in result.judged.values())
    title, note = sentence("thresholds.summary"), sentence("thresholds.summary_note")
    return Table("thresholds.summary", (Column("prediction", "text"), *counts), rows, title, note)


def _measured(result: Thresholds) -> Table:
    described = columns(
        "task:text | position:text encoding | level:text | nesting:whole | layers:text layers tried | "
        "best_token:text tokens right | accurate:text for the tokens | solving:text for the problems"
    )
    rows = []
    for row in result.rows:
        fewest = ("none" if depth is None else str(depth) for depth in (row.accurate, row.solving))
        tried, tokens = ", ".join(map(str, row.layers)), " ".join(f"{token:.2f}" for token in row.best_token)
        rows.append((row.task, row.position, row.level, row.nesting, tried, tokens, *fewest))
    return Table("thresholds.measured", described, tuple(rows), sentence("thresholds.measured"), detail=True)


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
    described = columns("prediction:text | value:text | kind:text | verdict:text | because:text | where:text")
    return Table("thresholds.predicted", described, rows, sentence("thresholds.predicted"), detail=True)
