"""How steep the first levels of a ladder are: the better half of the configurations, one level after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.analyses.evidence import SHARED_ITEMS, Climb, Configuration, Evidence, LevelPoint, mean, place_text
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Table, columns

STEPS = 3

explain(
    {
        "better_half.chosen": "the half is chosen by the risk that is shown, so it looks better than it is",
        "better_half.solved": "problems solved at the first of the {axis}, better half of the configurations",
        "better_half.risk": "mean risk at the first of the {axis}, better half of the configurations",
        "better_half.table": "The better half, step by step",
        "better_half.note": "Along each axis, the half of all configurations with the least mean risk over its first "
        "{steps} levels; seeds are averaged. Lowest and highest are single configurations. Solved counts the problems "
        "that these models decoded freely. A half that is chosen by what is shown looks better than it is.",
    }
)
_CHOSEN = Assumption("better_half.chosen", "caveat")


@dataclass(frozen=True)
class Step:
    """The better half at one level; `number` 1 is the level nearest to training. `risks` has one entry for each
    configuration, `solved` of `decoded` problems were solved by all of them together."""

    axis: str
    number: int
    risks: tuple[float, ...]
    solved: int
    decoded: int

    @property
    def risk(self) -> float:
        return sum(self.risks) / len(self.risks)

    @property
    def share(self) -> float:
        return self.solved / self.decoded

    def claims(self) -> list[Claim]:
        """What the first level is judged by; the table has the others."""
        if self.number > 1:
            return []
        about = {"axis": place_text(self.axis), "configurations": len(self.risks)}
        counted = {**about, "solved": self.solved, "decoded": self.decoded}
        known, spread = (_CHOSEN, SHARED_ITEMS), {**about, "lowest": min(self.risks), "highest": max(self.risks)}
        return [
            Claim("better_half.risk", self.risk, "risk", "measured", assumptions=known, evidence=spread),
            Claim("better_half.solved", self.share, "share", "measured", assumptions=known, evidence=counted),
        ]


def better_half(evidence: Evidence) -> list[Step]:
    """The first levels of each axis, as the better half of the configurations that were measured there does on them."""
    return [step for axis in evidence.axes for step in _along(evidence, axis)]


def _along(evidence: Evidence, axis: str) -> list[Step]:
    levels = {key: _levels(climbs, axis) for key, climbs in evidence.configurations.items()}
    count = min(STEPS, max(map(len, levels.values())))
    whole = {key: own[:count] for key, own in levels.items() if len(own) >= count}
    risks = {key: [mean(point.risk for point in level) or 0.0 for level in own] for key, own in whole.items()}
    better: list[Configuration] = sorted(risks, key=lambda key: mean(risks[key]) or 0.0)[: (len(risks) + 1) // 2]
    found = []
    for number in range(count):
        points = [point for key in better for point in whole[key][number]]
        solved, decoded = (sum(getattr(point, name) for point in points) for name in ("solved", "decoded"))
        found.append(Step(axis, number + 1, tuple(risks[key][number] for key in better), solved, decoded))
    return found


def _levels(climbs: Sequence[Climb], axis: str) -> list[list[LevelPoint]]:
    """The levels of an axis from the nearest on, each with the points of all seeds."""
    points = [point for climb in climbs for point in climb.points_at(axis)]
    return [[p for p in points if p.value == value] for value in sorted({point.value for point in points})]


def better_half_table(steps: Sequence[Step]) -> Table:
    described = columns(
        "axis:text levels of | step:whole level | configurations:whole | risk | lowest | highest | "
        "solved:text problems solved | share:share share solved"
    )
    rows = []
    for one in steps:
        solved = f"{one.solved} of {one.decoded}", one.share
        rows.append((one.axis, one.number, len(one.risks), one.risk, min(one.risks), max(one.risks), *solved))
    note = sentence("better_half.note", {"steps": STEPS})
    return Table("better_half.steps", described, tuple(rows), sentence("better_half.table"), note)
