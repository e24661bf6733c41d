"""What width cannot take away: risk(width) = floor + b width^-c, for every depth, and whether depth lowers the floor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.findings.evidence import Evidence
from lengthwise.records import Claim, Interval

IN_RANGE, FARTHEST, BEYOND = "in range", "farthest depth", "all levels beyond training"
PLACES = (IN_RANGE, FARTHEST, BEYOND)


@dataclass(frozen=True)
class Floor:
    """The floor of one task, encoding and depth (layers) at one place (IN_RANGE, FARTHEST, BEYOND).

    `floor`, `scale` (b) and `exponent` (c) are of the best fit, None with fewer than three widths; `low` and `high` are
    the floors that exponents from 1/4 to 1 give; `interval` adds the spread over seeds, None with one seed.
    """

    task: str
    position: str
    depth: int
    place: str
    widths: tuple[int, ...]
    risks: tuple[float, ...]  # mean over seeds
    seeds: tuple[int, ...]
    floor: float | None
    scale: float | None
    exponent: float | None
    residual: float | None
    low: float | None
    high: float | None
    interval: Interval | None

    def risk_at(self, width: float) -> float | None:
        """The fitted curve."""
        if self.floor is None or self.scale is None or self.exponent is None:
            return None
        return self.floor + self.scale * width**-self.exponent

    def claim(self) -> Claim:
        raise NotImplementedError


@dataclass(frozen=True)
class Floors:
    """All floors, and for each place whether they fall with depth: Page's test over task and encoding, and the
    difference of the shallowest and the deepest, paired. None where there are too few depths."""

    floors: tuple[Floor, ...]
    falling: tuple[tuple[str, Claim], ...]  # place → verdict
    page: tuple[tuple[str, Claim], ...]  # place → Page's test
    difference: tuple[tuple[str, Claim], ...]  # place → shallowest minus deepest

    def at(self, place: str) -> list[Floor]:
        return [floor for floor in self.floors if floor.place == place]

    def claims(self) -> list[Claim]:
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        return {"floors": [asdict(floor) for floor in self.floors], "claims": [c.plain() for c in self.claims()]}


def floors(evidence: Evidence) -> Floors:
    raise NotImplementedError
