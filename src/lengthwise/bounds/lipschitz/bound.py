"""What a bound speaks about, and what it says: a set of tokens, a constant, and the set that comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

Norm = Literal["token", "frobenius"]
NORMS: dict[str, str] = {
    "token": "the largest Euclidean norm of a token",
    "frobenius": "the Euclidean norm of all tokens together",
}
EXACT = Assumption("the model computes in exact arithmetic; float32 adds errors of its own")


@dataclass(frozen=True, eq=False)
class Region:
    """A set of tokens x: ‖x - center‖ <= radius, standard deviation of the coordinates at least `spread`, root mean
    square at least `size`. A sequence lies in it when each of its tokens does."""

    radius: float
    spread: float = 0.0
    size: float = 0.0
    center: Floats | None = None

    def __post_init__(self) -> None:
        if not self.radius >= 0 or not self.spread >= 0 or not self.size >= 0:
            raise UsageError(
                "a region has a radius, a spread and a size of 0 or more, "
                f"not {self.radius}, {self.spread} and {self.size}"
            )

    @property
    def reach(self) -> float:
        """No token of the region is longer than this."""
        return self.radius if self.center is None else self.radius + float(np.linalg.norm(self.center))

    def plus(self, added: float, width: int) -> Region:
        """Where x + y lies when x is in this region and ‖y‖ <= added: radii add up, and a standard deviation or a root
        mean square changes by at most ‖y‖ / √width."""
        lost = added / math.sqrt(width)
        return Region(self.radius + added, max(0.0, self.spread - lost), max(0.0, self.size - lost), self.center)

    def __str__(self) -> str:
        around = "" if self.center is None else " of a fixed vector"
        text = f"tokens within {self.radius:.4g}{around or ' of the origin'}"
        text += f", standard deviation at least {self.spread:.4g}" if self.spread else ""
        return text + (f", root mean square at least {self.size:.4g}" if self.size else "")


@dataclass(frozen=True, eq=False)
class PartBound:
    """A certified upper bound of how much a part can stretch distances between two sequences of `region`.

    `constant`: ‖f(x) - f(y)‖ <= constant ‖x - y‖ in `norm`, for all x and y in `region` (or as `region_text` says).
    `reach`: every token that comes out is at most this long (infinity where that was not asked).
    `statement`: the statement in docs/bounds.md that proves it.
    """

    part: str
    constant: float
    norm: Norm
    region: Region | None
    reach: float
    statement: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    region_text: str = ""
    assumptions: tuple[Assumption, ...] = ()

    @property
    def where(self) -> str:
        return self.region_text or ("all tokens" if self.region is None else str(self.region))

    def claim(self) -> Claim:
        """The bound as a claim; vacuous where the constant is not finite."""
        holds = math.isfinite(self.constant)
        return Claim(
            key=f"Lipschitz constant of {self.part}",
            value=self.constant if holds else None,
            unit=f"at most, in {NORMS[self.norm]}",
            kind="certified",
            status="holds" if holds else "vacuous",
            assumptions=(Assumption(f"valid for {self.where}", "checked"), EXACT, *self.assumptions),
            reference=Reference("docs/bounds.md", self.statement),
            evidence={"norm": self.norm, "where": self.where, **self.evidence},
        )
