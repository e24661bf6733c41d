"""Do models with a larger Lipschitz constant lose more under a shift? The rank correlation of both over models.

Only models that learned their range count, and ranks are taken within a task, since tasks differ in both. The
correlation is the mean over models of the product of their two standardised ranks, so that its interval is that of a
mean over configurations of these tasks (`statistics.blocked`); ranks are not taken again in each resample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.analyses.evidence import BEYOND, Climb, Evidence, has_learned
from lengthwise.analyses.ladder.constants import constant_of
from lengthwise.analyses.ladder.monotone import standard_ranks
from lengthwise.statistics.blocked import BlockedMean, blocked_mean

FEWEST_MODELS = 4


@dataclass(frozen=True)
class Following:
    """The correlation over `models`, as a mean of products of ranks."""

    models: int
    correlation: BlockedMean


def following(evidence: Evidence, quantity: str) -> Following | None:
    """A kind of constant (`constants.CERTIFIED`, `ATTACKED`, `IN_TRAINING`) against the increase of the risk beyond
    training; None where no task has enough models that learned."""
    by_task: dict[str, list[tuple[Climb, float, float]]] = {}
    for climb in evidence.climbs:
        constant, increase = constant_of(climb, quantity), climb.increase_at(BEYOND)
        if constant is not None and increase is not None and has_learned([climb]):
            by_task.setdefault(climb.task, []).append((climb, constant, increase))
    blocks: dict[str, dict[str, list[float]]] = {}
    for task, rows in by_task.items():
        first, second = (standard_ranks(np.array([row[place] for row in rows])) for place in (1, 2))
        if len(rows) >= FEWEST_MODELS and first is not None and second is not None:
            for (climb, *_), product in zip(rows, len(rows) * first * second, strict=True):
                blocks.setdefault(task, {}).setdefault(climb.configuration.model, []).append(float(product))
    models = sum(len(values) for units in blocks.values() for values in units.values())
    return Following(models, blocked_mean(blocks)) if blocks else None
