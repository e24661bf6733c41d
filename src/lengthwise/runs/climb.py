"""The ladder of one trained model: what it does at each level, with how steep it is there and at most anywhere.

Both Lipschitz constants are in one metric. An input is what the first block reads, a vector a token; two inputs are as
far apart as the token that differs most, two outputs as the place whose logits differ most (the token norm of
docs/bounds.md). The certificate is for all inputs whose tokens lie in the smallest ball around the origin that holds
every embedding; it is made once a model. Items are in that ball, which is convex, so the derivative at an item
stretches nothing by more than the certified constant: `slope` is the largest stretching found at a few items (slope.py)
and a lower bound of the same constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.measurement.climb import climb_items, draw_ladder
from lengthwise.measurement.ladder import Ladder, LevelPoint
from lengthwise.measurement.level_items import LevelItems, check_climbs
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.parts import Anatomy
from lengthwise.models.transformer import Transformer
from lengthwise.probes.lipschitz.certificate import certify
from lengthwise.runs.plan import Plan
from lengthwise.runs.slope import slope_at

ITEMS_SEED = 0  # of the items of a ladder, whatever the seed of a run: all runs of a task are asked the same
STEEP_ITEMS, STEEP_STEPS = 4, 3

METRIC = (
    "the largest change of the logits at any one place, for a change of every token's embedding by at most 1, both in "
    "Euclidean length; over all embeddings in the smallest ball around the origin that holds those of the vocabulary"
)


def climb_run(model: Transformer, plan: Plan, report: Callable[[LevelPoint], None] | None = None) -> Ladder:
    """Measure a trained model on the ladder of its plan. `report` hears of each level, before its slope is known."""
    if plan.ladder is None:
        raise UsageError("the plan asks for no ladder; give it one, as ladder=LadderSettings()")
    check_climbs(model, plan.task)
    drawn = draw_ladder(plan.task, plan.train_size, plan.ladder.items, ITEMS_SEED)
    points, examples = climb_items(model, drawn, plan.ladder, ITEMS_SEED, report)
    anatomy = anatomy_of(model)
    places = anatomy.places(_longest(drawn, anatomy))
    slopes = [_slope(anatomy, items.first(STEEP_ITEMS), places) for items in drawn]
    return Ladder(
        task=plan.task_name,
        position=plan.position_name,
        train_size=plan.train_size,
        seed=plan.seed,
        settings=plan.ladder,
        points=tuple(dataclasses.replace(p, slope=slope) for p, slope in zip(points, slopes, strict=True)),
        examples=examples,
        certified=certified_constant(anatomy, places.shape[1]),
        metric=METRIC,
    )


def certified_constant(anatomy: Anatomy, length: int) -> float | None:
    """An upper bound for inputs of `length` tokens or fewer; None where there is none or it is infinite."""
    value = certify(anatomy, length, "ball").token.value
    return value if isinstance(value, float) else None


def _slope(anatomy: Anatomy, items: LevelItems, places: Tensor) -> float | None:
    """None for attention that jumps, which has no slope."""
    smooth = all(block.attention.law.fused for block in anatomy.blocks)
    return slope_at(anatomy, items, places, STEEP_STEPS) if smooth else None


def _longest(drawn: Sequence[LevelItems], anatomy: Anatomy) -> int:
    """The tokens of the longest layout of a level, as far as the model has positions for it."""
    longest = max(items.task.width(size) for items in drawn for size in items.level.sizes)
    return longest if anatomy.longest is None else min(longest, anatomy.longest)
