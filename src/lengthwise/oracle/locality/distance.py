"""R, the largest distance between two columns that enter the same step, by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import State, StepMove

Growth = Literal["finite", "infinite", "unknown"]
XIAO = Reference("xiao2024", "maximal input element distance R, Theorem 3.5")
explain(
    {
        "locality.distance": "{name}: R, the largest distance between two columns that enter one step",
        "locality.distance_bound": "{name}: a lower bound on R, the largest distance between two columns that enter "
        "one step",
        "locality.distance_continues": "R continues beyond the sizes examined as it did on the last of them",
        "locality.one_step_each": "every column takes part in at most one step",
        "locality.distance_finite": "R is {value} on the last {lasting} sizes ({numbers}).",
        "locality.distance_at_least": "R is at least {value} on the last {lasting} sizes ({numbers}).",
        "locality.distance_infinite": "R grows with the size ({numbers}).",
        "locality.distance_unknown": "R shows no clear tendency ({numbers}).",
        "locality.spread": "{spread} at size {size}",
        "locality.made_from": "In `{state}` the column in brackets is computed from columns {first} and {last} of the "
        "previous state.",
        "locality.changes_with": "`{one}` and `{other}` differ only in the column in brackets, yet the label at column "
        "{at} is {label!r} in one and {other_label!r} in the other.",
    }
)


@dataclass(frozen=True)
class Distance:
    """R by size. `bound` says that the numbers are lower bounds, found without knowing the sources of a step.

    `growth` is "finite" when the last `lasting` sizes agree, "infinite" when each of them is larger than the one
    before, and "unknown" otherwise: an observation on these sizes, not a proof.
    """

    name: str
    by_size: tuple[tuple[int, int], ...]
    growth: Growth
    lasting: int
    bound: bool
    example: str

    @property
    def value(self) -> int | None:
        """R where it is finite."""
        return max((spread for _, spread in self.by_size), default=0) if self.growth == "finite" else None

    def claim(self) -> Claim:
        value = {"finite": self.value, "infinite": "infinite", "unknown": None}[self.growth]
        status = "unknown" if self.growth == "unknown" or (self.bound and self.growth == "finite") else "holds"
        keys = ["locality.distance_continues", *(["locality.one_step_each"] if self.bound else [])]
        return Claim(
            "locality.distance_bound" if self.bound else "locality.distance",
            value,
            "columns",
            "measured",
            status,
            assumptions=tuple(map(Assumption, keys)),
            reference=XIAO,
            evidence={"name": self.name, "by_size": dict(self.by_size), "example": self.example},
        )

    def explain(self) -> list[str]:
        spreads = [sentence("locality.spread", {"spread": spread, "size": size}) for size, spread in self.by_size]
        growth = "at_least" if self.bound and self.growth == "finite" else self.growth
        values = {"value": self.value, "lasting": self.lasting, "numbers": ", ".join(spreads)}
        return [sentence(f"locality.distance_{growth}", values), *([self.example] if self.example else [])]


def distance(steps: Steps, sizes: Iterable[int], lasting: int = 3) -> Distance:
    """R by size from the sources of the steps, or where they are not known a lower bound of it.

    The bound compares states that differ in one column: if the label at i changes when column j does, then i's label
    is read off a window that reaches |i - j| far, and where R is finite and a column takes part in at most one step a
    window of radius 2R is enough (Theorem 3.5), so that R >= |i - j| / 2.
    """
    by_size, example, widest = [], "", 0
    for size in sizes:
        spreads = _by_sources(steps.moves(size)) if steps.sourced else _by_comparison(steps.moves(size))
        largest = 0
        for spread, text in spreads:
            largest = max(largest, spread)
            if spread > widest:
                widest, example = spread, text()
        by_size.append((size, largest))
    return Distance(steps.name, tuple(by_size), _growth(by_size, lasting), lasting, not steps.sourced, example)


def _growth(by_size: list[tuple[int, int]], lasting: int) -> Growth:
    last = [spread for _, spread in by_size][-lasting:]
    if len(last) < lasting:
        return "unknown"
    if len(set(last)) == 1:
        return "finite"
    # A layout of two lines may widen at every second size only.
    return "infinite" if last[0] < last[-1] and last == sorted(last) else "unknown"


def _by_sources(moves: Iterable[StepMove]) -> Iterator[tuple[int, Any]]:
    for move in moves:
        for place, sources in enumerate(move.sources):
            if len(sources) > 1:
                yield sources[-1] - sources[0], lambda m=move, p=place, s=sources: _read(m, p, s)


def _read(move: StepMove, place: int, sources: tuple[int, ...]) -> str:
    values = {"state": written(move.after, place), "first": sources[0] + 1, "last": sources[-1] + 1}
    return sentence("locality.made_from", values)


def _by_comparison(moves: Iterable[StepMove]) -> Iterator[tuple[int, Any]]:
    """Half the distance, rounded up, between a column and a label that changes with it."""
    near: dict[tuple[State, int], list[StepMove]] = {}
    for move in {move.state: move for move in moves}.values():
        for place in range(len(move.state)):
            near.setdefault(((*move.state[:place], (), *move.state[place + 1 :]), place), []).append(move)
    for (_, place), group in near.items():
        for other in group[1:]:
            for at, (one, two) in enumerate(zip(group[0].labels, other.labels, strict=True)):
                if one != two and at != place:
                    yield (abs(at - place) + 1) // 2, lambda a=group[0], b=other, p=place, q=at: _compared(a, b, p, q)


def _compared(one: StepMove, other: StepMove, place: int, at: int) -> str:
    values = {"one": written(one.state, place), "other": written(other.state, place), "at": at + 1}
    return sentence("locality.changes_with", {**values, "label": one.labels[at], "other_label": other.labels[at]})
