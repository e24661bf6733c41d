"""What every conclusion is made of: a claim with its kind, its assumptions, its source and its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["proved", "certified", "measured", "predicted", "heuristic"]
Status = Literal["holds", "refuted", "vacuous", "unknown", "refused"]
Check = Literal["checked", "assumed", "violated"]


@dataclass(frozen=True)
class Interval:
    """A closed range that holds the value with probability `level`, found by `method`.

    `high` is infinite where nothing bounds the value from above, such as a reach that ends with the measurement; JSON,
    which has no infinity, then says null.
    """

    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an interval needs low <= high, not [{self.low}, {self.high}]")
        if not 0 < self.level <= 1:
            raise ValueError(f"a level lies in (0, 1], not {self.level}")

    @property
    def is_open(self) -> bool:
        """Whether nothing bounds the value from above."""
        return self.high == math.inf

    def plain(self) -> dict[str, Any]:
        """The interval as JSON-ready data."""
        ends = {name: None if math.isinf(end) else end for name, end in (("low", self.low), ("high", self.high))}
        return {**asdict(self), **ends}

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Assumption:
    """A condition a claim rests on, and whether it was looked at."""

    statement: str
    check: Check = "assumed"

    def __post_init__(self) -> None:
        _one_of("check", self.check, Check)


@dataclass(frozen=True)
class Reference:
    """Where a statement comes from: a bibliography key and the place inside the work."""

    key: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.key}, {self.place}" if self.place else self.key


@dataclass(frozen=True)
class Claim:
    """One conclusion.

    `value` is a number, a string or None; None goes with the statuses that say why there is no value.
    `evidence` is what would convince a sceptic: sample size, seeds, a witness, a gap.
    """

    name: str
    value: float | int | str | bool | None
    unit: str
    kind: Kind
    status: Status = "holds"
    interval: Interval | None = None
    assumptions: tuple[Assumption, ...] = ()
    reference: Reference | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, Kind)
        _one_of("status", self.status, Status)
        if self.value is None and self.status in ("holds", "refuted"):
            raise ValueError(f"the claim {self.name!r} is said to be {self.status!r} but has no value")
        if isinstance(self.value, float) and math.isnan(self.value):
            raise ValueError(f"the claim {self.name!r} has the value NaN; a claim that could not be made is 'unknown'")

    def plain(self) -> dict[str, Any]:
        """The claim as JSON-ready data."""
        return {**asdict(self), "interval": None if self.interval is None else self.interval.plain()}

    def __str__(self) -> str:
        value = "–" if self.value is None else f"{self.value:.4g}" if isinstance(self.value, float) else str(self.value)
        text = f"{self.name}: {value}{' ' + self.unit if self.unit else ''}"
        if self.interval:
            high = "…" if self.interval.is_open else f"{self.interval.high:.4g}]"
            text += f" [{self.interval.low:.4g}, {high}"
        text += f" ({self.kind}" + (f", {self.status})" if self.status != "holds" else ")")
        violated = [a.statement for a in self.assumptions if a.check == "violated"]
        return text + (f"; violated: {'; '.join(violated)}" if violated else "")


def _one_of(what: str, value: str, allowed: Any) -> None:
    if value not in get_args(allowed):
        raise ValueError(f"{what} is one of {', '.join(get_args(allowed))}, not {value!r}")
