"""Where different stacks come to share a state: by layer and level.

`shared` and `rank` are those of the ladder's `Inside`. At the embedding (layer 0) equal tokens have equal states unless
positions are added to them, so the question is how much a model has separated after its layers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    DEPTH,
    SHARED_ITEMS,
    Climb,
    Configuration,
    Evidence,
    by_configuration,
    common_levels,
    mean,
    model_name,
    named,
)
from lengthwise.analyses.ladder.looks import encoding_colour
from lengthwise.analyses.layout import LAYOUT, Menu, PageLayout
from lengthwise.figures.layout import whole_axis, wrapping_legend
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Figure, Record
from lengthwise.statistics.paired import paired_over_tasks
from lengthwise.tasks.ladder import TRAINING

MEASURES = ("shared", "rank", "entropy")
_SAME_WAY = Assumption("collapse.same_way")
_FAR = "farthest level"

explain(
    {
        "collapse.title": "Collapse by layer",
        "collapse.link": "Collapse",
        "collapse.text": "Shared states are pairs of places of one trace with the same token and different stacks "
        "whose states point the same way (cosine 0.99 or more), as a share of all such pairs.",
        "collapse.note": "The residual stream where a push or a pop ends, by layer (0 is the embedding), of the "
        "widest model of each encoding and number of layers. Solid: training; dashed: the farthest level of depth. "
        "Nothing is shown where no trace has a pair of places to compare. Attention entropy: 100 % is attention "
        "spread evenly over all that can be seen.",
        "collapse.menu": "Shown",
        "collapse.shared": "shared states",
        "collapse.rank": "effective rank",
        "collapse.entropy": "attention entropy",
        "collapse.shared_unit": "share of pairs of stacks",
        "collapse.rank_unit": "effective rank of the states",
        "collapse.entropy_unit": "share of the largest entropy",
        "collapse.words": "{what} by layer for {task}, in training and at the farthest level.",
        "collapse.same_way": "states that point the same way (cosine 0.99 or more) are taken for one state",
        "collapse.pairs": "pairs of places with one token and different stacks",
        "collapse.shared_change": "shared states after the last layer, farthest depth minus training",
        "collapse.rank_change": "effective rank after the last layer, farthest depth minus training",
        "collapse.layer": "layer after which most stacks share a state at the farthest depth, models of {depth} layers",
    }
)


@analyses.register("collapse")
@dataclass(frozen=True)
class CollapseAnalysis(Analysis):
    """Where different stacks come to share a state."""

    def analyse(self, study: StudyContent) -> Record:
        assert study.evidence is not None
        result = collapse(study.evidence)
        figures = collapse_panels(result, study.encodings) if study.pictures else []
        shown = list(dict.fromkeys(figure.group for figure in figures))
        options = tuple((measure, sentence(f"collapse.{measure}")) for measure in shown)
        menus = (Menu("inside", sentence("collapse.menu"), options),) if len(options) > 1 else ()
        layout = PageLayout(sentence("collapse.link"), notes=(sentence("collapse.note"),), columns=3, menus=menus)
        return Record(
            "collapse",
            title=sentence("collapse.title"),
            text=(sentence("collapse.text"),),
            claims=result.changes,
            figures=tuple(figures),
            data={LAYOUT: layout.plain()},
        )

    def applies(self, study: StudyContent) -> bool:
        return study.evidence is not None and bool(study.evidence.climbs)


@dataclass(frozen=True)
class Stratum:
    """One layer (0 is the embedding) of a configuration at a level, its seeds averaged. None: not to be seen there."""

    configuration: Configuration
    axis: str
    value: int
    level: str
    layer: int
    shared: float | None
    rank: float
    entropy: float | None

    @property
    def last(self) -> bool:
        return self.layer == self.configuration[2]


@dataclass(frozen=True)
class Collapse:
    """All strata, and what changes from training to the farthest depth."""

    strata: tuple[Stratum, ...]
    changes: tuple[Claim, ...]


def collapse(evidence: Evidence) -> Collapse:
    """The strata of every configuration at every level."""
    groups = by_configuration(evidence.climbs)
    strata = tuple(row for key, climbs in groups.items() for row in _strata(key, climbs))
    far = farthest(strata)
    changes = [
        _change(far, strata, "shared"),
        _change(far, strata, "rank"),
        *(_where(far_layers, depth) for depth, far_layers in _by_depth(strata).items()),
    ]
    return Collapse(strata, tuple(changes))


def farthest(strata: Sequence[Stratum], last: bool = True) -> list[Stratum]:
    """The strata at each configuration's farthest depth level; those after the last layer alone, or all."""
    most: dict[Configuration, int] = {}
    for row in strata:
        if row.axis == DEPTH:
            most[row.configuration] = max(row.value, most.get(row.configuration, row.value))
    return [
        row for row in strata if row.axis == DEPTH and row.value == most[row.configuration] and (row.last or not last)
    ]


def _strata(configuration: Configuration, climbs: Sequence[Climb]) -> list[Stratum]:
    rows = []
    for first in common_levels(climbs):
        points = [climb.ladder.at(first.name) for climb in climbs]
        for layer in range(min(len(point.inside) for point in points)):
            seen = [point.inside[layer] for point in points]
            rank = mean([inside.rank for inside in seen])
            assert rank is not None  # a configuration has a climb
            shared = mean(inside.shared for inside in seen)
            entropy = mean(inside.entropy for inside in seen)
            rows.append(Stratum(configuration, first.axis, first.value, first.name, layer, shared, rank, entropy))
    return rows


def _change(far: Sequence[Stratum], strata: Sequence[Stratum], field: str) -> Claim:
    """Farthest depth minus training after the last layer, pair by pair of configuration."""
    near = [row for row in strata if row.axis == TRAINING and row.last]
    first, second = (
        {named(row.configuration): getattr(row, field) for row in rows if getattr(row, field) is not None}
        for rows in (far, near)
    )
    unit = "share of pairs" if field == "shared" else "dimensions"
    claim = paired_over_tasks(f"collapse.{field}_change", first, second, unit=unit)
    return dataclasses.replace(claim, assumptions=(*claim.assumptions, SHARED_ITEMS, _SAME_WAY))


def _by_depth(strata: Sequence[Stratum]) -> dict[int, list[Stratum]]:
    """Number of layers → strata at the farthest depth level, the embedding left out."""
    groups: dict[int, list[Stratum]] = {}
    for row in farthest(strata, last=False):
        if row.layer > 0:
            groups.setdefault(row.configuration[2], []).append(row)
    return dict(sorted(groups.items()))


def _where(rows: Sequence[Stratum], depth: int) -> Claim:
    """The layer after which most pairs share a state."""
    layers = sorted({row.layer for row in rows})
    shared = {layer: mean(row.shared for row in rows if row.layer == layer) for layer in layers}
    known = {layer: value for layer, value in shared.items() if value is not None}
    evidence = {
        "depth": depth,
        "shared_by_layer": known,
        "rank_by_layer": {layer: mean(row.rank for row in rows if row.layer == layer) for layer in layers},
        "configurations": len({row.configuration for row in rows}),
    }
    if not known:
        why = Assumption("collapse.pairs", "violated")
        return Claim("collapse.layer", None, "layer", "measured", "unknown", None, (why,), evidence=evidence)
    worst = max(known, key=lambda layer: known[layer])
    return Claim("collapse.layer", worst, f"of {depth}", "measured", assumptions=(_SAME_WAY,), evidence=evidence)


def collapse_panels(result: Collapse, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure: by layer, training and the farthest level of the first axis."""
    strata = _widest(result.strata)
    panels = []
    for measure in MEASURES:
        template = _template(measure, encodings)
        for number, task in enumerate(dict.fromkeys(row.configuration[0] for row in strata)):
            rows = _rows([row for row in strata if row.configuration[0] == task], measure)
            if rows:
                words = sentence("collapse.words", {"what": sentence(f"collapse.{measure}"), "task": task})
                key = f"collapse.{measure}.{number + 1}"
                panels.append(Figure(key, template, {"layers": rows}, task, words, measure))
    return panels


def _widest(strata: Sequence[Stratum]) -> list[Stratum]:
    """Of each task, encoding and number of layers the widest model; of its levels training and the farthest depth."""
    widest: dict[tuple[str, str, int], int] = {}
    axes: dict[str, str] = {}
    last: dict[str, int] = {}
    for row in strata:
        task, position, depth, width = row.configuration
        widest[task, position, depth] = max(width, widest.get((task, position, depth), 0))
        if row.axis != TRAINING and axes.setdefault(task, row.axis) == row.axis:
            last[task] = max(row.value, last.get(task, row.value))
    return [
        row
        for row in strata
        if row.configuration[3] == widest[row.configuration[:3]]
        and (
            row.axis == TRAINING or (row.axis == axes[row.configuration[0]] and row.value == last[row.configuration[0]])
        )
    ]


def _rows(strata: Sequence[Stratum], measure: str) -> list[dict[str, Any]]:
    rows = []
    for row in strata:
        value = getattr(row, measure)
        if value is None:
            continue
        rows.append(
            {
                "encoding": row.configuration[1],
                "model": model_name(row.configuration),
                "level": row.level,
                "where": TRAINING if row.axis == TRAINING else _FAR,
                "layer": row.layer,
                "value": float(value),
            }
        )
    return rows


def _template(measure: str, encodings: Sequence[str]) -> dict[str, Any]:
    unit = sentence(f"collapse.{measure}_unit")
    domain = alt.Scale(zero=True) if measure == "rank" else alt.Scale(domain=[0, 1])
    axis = alt.Axis(tickCount=5) if measure == "rank" else alt.Axis(format="%", tickCount=5)
    names = [TRAINING, _FAR]
    legend = wrapping_legend(names, symbolType="stroke", offset=8)
    scale = alt.Scale(domain=names, range=[[1, 0], [4, 3]])
    base = alt.Chart(alt.NamedData("layers")).encode(
        x=alt.X("layer:Q", title="after layer", axis=whole_axis(grid=False)),
        y=alt.Y("value:Q", title=unit, scale=domain, axis=axis),
        color=encoding_colour(encodings),
        detail="model:N",
    )
    told = hover(
        "model:N", "level:N", ("layer:Q", "after layer"), ("value:Q", unit, ".3g" if measure == "rank" else ".1%")
    )
    lines = base.mark_line(strokeWidth=1.6, opacity=0.8).encode(
        strokeDash=alt.StrokeDash("where:N", scale=scale, legend=legend)
    )
    points = base.mark_point(filled=True, size=28, opacity=0.8).encode(tooltip=told)
    return template_of(alt.layer(lines, points).properties(width=330, height=200))
