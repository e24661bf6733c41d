"""Whether depth lowers the floor, for one task and encoding alone: the floor of the shallowest models minus that of the
deepest, with every difference that their two intervals allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lengthwise.analyses.evidence import layers_text, place_text
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference

if TYPE_CHECKING:
    from lengthwise.analyses.ladder.floors import Floor

explain(
    {
        "floors.step": "floor with {shallow} minus floor with {deep}, {task}, {position} ({place})",
        "floors.two_intervals": ("both floors lie in their 95 % intervals, which has a probability of at least 90 %"),
    }
)


def floor_steps(floors: Sequence[Floor]) -> list[Claim]:
    """One claim per task, encoding and place with floors of two depths or more, their exponents fitted. It has been
    decided where the interval excludes 0: above 0 depth lowers the floor, below 0 it raises it."""
    groups: dict[tuple[str, str, str], list[Floor]] = {}
    for floor in floors:
        if floor.free and floor.interval is not None:
            groups.setdefault((floor.task, floor.position, floor.place), []).append(floor)
    return [_step(sorted(own, key=lambda floor: floor.depth)) for own in groups.values() if len(own) > 1]


def _step(floors: Sequence[Floor]) -> Claim:
    one, two = floors[0], floors[-1]
    first, second = one.interval, two.interval
    assert first is not None and second is not None
    interval = Interval(first.low - second.high, first.high - second.low, 0.9, "from two profile intervals of 95 %")
    evidence = {
        "task": one.task,
        "position": one.position,
        "place": place_text(one.place),
        "shallow": layers_text(one.depth),
        "deep": layers_text(two.depth),
        "learned": one.learned and two.learned,
        "decided": 0.0 not in interval,
        "floors": {floor.depth: floor.floor for floor in floors},
    }
    given = (Assumption("floors.free_shape"), Assumption("floors.two_intervals"))
    reference = Reference("docs/findings/findings.md", "floors")
    difference = (one.floor or 0.0) - (two.floor or 0.0)
    return Claim("floors.step", difference, "risk", "measured", "holds", interval, given, reference, evidence)
