"""Accuracy by size: the points, bins of them, and the one number, the reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.figures import curve_svg
from lengthwise.measurement.intervals import wilson
from lengthwise.measurement.standard import THRESHOLD, Standing, standing
from lengthwise.records import Assumption, Claim, Interval, Reference

SCHEMA = 1


@dataclass(frozen=True)
class Point:
    """What a model got right on `items` items: one size, or a bin of sizes (`size` to `last`). `loss` is the mean over
    the tokens asked for. `chance_error` is the standard error of `chance`, 0 where the task knows it exactly."""

    size: int
    last: int
    items: int
    right: int
    tokens: int
    tokens_right: int
    loss: float
    chance: float
    token_chance: float
    chance_error: float = 0.0

    @property
    def exact(self) -> float:
        """Share of items whose whole answer is right."""
        return self.right / self.items

    @property
    def token(self) -> float:
        """Share of answer tokens that are right, the true answer so far being given."""
        return self.tokens_right / self.tokens

    @property
    def interval(self) -> Interval:
        """Wilson's interval for the exact match."""
        return wilson(self.right, self.items)

    @property
    def token_interval(self) -> Interval:
        """Wilson's interval for the token accuracy, as if tokens of one item were independent: it is too narrow when
        errors come together."""
        return wilson(self.tokens_right, self.tokens)

    def plain(self) -> dict[str, Any]:
        exact, token = self.interval, self.token_interval
        return {
            **asdict(self),
            "exact": self.exact,
            "exact_interval": [exact.low, exact.high],
            "token": self.token,
            "token_interval": [token.low, token.high],
        }


@dataclass(frozen=True)
class Curve:
    """Accuracy at every size measured, for one trained model. `certain` is False for a task whose answers are drawn at
    random, of which exact match says nothing."""

    task: str
    position: str
    train_size: int
    seed: int
    points: tuple[Point, ...]
    certain: bool = True

    def at(self, size: int) -> Point:
        for point in self.points:
            if point.size == size:
                return point
        raise KeyError(f"size {size} was not measured")

    def bins(self, edges: Sequence[int] | None = None) -> tuple[Point, ...]:
        """Points pooled into bins that end at `edges`; by default the training range and stretches as wide as it."""
        largest = self.points[-1].size
        edges = edges or [*range(self.train_size, largest, self.train_size), largest]
        pooled, first = [], 1
        for edge in edges:
            inside = [point for point in self.points if first <= point.size <= edge]
            if inside:
                pooled.append(_pool(inside, first, edge))
            first = edge + 1
        return tuple(pooled)

    def standing(self, measured_to: int | None = None) -> Standing:
        """Whether the model has learned and whether it holds (`lengthwise.measurement.standard`). `measured_to` is the
        size that measuring was to go to, where the task has none there; otherwise it is the largest size measured."""
        shares = [(point.size, point.exact) for point in self.points]
        return standing(shares, self.train_size, measured_to or self.points[-1].size, self.certain)

    def reach(self, threshold: float = THRESHOLD) -> Claim:
        """The largest size up to which exact match stays at or above the threshold at every size measured.

        The interval runs from the reach of the lower ends of the points' intervals to that of the upper ends; where the
        upper ends stay above the threshold to the largest size measured, it is open above.
        """
        sizes = [point.size for point in self.points]

        def held(values: Iterable[float]) -> int:
            last = 0
            for size, value in zip(sizes, values, strict=True):
                if value < threshold:
                    break
                last = size
            return last

        reach = held(point.exact for point in self.points)
        low = held(point.interval.low for point in self.points)
        high = held(point.interval.high for point in self.points)
        return Claim(
            key="reach",
            value=reach,
            unit="size",
            kind="measured",
            interval=Interval(low, math.inf if high == sizes[-1] else high, 0.95, "Wilson at each size"),
            assumptions=(Assumption("items are drawn as the task draws them"), Assumption("intervals are pointwise")),
            evidence={
                "threshold": threshold,
                "items_per_size": self.points[0].items,
                "smallest_size": sizes[0],
                "largest_size": sizes[-1],
                "censored": reach == sizes[-1],
                "seed": self.seed,
            },
        )

    def claims(self) -> list[Claim]:
        """The reach, and the exact match of every bin."""
        rows = [self.reach()]
        for point in self.bins():
            rows.append(
                Claim(
                    key=f"exact match, sizes {point.size} to {point.last}",
                    value=point.exact,
                    unit="",
                    kind="measured",
                    interval=point.interval,
                    reference=Reference("wilson1927"),
                    evidence={"items": point.items, "chance": point.chance, "token": point.token, "seed": self.seed},
                )
            )
        return rows

    def plain(self) -> dict[str, Any]:
        """The curve as JSON-ready data; `Curve.from_plain` reads it back."""
        return {
            "schema": SCHEMA,
            "task": self.task,
            "position": self.position,
            "train_size": self.train_size,
            "seed": self.seed,
            "certain": self.certain,
            **asdict(self.standing()),
            "points": [point.plain() for point in self.points],
            "bins": [point.plain() for point in self.bins()],
            "claims": [claim.plain() for claim in self.claims()],
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Curve:
        fields = Point.__dataclass_fields__
        points = tuple(Point(**{name: row[name] for name in fields}) for row in data["points"])
        return cls(data["task"], data["position"], data["train_size"], data["seed"], points, data["certain"])

    def _repr_html_(self) -> str:
        return curve_svg([self.plain()])


def _pool(points: Sequence[Point], first: int, last: int) -> Point:
    items, tokens = sum(p.items for p in points), sum(p.tokens for p in points)
    return Point(
        size=first,
        last=last,
        items=items,
        right=sum(p.right for p in points),
        tokens=tokens,
        tokens_right=sum(p.tokens_right for p in points),
        loss=sum(p.loss * p.tokens for p in points) / tokens,
        chance=sum(p.chance * p.items for p in points) / items,
        token_chance=sum(p.token_chance * p.tokens for p in points) / tokens,
        chance_error=math.hypot(*(p.chance_error * p.items for p in points)) / items,
    )
