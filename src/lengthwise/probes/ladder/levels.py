"""What a model does on a ladder of shifts: one point per level, with what happens inside. Records only, no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.messages import explain
from lengthwise.probes.ladder import LadderProbe
from lengthwise.records import Claim, Column, Record, Table
from lengthwise.tasks.ladder import level_name

LEVELS, EXAMPLES = "ladder.levels", "ladder.examples"

explain(
    {
        "ladder.certified": "Lipschitz constant of the model on its embeddings, certified",
        "ladder.error": "share of wrong tokens, {level}",
    }
)


@dataclass(frozen=True)
class Calibrated:
    """Confidence (the probability of the token a model would write) and accuracy. `bins` are [count, confidence,
    accuracy] by tenths of confidence; `error` is the expected calibration error, their mean gap weighted by count."""

    confidence: float
    error: float
    bins: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Inside:
    """The residual stream after one layer (the first is the embedding), where a push or a pop ends.

    `shared` is the share of pairs of such places of one trace that have the same token and different stacks, and whose
    states point the same way (cosine 0.99 or more); None where there is no such pair. `rank` is the effective rank of
    all states. `entropy` is the mean attention entropy of the layer, as a share of the largest possible; None for the
    embedding.
    """

    shared: float | None
    pairs: int
    rank: float
    entropy: float | None


@dataclass(frozen=True)
class LevelPoint:
    """One level. `errors[i]` is the share of the tokens of item i's trace that the model would have written wrongly,
    the true trace so far being given; `loss` is the mean cross-entropy of those tokens."""

    axis: str
    value: int
    right: int
    tokens: int
    tokens_right: int
    loss: float
    errors: tuple[float, ...]
    calibration: Calibrated
    decoded: int
    valid: int
    solved: int
    inside: tuple[Inside, ...]
    slope: float | None  # the steepest change of the logits found at these items: a lower bound of a Lipschitz constant

    @property
    def name(self) -> str:
        return level_name(self.axis, self.value)

    @property
    def items(self) -> int:
        return len(self.errors)

    @property
    def token(self) -> float:
        """Share of all tokens that are right."""
        return self.tokens_right / self.tokens

    @property
    def risk(self) -> float:
        """The mean over items of the share of wrong tokens."""
        return sum(self.errors) / len(self.errors)


@dataclass(frozen=True)
class Example:
    """One problem as a model writes it, with the right trace; tokens are separated by spaces. `wrong_at` is the place
    of the first token that differs, None where none does."""

    level: str
    prompt: str
    truth: str
    written: str
    wrong_at: int | None
    valid: bool
    solved: bool
    why: str  # what the verifier says of the written trace


@dataclass(frozen=True)
class Ladder:
    """All levels of one trained model. `certified` is an upper bound of the Lipschitz constant that `slope` is a lower
    bound of, None where none could be given."""

    task: str
    position: str
    train_size: int
    seed: int
    settings: LadderProbe
    points: tuple[LevelPoint, ...]
    examples: tuple[Example, ...]
    certified: float | None
    metric: str  # of the Lipschitz constants, in words

    def at(self, name: str) -> LevelPoint:
        for point in self.points:
            if point.name == name:
                return point
        raise KeyError(f"the level {name} was not measured")

    def record(self) -> Record:
        """The ladder as a record; `from_record` reads it back."""
        farthest = {point.axis: point for point in self.points}.values()
        claims = [
            Claim("ladder.error", point.risk, "", "measured", evidence={"level": point.name, "items": point.items})
            for point in farthest
        ]
        status = "unknown" if self.certified is None else "holds"
        evidence = {"metric": self.metric}
        claims.append(Claim("ladder.certified", self.certified, "", "certified", status, evidence=evidence))
        examples = tuple(tuple(vars(example).values()) for example in self.examples)
        return Record(
            source="ladder",
            settings=asdict(self.settings),
            title=f"{self.task}, position {self.position}, trained to size {self.train_size}, seed {self.seed}",
            claims=tuple(claims),
            tables=(
                Table(LEVELS, _COLUMNS, tuple(map(_row, self.points)), "by level"),
                Table(EXAMPLES, _EXAMPLE, examples, "written answers", detail=True),
            ),
            data={
                **{name: getattr(self, name) for name in _IDENTITY},
                "levels": [
                    {"errors": p.errors, "bins": p.calibration.bins, "inside": [asdict(layer) for layer in p.inside]}
                    for p in self.points
                ],
            },
        )

    @classmethod
    def from_record(cls, record: Record) -> Ladder:
        rows, own = record.table(LEVELS).records(), record.data
        examples: list[Any] = [row for table in record.tables if table.key == EXAMPLES for row in table.records()]
        return cls(
            **{name: own[name] for name in _IDENTITY},
            settings=LadderProbe(**record.settings),
            points=tuple(_point(row, level) for row, level in zip(rows, own["levels"], strict=True)),
            examples=tuple(Example(**row) for row in examples),
        )


_IDENTITY = ("task", "position", "train_size", "seed", "certified", "metric")
_COUNTED = ("axis", "value", "right", "tokens", "tokens_right", "loss", "decoded", "valid", "solved", "slope")
_COLUMNS = (
    Column("axis", "text"),
    Column("value", "whole"),
    Column("level", "text"),
    Column("items", "whole"),
    Column("right", "whole"),
    Column("risk", "share", "wrong tokens"),
    Column("tokens", "whole"),
    Column("tokens_right", "whole", "tokens right"),
    Column("token", "share", "token accuracy"),
    Column("loss", "number"),
    Column("confidence", "share"),
    Column("ece", "share", "calibration error"),
    Column("decoded", "whole"),
    Column("valid", "whole"),
    Column("solved", "whole"),
    Column("slope", "number"),
)
_EXAMPLE = (
    *(Column(name, "text") for name in ("level", "prompt", "truth", "written")),
    Column("wrong_at", "whole", "first wrong token"),
    *(Column(name, "truth") for name in ("valid", "solved")),
    Column("why", "text"),
)


def _row(point: LevelPoint) -> tuple[Any, ...]:
    more = {"level": point.name, "confidence": point.calibration.confidence, "ece": point.calibration.error}
    return tuple(more[column.name] if column.name in more else getattr(point, column.name) for column in _COLUMNS)


def _point(row: Mapping[str, Any], level: Mapping[str, Any]) -> LevelPoint:
    bins = tuple(map(tuple, level["bins"]))
    return LevelPoint(
        **{name: row[name] for name in _COUNTED},
        errors=tuple(level["errors"]),
        calibration=Calibrated(row["confidence"], row["ece"], bins),
        inside=tuple(Inside(**layer) for layer in level["inside"]),
    )
