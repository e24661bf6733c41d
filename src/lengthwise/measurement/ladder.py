"""What a model does on a ladder of shifts: one point a level, with what happens inside. Records only, no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.tasks.ladder import level_name

SCHEMA = 1


@dataclass(frozen=True)
class LadderSettings:
    """How much is measured at each level: items read with the true trace given, items written freely, items looked
    into."""

    items: int = 48
    decoded: int = 16
    inside: int = 16

    def __post_init__(self) -> None:
        if not (self.items >= 2 and 1 <= self.decoded <= self.items and 1 <= self.inside <= self.items):
            raise UsageError(
                "a ladder has 2 items or more a level, of which 1 or more are decoded and looked into, not "
                f"{self.items}, {self.decoded} and {self.inside}"
            )

    def plain(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True)
class Calibration:
    """Confidence (the probability of the token a model would write) beside accuracy. `bins` are [count, confidence,
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
    calibration: Calibration
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
    """One problem as a model writes it beside the right trace; tokens are parted by spaces. `wrong_at` is the place of
    the first token that differs, None where none does."""

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
    settings: LadderSettings
    points: tuple[LevelPoint, ...]
    examples: tuple[Example, ...]
    certified: float | None
    metric: str  # of the Lipschitz constants, in words

    def at(self, name: str) -> LevelPoint:
        for point in self.points:
            if point.name == name:
                return point
        raise KeyError(f"the level {name} was not measured")

    def plain(self) -> dict[str, Any]:
        """As JSON-ready data; `Ladder.from_plain` reads it back."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Ladder:
        content = {key: value for key, value in data.items() if key != "schema"}
        content["settings"] = LadderSettings(**content["settings"])
        content["points"] = tuple(_point(row) for row in content["points"])
        content["examples"] = tuple(Example(**row) for row in content["examples"])
        return cls(**content)


def _point(row: Mapping[str, Any]) -> LevelPoint:
    own = dict(row)
    seen = own["calibration"]
    bins = tuple((count, confidence, accuracy) for count, confidence, accuracy in seen["bins"])
    own["calibration"] = Calibration(seen["confidence"], seen["error"], bins)
    own["errors"] = tuple(own["errors"])
    own["inside"] = tuple(Inside(**layer) for layer in own["inside"])
    return LevelPoint(**own)
