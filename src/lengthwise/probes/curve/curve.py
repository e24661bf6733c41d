"""Accuracy by size: the points, bins of them, and the one number, the reach; and the sentences about them that the
terminal and the README.md of a run share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.figures.curves import curve_chart, curve_svg
from lengthwise.messages import explain
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD, Standing, standing, wilson
from lengthwise.records import Assumption, Claim, Column, Interval, Record, Reference, Table

POINTS, BINS = "curve.points", "curve.bins"

explain(
    {
        "curve.reach": "reach",
        "curve.exact": "exact match, sizes {first} to {last}",
        "curve.drawn": "items are drawn as the task draws them",
        "curve.pointwise": "intervals are pointwise",
    }
)


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
        """Share of answer tokens that are right, given the true answer so far; NaN where answers count as a whole."""
        return self.tokens_right / self.tokens if self.tokens else math.nan

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
        exact, token = self.interval, self.token_interval if self.tokens else None
        return {
            **{name: _or_none(value) for name, value in asdict(self).items()},
            "exact": self.exact,
            "exact_interval": [exact.low, exact.high],
            "token": _or_none(self.token),
            "token_interval": None if token is None else [token.low, token.high],
        }


_WIDTH = 20  # of a bin, where no training size is known


@dataclass(frozen=True, repr=False)
class Curve:
    """Accuracy at every size measured, for one trained model. `certain` is False for a task whose answers are drawn at
    random, for which exact match is not meaningful. `train_size` is 0 where it is not known."""

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
        width = self.train_size or _WIDTH
        edges = edges or [*range(width, largest, width), largest]
        pooled, first = [], 1
        for edge in edges:
            inside = [point for point in self.points if first <= point.size <= edge]
            if inside:
                pooled.append(_pool(inside, first, edge))
            first = edge + 1
        return tuple(pooled)

    def standing(self, measured_to: int | None = None) -> Standing:
        """Whether the model has learned and whether it holds (`lengthwise.probes.curve.standard`). `measured_to` is the
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
            key="curve.reach",
            value=reach,
            unit="size",
            kind="measured",
            interval=Interval(low, math.inf if high == sizes[-1] else high, 0.95, "Wilson at each size"),
            assumptions=(Assumption("curve.drawn"), Assumption("curve.pointwise")),
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
        claims, source = [self.reach()], Reference("wilson1927")
        for point in self.bins():
            evidence = {"first": point.size, "last": point.last, "items": point.items, "chance": point.chance}
            evidence |= {"token": _or_none(point.token), "seed": self.seed}
            value, interval = point.exact, point.interval
            claims.append(Claim("curve.exact", value, "", "measured", "holds", interval, (), source, evidence))
        return claims

    def _facts(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("task", "position", "train_size", "seed", "certain")}
        return {**own, **asdict(self.standing())}

    @property
    def title(self) -> str:
        """The task, with the encoding and the training size where they are known."""
        encoding = f", position {self.position}" if self.position else ""
        return self.task + encoding + (f", trained to size {self.train_size}" if self.train_size else "")

    def record(self) -> Record:
        """The curve as a record; `from_record` reads it back."""
        first = learned_sentence(self)
        return Record(
            source="curve",
            title=f"{self.title}, seed {self.seed}",
            text=(*([_sentence(first)] if first else []), _sentence(reach_sentence(self.reach()))),
            claims=tuple(self.claims()),
            tables=(_table(BINS, "by bins", self.bins(), "last"), _table(POINTS, "by size", self.points)),
            data=self._facts(),
        )

    @classmethod
    def from_record(cls, record: Record) -> Curve:
        points = []
        for row in record.table(POINTS).records():
            known: dict[str, Any] = {name: row[name] for name in Point.__dataclass_fields__ if name in row}
            known["loss"] = math.nan if row["loss"] is None else row["loss"]
            points.append(Point(**known, last=known["size"]))
        own = {name: record.data[name] for name in ("task", "position", "train_size", "seed", "certain")}
        return cls(**own, points=tuple(points))

    def plain(self) -> dict[str, Any]:
        """The curve as JSON-ready data, which is what figures are drawn from."""
        return {
            **self._facts(),
            "points": [point.plain() for point in self.points],
            "bins": [point.plain() for point in self.bins()],
        }

    def to_pandas(self) -> Any:
        """The points as a pandas DataFrame, one row per size."""
        return self.record().table(POINTS).to_pandas()

    def plot(self, title: str = "") -> Any:
        """Exact match by size as an Altair chart, which a notebook shows; `save("curve.svg")` writes it."""
        return curve_chart([self.plain()], title)

    def __repr__(self) -> str:
        reach = self.reach()
        at_least = "≥ " if reach.evidence["censored"] else ""
        return (
            f"Curve({self.title}, seed {self.seed}: "
            f"reach {at_least}{reach.value}, {len(self.points)} sizes to {self.points[-1].size})"
        )

    def _repr_html_(self) -> str:
        return curve_svg([self.plain()])


_COLUMNS = (
    Column("items", "whole"),
    Column("right", "whole"),
    Column("exact", "share", "exact match"),
    Column("low", "share", "95 % from"),
    Column("high", "share", "95 % to"),
    Column("tokens", "whole"),
    Column("tokens_right", "whole", "tokens right"),
    Column("token", "share", "token accuracy"),
    Column("loss", "number"),
    Column("chance", "share"),
    Column("chance_error", "number", "standard error of chance"),
    Column("token_chance", "share", "chance per token"),
)


def _table(key: str, title: str, points: Sequence[Point], *more: str) -> Table:
    columns = (Column("size", "whole"), *(Column(name, "whole") for name in more), *_COLUMNS)
    return Table(key, columns, tuple(_row(point, columns) for point in points), title, detail=not more)


def _row(point: Point, columns: Sequence[Column]) -> tuple[Any, ...]:
    interval = point.interval
    ends = {"low": interval.low, "high": interval.high}
    return tuple(_or_none(ends.get(c.name, getattr(point, c.name, None))) for c in columns)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _pool(points: Sequence[Point], first: int, last: int) -> Point:
    counted = ("items", "right", "tokens", "tokens_right")
    sums = {name: sum(getattr(point, name) for point in points) for name in counted}
    items, tokens = sums["items"], sums["tokens"]
    return Point(
        first,
        last,
        **sums,
        loss=sum(p.loss * p.tokens for p in points) / tokens if tokens else math.nan,
        chance=sum(p.chance * p.items for p in points) / items,
        token_chance=sum(p.token_chance * (p.tokens or 1) for p in points) / (tokens or len(points)),
        chance_error=math.hypot(*(p.chance_error * p.items for p in points)) / items,
    )


# --- sentences ------------------------------------------------------------------------------------------------------


def rounded_percent(share: float) -> str:
    """A share in per cent with one decimal; 100.0 only for a share that is one, 0.0 only for one that is nought."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return "99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


def reach_sentence(reach: Claim) -> str:
    """The one number, in words, with its kind. A reach that ends where the measurement does is a lower bound."""
    evidence, interval = reach.evidence, reach.interval
    bar = f"{evidence['threshold']:.0%}"
    if not reach.value:
        return f"reach 0 ({reach.kind}): exact match is below {bar} at the smallest size already"
    assert interval is not None
    if evidence["censored"]:
        sure = "" if interval.low == reach.value else f"; 95% interval from {interval.low:.0f}"
        return (
            f"reach at least {reach.value}, not measured further ({reach.kind}{sure}): "
            f"exact match is {bar} or more at every size measured up to {reach.value}"
        )
    ends = f"{interval.low:.0f} to {interval.high:.0f}"
    if interval.is_open:
        ends = f"from {interval.low:.0f}, with no upper end in the sizes measured"
    return (
        f"reach {reach.value} ({reach.kind}; 95% interval {ends}): "
        f"exact match is {bar} or more at every size measured up to {reach.value}"
    )


def learned_sentence(curve: Curve) -> str:
    """What must be said before anything else: that the run has not learned its training range, with what to try, or
    that exact match cannot tell. Empty where the run has learned, or where nobody knows what it was trained on."""
    if not curve.certain:
        return (
            f"exact match is not meaningful: {curve.task} draws its answers at random, so no model has them all right; "
            "look at the loss"
        )
    if not curve.train_size:
        return ""
    if curve.standing().learned is None:
        return f"not known to be learned: no size up to the training size {curve.train_size} was measured"
    if curve.standing().learned:
        return ""
    first = next(point for point in curve.points if point.exact < THRESHOLD)
    return (
        f"not learned: exact match is {rounded_percent(first.exact)}% at size {first.size}, inside the training range, "
        f"where it should be {THRESHOLD:.0%} at every size measured up to {curve.train_size}. The rest of the curve "
        f"therefore says nothing about longer inputs: {ADVICE}"
    )
