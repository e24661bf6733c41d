"""R, the largest distance between two columns that enter the same step, by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Move, State

Growth = Literal["finite", "infinite", "unknown"]
XIAO = Reference("xiao2024", "maximal input element distance R, Theorem 3.5")


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
        what = f"{self.name}: R" + (", a lower bound" if self.bound else "")
        value = {"finite": self.value, "infinite": "infinite", "unknown": None}[self.growth]
        status = "unknown" if self.growth == "unknown" or (self.bound and self.growth == "finite") else "holds"
        assumptions = [Assumption("R goes on beyond the sizes looked at as it did on the last of them")]
        if self.bound:
            assumptions.append(Assumption("every column takes part in at most one step"))
        evidence = {"by_size": dict(self.by_size), "example": self.example}
        return Claim(
            what,
            value,
            "columns",
            "measured",
            status,
            assumptions=tuple(assumptions),
            reference=XIAO,
            evidence=evidence,
        )

    def explain(self) -> list[str]:
        numbers = ", ".join(f"{spread} at size {size}" for size, spread in self.by_size)
        kind = "at least " if self.bound else ""
        said = {
            "finite": f"R is {kind}{self.value} on the last {self.lasting} sizes",
            "infinite": "R grows with the size",
            "unknown": "R shows no clear tendency",
        }[self.growth]
        return [f"{said} ({numbers}).", *([self.example] if self.example else [])]

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "by_size": [list(pair) for pair in self.by_size],
            "growth": self.growth,
            "R": self.value,
            "lower_bound": self.bound,
            "example": self.example,
        }


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


def _by_sources(moves: Iterable[Move]) -> Iterator[tuple[int, Any]]:
    for move in moves:
        for place, sources in enumerate(move.sources):
            if len(sources) > 1:
                yield sources[-1] - sources[0], lambda m=move, p=place, s=sources: _read(m, p, s)


def _read(move: Move, place: int, sources: tuple[int, ...]) -> str:
    text, places = written(move.after, place), f"columns {sources[0] + 1} and {sources[-1] + 1}"
    return f"In `{text}` the column in brackets is made from {places} of the state before."


def _by_comparison(moves: Iterable[Move]) -> Iterator[tuple[int, Any]]:
    """Half the distance, rounded up, between a column and a label that changes with it."""
    near: dict[tuple[State, int], list[Move]] = {}
    for move in {move.state: move for move in moves}.values():
        for place in range(len(move.state)):
            near.setdefault(((*move.state[:place], (), *move.state[place + 1 :]), place), []).append(move)
    for (_, place), group in near.items():
        for other in group[1:]:
            for at, (one, two) in enumerate(zip(group[0].labels, other.labels, strict=True)):
                if one != two and at != place:
                    yield (abs(at - place) + 1) // 2, lambda a=group[0], b=other, p=place, q=at: _compared(a, b, p, q)


def _compared(one: Move, other: Move, place: int, at: int) -> str:
    return (
        f"`{written(one.state, place)}` and `{written(other.state, place)}` differ in the column in brackets alone, "
        f"and the label at column {at + 1} is {one.labels[at]!r} in one and {other.labels[at]!r} in the other."
    )
