"""The models of a study by configuration, and how they are called in the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import Configuration, common_levels
from lengthwise.probes.ladder.levels import LevelPoint
from lengthwise.tasks.ladder import TRAINING


def tasks_of(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(climb.task for climb in evidence.climbs))


def encodings_of(evidence: Evidence) -> list[str]:
    return list(dict.fromkeys(climb.position for climb in evidence.climbs))


def layers_of(evidence: Evidence) -> list[int]:
    return sorted({climb.depth for climb in evidence.climbs})


def layers_text(depth: int) -> str:
    """`depth` is a level of the search in these studies, so a model has layers."""
    return f"{depth} layer{'' if depth == 1 else 's'}"


def model_name(configuration: Configuration) -> str:
    """Without the task: `rope, 2 layers, width 32`."""
    _, position, depth, width = configuration
    return f"{position}, {layers_text(depth)}, width {width}"


def level_names(climbs: Sequence[Climb]) -> list[str]:
    """The levels that all of these climbs have, in the order of the ladder."""
    return [point.name for point in common_levels(climbs)]


def mean_at(climbs: Sequence[Climb], level: str, measure: Callable[[LevelPoint], float | None]) -> float | None:
    """A measure at a level, as a mean over seeds; None where no seed has it."""
    values = [measure(climb.ladder.at(level)) for climb in climbs]
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def farthest(climbs: Sequence[Climb]) -> str | None:
    """The last level of the first axis that was climbed; None where there is training alone."""
    beyond = [point for point in common_levels(climbs) if point.axis != TRAINING]
    along = [point.name for point in beyond if point.axis == beyond[0].axis]
    return along[-1] if along else None
