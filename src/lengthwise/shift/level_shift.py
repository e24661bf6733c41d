"""How far one level of a ladder is from training in one metric: the record alone, without what measures it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.tasks.ladder import level_name


@dataclass(frozen=True)
class LevelShift:
    """W1 of two samples of `items` each, the null (what two samples of training are apart, in the mean), and an
    interval of the W1 of the distributions."""

    task: str
    axis: str
    value: int
    metric: str
    unit: str
    items: int
    w1: float
    null: float
    low: float
    high: float

    @property
    def name(self) -> str:
        return level_name(self.axis, self.value)

    @property
    def ratio(self) -> float:
        """W1 in nulls."""
        return self.w1 / self.null if self.null > 0 else float("inf") if self.w1 > 0 else 1.0

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> LevelShift:
        return cls(**{name: data[name] for name in cls.__dataclass_fields__})
