"""Where different stacks come to share a state: by layer and level.

`shared` and `rank` are those of the ladder's `Inside`. At the embedding (layer 0) equal tokens have equal states unless
positions are added to them, so the question is how much a model has separated after its layers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    DEPTH,
    SHARED_ITEMS,
    Climb,
    Configuration,
    Evidence,
    common_levels,
    mean,
    widest,
)
from lengthwise.analyses.ladder import section
from lengthwise.analyses.layout import PageLayout, arranged, menu_of
from lengthwise.figures.style import alt, hover, lines_and_points, share_axis, template_of, whole_axis
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Figure, Record
from lengthwise.statistics.paired import paired_over_tasks
from lengthwise.tasks.ladder import TRAINING

MEASURES = ("shared", "rank", "entropy")
_SAME_WAY = Assumption("collapse.same_way")

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
        "collapse.same_way": "states that point the same way (cosine 0.99 or more) are counted as one state",
        "collapse.pairs": "pairs of places with one token and different stacks",
        "collapse.shared_change": "shared states after the last layer, farthest depth minus training",
        "collapse.rank_change": "effective rank after the last layer, farthest depth minus training",
        "collapse.layer": "layer after which most stacks share a state at the farthest depth, models of {depth} layers",
    }
)


@analyses.register("collapse")
@dataclass(frozen=True)
class CollapseAnalysis(section.LadderAnalysis):
    """Where different stacks come to share a state."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        result = collapse(evidence)
        figures = collapse_panels(result, study.encodings) if study.pictures else []
        menus = menu_of(figures, "inside", "collapse.menu", lambda measure: sentence(f"collapse.{measure}"))
        layout = PageLayout(notes=(sentence("collapse.note"),), columns=3, menus=menus)
        return arranged("collapse", layout, [sentence("collapse.text")], result.changes, figures=figures)


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


@dataclass(frozen=True)
class Collapse:
    """All strata, and what changes from training to the farthest depth."""

    strata: tuple[Stratum, ...]
    changes: tuple[Claim, ...]


def collapse(evidence: Evidence) -> Collapse:
    """The strata of every configuration at every level."""
    groups = evidence.configurations
    strata = tuple(row for key, climbs in groups.items() for row in _strata(key, climbs))
    deepest: dict[Configuration, int] = {}
    for row in strata:
        if row.axis == DEPTH:
            deepest[row.configuration] = max(row.value, deepest.get(row.configuration, row.value))
    far = [row for row in strata if row.axis == DEPTH and row.value == deepest[row.configuration]]
    near = [row for row in strata if row.axis == TRAINING]
    inner = [row for row in far if row.layer > 0]
    layers = sorted({row.configuration.depth for row in inner})
    where = [_where([row for row in inner if row.configuration.depth == depth], depth) for depth in layers]
    return Collapse(strata, (_change(far, near, "shared"), _change(far, near, "rank"), *where))


def _strata(configuration: Configuration, climbs: Sequence[Climb]) -> list[Stratum]:
    rows = []
    for first in common_levels(climbs):
        points = [climb.ladder.at(first.name) for climb in climbs]
        for layer in range(min(len(point.inside) for point in points)):
            shared, rank, entropy = (mean(getattr(p.inside[layer], name) for p in points) for name in MEASURES)
            assert rank is not None  # a configuration has a climb
            rows.append(Stratum(configuration, first.axis, first.value, first.name, layer, shared, rank, entropy))
    return rows


def _change(far: Sequence[Stratum], near: Sequence[Stratum], field: str) -> Claim:
    """Farthest depth minus training after the last layer, pair by pair of configuration."""
    first, second = (
        {
            row.configuration.label: getattr(row, field)
            for row in rows
            if row.layer == row.configuration.depth and getattr(row, field) is not None
        }
        for rows in (far, near)
    )
    unit = "share of pairs" if field == "shared" else "dimensions"
    claim = paired_over_tasks(f"collapse.{field}_change", first, second, unit=unit)
    return dataclasses.replace(claim, assumptions=(*claim.assumptions, SHARED_ITEMS, _SAME_WAY))


def _where(rows: Sequence[Stratum], depth: int) -> Claim:
    """The layer after which most pairs share a state."""
    layers = {layer: [row for row in rows if row.layer == layer] for layer in sorted({row.layer for row in rows})}
    shared = {layer: mean(row.shared for row in own) for layer, own in layers.items()}
    known = {layer: value for layer, value in shared.items() if value is not None}
    evidence = {
        "depth": depth,
        "shared_by_layer": known,
        "rank_by_layer": {layer: mean(row.rank for row in own) for layer, own in layers.items()},
        "configurations": len({row.configuration for row in rows}),
    }
    if not known:
        why = Assumption("collapse.pairs", "violated")
        return Claim("collapse.layer", None, "layer", "measured", "unknown", None, (why,), evidence=evidence)
    worst = max(known, key=lambda layer: known[layer])
    return Claim("collapse.layer", worst, f"of {depth}", "measured", assumptions=(_SAME_WAY,), evidence=evidence)


def collapse_panels(result: Collapse, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and measure: by layer, the widest models in training and at the farthest level of the first
    axis."""
    tasks: dict[str, list[Stratum]] = {}
    models = widest(row.configuration for row in result.strata)
    for row in result.strata:
        tasks.setdefault(row.configuration.task, []).append(row)
    shown = {task: [row for row in _ends(rows) if row.configuration in models] for task, rows in tasks.items()}
    panels = []
    for measure in MEASURES:
        data = {task: {"layers": _rows(rows, measure)} for task, rows in shown.items()}
        values = {"what": sentence(f"collapse.{measure}")}
        template = _template(measure, encodings)
        panels += section.task_panels(f"collapse.{measure}", "collapse.words", template, data, values)
    return panels


def _ends(strata: Sequence[Stratum]) -> list[Stratum]:
    """Of the levels of a task training and the last of the axis that was climbed first."""
    first = next((row.axis for row in strata if row.axis != TRAINING), None)
    last = max((row.value for row in strata if row.axis == first), default=0)
    return [row for row in strata if row.axis == TRAINING or (row.axis, row.value) == (first, last)]


def _rows(strata: Sequence[Stratum], measure: str) -> list[dict[str, Any]]:
    return [
        {
            **section.looks(row.configuration),
            "level": row.level,
            "where": TRAINING if row.axis == TRAINING else section.FAR,
            "layer": row.layer,
            "value": float(value),
        }
        for row in strata
        if (value := getattr(row, measure)) is not None
    ]


def _template(measure: str, encodings: Sequence[str]) -> dict[str, Any]:
    unit, shares = sentence(f"collapse.{measure}_unit"), measure != "rank"
    ranks = alt.Y("value:Q", title=unit, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    base = alt.Chart(alt.NamedData("layers")).encode(
        x=alt.X("layer:Q", title="after layer", axis=whole_axis(grid=False)),
        y=share_axis("value", unit) if shares else ranks,
        color=section.encoding_colour(encodings),
        detail="model:N",
    )
    told = hover("model:N", "level:N", ("layer:Q", "after layer"), ("value:Q", unit, ".1%" if shares else ".3g"))
    drawn = lines_and_points(base, told, section.where_dash())
    return template_of(alt.layer(*drawn).properties(width=330, height=200))
