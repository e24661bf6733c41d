"""What a model does when it is run to the end: one record a size, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.measurement.intervals import wilson
from lengthwise.records import Assumption, Claim, Interval, Reference

SCHEMA = 1
_UNIFORM = Assumption("instances are drawn as the formulation draws them")
_ONE_STEP = Reference("xiao2024", "one step applied recursively, Theorems 3.2 and 3.6")


@dataclass(frozen=True)
class Injuries:
    """Chains in which one label of one true step was replaced by another, and what the model made of the rest.

    Of `items` injured chains `right` still have the right answer; an exact solver that goes on from the same injured
    states has `solver_right`. `healed` end in the true final state; `stayed` end with no more wrong columns than the
    injury made; `spread` with more; `unended` do not stop or come to a label that makes no state.
    """

    items: int
    right: int
    solver_right: int
    healed: int
    stayed: int
    spread: int
    unended: int


@dataclass(frozen=True)
class ChainPoint:
    """What a model made of `items` instances of one size, run until its own output said stop.

    right            answers that are right; `state_right` counts final states that are right in every column
    steps            steps of the longest true chain
    on_time …        chains by how they ended: at the right number of steps, `early`, `late`, never (`endless`), or by
                     a label that makes no state (`invalid`)
    own_steps        applications of the model along its own chains, of which `own_right` did what the task does from
                     that very state; from `own_lost` states the task itself knows no step, and those are not right
    true_steps       the same along the true chains (each step from the true state), and `true_right` of them
    erring           chains with a wrong step, of which `recovered` have the right answer all the same
    first_errors     quartiles of the place of the first wrong step, as a share of the true chain
    """

    size: int
    items: int
    steps: int
    right: int
    state_right: int
    on_time: int
    early: int
    late: int
    endless: int
    invalid: int
    own_steps: int
    own_right: int
    own_lost: int
    true_steps: int
    true_right: int
    erring: int
    recovered: int
    first_errors: tuple[float, float, float] | None
    injuries: Injuries

    @property
    def exact(self) -> float:
        """Share of chains that stopped with the right answer."""
        return self.right / self.items

    @property
    def interval(self) -> Interval:
        return wilson(self.right, self.items)

    @property
    def own_step(self) -> float:
        return self.own_right / self.own_steps

    @property
    def true_step(self) -> float:
        return self.true_right / self.true_steps

    def plain(self) -> dict[str, Any]:
        interval = self.interval
        return {
            **asdict(self),
            "first_errors": None if self.first_errors is None else list(self.first_errors),
            "exact": self.exact,
            "exact_interval": [interval.low, interval.high],
            "own_step": self.own_step,
            "true_step": self.true_step,
        }


@dataclass(frozen=True)
class Recursion:
    """A model run to the end at several sizes. `train_size` is None where only the model was given."""

    task: str
    position: str
    train_size: int | None
    seed: int
    points: tuple[ChainPoint, ...]

    def at(self, size: int) -> ChainPoint:
        for point in self.points:
            if point.size == size:
                return point
        raise KeyError(f"size {size} was not run")

    def claims(self) -> list[Claim]:
        """Three claims a size: the right answers, the chains that stop on time, and what an injury leaves right."""
        return [claim for point in self.points for claim in self._claims(point)]

    def _claims(self, point: ChainPoint) -> list[Claim]:
        injuries = point.injuries
        counts = [
            ("exact answer through recursion", point.right, point.items, {"true_step": point.true_step}),
            ("chains that stop on time", point.on_time, point.items, {"endless": point.endless, "early": point.early}),
            ("exact answer after one injected error", injuries.right, injuries.items, asdict(injuries)),
        ]
        return [
            _share(f"{name}, size {point.size}", right, items, {"seed": self.seed, "steps": point.steps, **evidence})
            for name, right, items, evidence in counts
        ]

    def plain(self) -> dict[str, Any]:
        """The whole as JSON-ready data."""
        return {
            "schema": SCHEMA,
            "task": self.task,
            "position": self.position,
            "train_size": self.train_size,
            "seed": self.seed,
            "points": [point.plain() for point in self.points],
            "claims": [claim.plain() for claim in self.claims()],
        }


def _share(name: str, right: int, items: int, evidence: Mapping[str, Any]) -> Claim:
    return Claim(
        key=name,
        value=right / items if items else None,
        unit="",
        kind="measured",
        status="holds" if items else "unknown",
        interval=wilson(right, items) if items else None,
        assumptions=(_UNIFORM,),
        reference=_ONE_STEP,
        evidence={"items": items, **evidence},
    )
