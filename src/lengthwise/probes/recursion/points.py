"""What a model does when it is run to the end: one record per size, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.messages import explain
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Cell, Claim, Column, Interval, Record, Reference, Table

explain(
    {
        "recursion.exact": "exact answer through recursion, size {size}",
        "recursion.on_time": "chains that stop on time, size {size}",
        "recursion.injured": "exact answer after one injected error, size {size}",
        "recursion.drawn": "instances are drawn as the formulation draws them",
    }
)


@dataclass(frozen=True)
class Injuries:
    """Chains in which one label of one true step was replaced by another, and what the model made of the rest.

    Of `items` injured chains `right` still have the right answer; an exact solver that continues from the same injured
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
        """Three per size: the right answers, the chains that stop on time, and what an injury leaves right."""
        claims = []
        for point in self.points:
            known, injuries = {"size": point.size, "seed": self.seed, "steps": point.steps}, point.injuries
            ended = {"endless": point.endless, "early": point.early}
            claims += [
                _share("exact", point.right, point.items, {**known, "true_step": point.true_step}),
                _share("on_time", point.on_time, point.items, {**known, **ended}),
                _share("injured", injuries.right, injuries.items, {**known, **asdict(injuries)}),
            ]
        return claims

    def record(self) -> Record:
        """The whole as a record: how chains end, single steps, and what an injected error does."""
        trained = "" if self.train_size is None else f", trained to size {self.train_size}"
        return Record(
            source="recursion",
            title=f"{self.task}, position {self.position}{trained}, run to the end, seed {self.seed}",
            claims=tuple(self.claims()),
            tables=tuple(
                Table(key, (_SIZE, *columns), tuple((point.size, *row(point)) for point in self.points), title, note)
                for key, title, note, columns, row in _TABLES
            ),
            data={
                **{name: getattr(self, name) for name in ("task", "position", "train_size", "seed")},
                "points": [asdict(point) for point in self.points],
            },
        )


def _ends(point: ChainPoint) -> tuple[Cell, ...]:
    counts = (point.on_time, point.early, point.late, point.endless, point.invalid)
    interval = point.interval
    return (point.exact, interval.low, interval.high, point.steps, *(count / point.items for count in counts))


def _steps(point: ChainPoint) -> tuple[Cell, ...]:
    places = point.first_errors or (None, None, None)
    return (point.true_step, point.own_step, point.erring / point.items, *places)


def _injured(point: ChainPoint) -> tuple[Cell, ...]:
    items, *counts = vars(point.injuries).values()
    return tuple(count / max(1, items) for count in counts)


def _shares(**titles: str) -> tuple[Column, ...]:
    return tuple(Column(name, "share", title) for name, title in titles.items())


_SIZE = Column("size", "whole")
_TABLES = (
    (
        "recursion.chains",
        "whole chains",
        "exact: chains that stopped by the model's own output with the right answer (measured)",
        (
            *_shares(exact="exact", low="95 % from", high="95 % to"),
            Column("steps", "whole"),
            *_shares(on_time="on time", early="early", late="late", endless="never", invalid="no state"),
        ),
        _ends,
    ),
    (
        "recursion.steps",
        "single steps, from the true states and from the model's own; where the first wrong one is",
        "first, middle and last quartile: the place of the first wrong step, as a share of the true chain",
        _shares(true="true", own="own", erring="wrong chains", low="first quartile", middle="middle", high="last"),
        _steps,
    ),
    (
        "recursion.injuries",
        "one wrong label in one step of a true chain, and the model continues from there",
        "solver: an exact solver continues from the same wrong label, which shows what the layout itself forgives; "
        "healed, stayed, spread: no wrong column at the end, no more than the error made, more",
        _shares(exact="exact", solver="solver", healed="healed", stayed="stayed", spread="spread", unended="no end"),
        _injured,
    ),
)


def _share(key: str, right: int, items: int, evidence: Mapping[str, Any]) -> Claim:
    return Claim(
        key=f"recursion.{key}",
        value=right / items if items else None,
        unit="",
        kind="measured",
        status="holds" if items else "unknown",
        interval=wilson(right, items) if items else None,
        assumptions=(Assumption("recursion.drawn"),),
        reference=Reference("xiao2024", "one step applied recursively, Theorems 3.2 and 3.6"),
        evidence={"items": items, **evidence},
    )
