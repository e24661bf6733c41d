"""Where different stacks come to share a state: by layer and level.

`shared` and `rank` are those of `ladder.levels.Inside`. At the embedding (layer 0) equal tokens have equal states
unless positions are added to them, so what is asked is how much a model has told apart after its layers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import (
    DEPTH,
    SHARED_ITEMS,
    Configuration,
    by_configuration,
    common_levels,
    mean,
    named,
)
from lengthwise.records import Assumption, Claim
from lengthwise.statistics.paired import paired_over_tasks
from lengthwise.tasks.ladder import TRAINING

_SAME_WAY = Assumption("states that point the same way (cosine 0.99 or more) are taken for one state")


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

    def claims(self) -> list[Claim]:
        return list(self.changes)

    def plain(self) -> dict[str, Any]:
        return {"strata": [asdict(row) for row in self.strata], "claims": [c.plain() for c in self.claims()]}


def collapse(evidence: Evidence) -> Collapse:
    """The strata of every configuration at every level."""
    groups = by_configuration(evidence.climbs)
    strata = tuple(row for key, climbs in groups.items() for row in _strata(key, climbs))
    far = farthest(strata)
    changes = [
        _change("shared states", [(row.configuration, row.shared) for row in far], strata, "shared"),
        _change("effective rank", [(row.configuration, row.rank) for row in far], strata, "rank"),
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
            shared = mean([inside.shared for inside in seen if inside.shared is not None])
            entropy = mean([inside.entropy for inside in seen if inside.entropy is not None])
            rows.append(Stratum(configuration, first.axis, first.value, first.name, layer, shared, rank, entropy))
    return rows


def _change(
    what: str, far: Sequence[tuple[Configuration, float | None]], strata: Sequence[Stratum], field: str
) -> Claim:
    """Farthest depth minus training after the last layer, pair by pair of configuration."""
    near = {row.configuration: getattr(row, field) for row in strata if row.axis == TRAINING and row.last}
    first = {named(key): value for key, value in far if value is not None}
    second = {named(key): value for key, value in near.items() if value is not None}
    name = f"{what} after the last layer, farthest depth minus training"
    unit = "share of pairs" if field == "shared" else "dimensions"
    claim = paired_over_tasks(name, first, second, unit=unit)
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
    name = (
        f"layer after which most stacks share a state at the farthest depth, models of {depth} layer{'s' * (depth > 1)}"
    )
    layers = sorted({row.layer for row in rows})
    shared = {layer: mean([r.shared for r in rows if r.layer == layer and r.shared is not None]) for layer in layers}
    known = {layer: value for layer, value in shared.items() if value is not None}
    evidence = {
        "shared by layer": known,
        "rank by layer": {layer: mean([row.rank for row in rows if row.layer == layer]) for layer in layers},
        "configurations": len({row.configuration for row in rows}),
    }
    if not known:
        why = Assumption("pairs of places with one token and different stacks", "violated")
        return Claim(name, None, "layer", "measured", "unknown", None, (why,), evidence=evidence)
    worst = max(known, key=lambda layer: known[layer])
    return Claim(name, worst, f"of {depth}", "measured", assumptions=(_SAME_WAY,), evidence=evidence)
