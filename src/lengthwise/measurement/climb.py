"""A trained model on a ladder of shifts: what it gets right at each level, what it writes, what happens inside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lengthwise.errors import LengthwiseError
from lengthwise.measurement.calibration import calibrate
from lengthwise.measurement.collapse import look_inside
from lengthwise.measurement.decoding import Judgement, Written, judge, write_answers
from lengthwise.measurement.ladder import Example, LadderSettings, LevelPoint
from lengthwise.measurement.level_items import LevelItems, check_climbs, draw_items, positions_for
from lengthwise.measurement.taught import Taught, read_items
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.parts import Anatomy
from lengthwise.models.transformer import Transformer
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.task import Task

SHOWN = 2  # examples at a level that has some


def climb(
    model: Transformer,
    task: Task,
    train_size: int,
    settings: LadderSettings,
    seed: int,
    report: Callable[[LevelPoint], None] | None = None,
) -> tuple[tuple[LevelPoint, ...], tuple[Example, ...]]:
    """The points of all levels, and examples of the training level and of the farthest one of each axis.

    `seed` decides the items and nothing else is random but the positions of encodings that draw them in testing: a
    caller who compares models passes the same seed for all, and they see the same items. `slope` is left open, as
    measurement knows nothing of derivatives. `report` hears of each level as it is done.
    """
    check_climbs(model, task)
    return climb_items(model, draw_ladder(task, train_size, settings.items, seed), settings, seed, report)


def draw_ladder(task: Task, train_size: int, count: int, seed: int) -> list[LevelItems]:
    """The items of all levels."""
    return [draw_items(level, count, seed) for level in ladder_of(task, train_size)]


def climb_items(
    model: Transformer,
    drawn: Sequence[LevelItems],
    settings: LadderSettings,
    seed: int,
    report: Callable[[LevelPoint], None] | None = None,
) -> tuple[tuple[LevelPoint, ...], tuple[Example, ...]]:
    """`climb` with items that are drawn already."""
    model.eval()
    for items in drawn:  # a level beyond the model's reach is refused before the work
        positions_for(model, items, seed)
    anatomy, shown = anatomy_of(model), _farthest(drawn)
    points, examples = [], []
    for items in drawn:
        point, some = _climb_level(model, anatomy, items, settings, seed)
        points.append(point)
        if items.level.name in shown:
            examples += some
        if report:
            report(point)
    return tuple(points), tuple(examples)


def _farthest(drawn: Sequence[LevelItems]) -> set[str]:
    """The training level and the last one of each axis."""
    return set({items.level.axis: items.level.name for items in drawn}.values())


def _climb_level(
    model: Transformer, anatomy: Anatomy, items: LevelItems, settings: LadderSettings, seed: int
) -> tuple[LevelPoint, list[Example]]:
    at = positions_for(model, items, seed)
    taught = read_items(model, items.batch, at)
    some = items.first(settings.decoded)
    read = taught.first(settings.decoded, some.width)
    written = write_answers(model, some, read, at, 2 * items.longest)
    judged = [
        judge(items.task, prompt, truth, own)
        for prompt, truth, own in zip(some.prompts, some.answers, written, strict=True)
    ]
    hits, losses = taught.hits[taught.scored], taught.losses[taught.scored]
    loss = float(losses.mean())
    if not math.isfinite(loss):
        raise LengthwiseError(
            f"the loss is {loss} at the level {items.level.name}; a smaller learning rate in training usually helps"
        )
    point = LevelPoint(
        axis=items.level.axis,
        value=items.level.value,
        right=int(taught.right.sum()),
        tokens=len(hits),
        tokens_right=int(hits.sum()),
        loss=loss,
        errors=tuple(taught.errors.tolist()),
        calibration=calibrate(taught.confidence[taught.scored], hits),
        decoded=len(written),
        valid=sum(judgement.valid for judgement in judged),
        solved=sum(judgement.solved for judgement in judged),
        inside=look_inside(anatomy, items.first(settings.inside), at),
        slope=None,
    )
    return point, _examples(some, read, written, judged)


def _examples(
    items: LevelItems, taught: Taught, written: Sequence[Written], judged: Sequence[Judgement]
) -> list[Example]:
    """The first item that goes wrong and the first that does not; two of a kind where there is one kind only."""
    right = taught.right
    order = np.concatenate([np.flatnonzero(~right)[:1], np.flatnonzero(right)[:1], np.flatnonzero(~right)[1:]])
    rows = [*order, *np.flatnonzero(right)[1:]][:SHOWN]
    return [
        Example(
            level=items.level.name,
            prompt=" ".join(items.prompts[row]),
            truth=" ".join(items.answers[row]),
            written=" ".join(written[row].tokens),
            wrong_at=_wrong_at(items.answers[row], written[row]),
            valid=judged[row].valid,
            solved=judged[row].solved,
            why=judged[row].why,
        )
        for row in rows
    ]


def _wrong_at(truth: Sequence[str], written: Written) -> int | None:
    """The place of the first token that differs, the end of each being a token too."""
    own = (*written.tokens, None) if written.ended else written.tokens
    both = zip((*truth, None), own, strict=False)
    return next((place for place, (mine, true) in enumerate(both) if mine != true), None)
