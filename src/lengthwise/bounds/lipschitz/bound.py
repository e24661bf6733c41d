"""What a Lipschitz bound consists of: a set of tokens, a constant, and the set that contains the output; and how the
bounds of parts combine, one after the other and with a residual connection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.rounding import Upper, below, total, vector_norm
from lengthwise.seeds import Floats

Norm = Literal["token", "frobenius"]
NORMS: dict[str, str] = {
    "token": "the largest Euclidean norm of a token",
    "frobenius": "the Euclidean norm of all tokens together",
}

explain(
    {
        "lipschitz.certified": "Lipschitz constant of {part}",
        "lipschitz.valid": "valid for {where}",
        "lipschitz.exact": "the constant is that of the function over the real numbers with the stored weights; "
        "evaluating the model in floating point adds errors of its own",
        "lipschitz.rounding": "the rounding errors of computing the constant are included",
    }
)
ARITHMETIC = (Assumption("lipschitz.exact"), Assumption("lipschitz.rounding", "checked"))


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
        return self.radius if self.center is None else float(Upper(self.radius) + vector_norm(self.center))

    def plus(self, added: float, width: int) -> Region:
        """Where x + y lies when x is in this region and ‖y‖ <= added: radii add up, and a standard deviation or a root
        mean square changes by at most ‖y‖ / √width."""
        lost = float(Upper(added) / below(math.sqrt(width)))
        spread, size = (max(0.0, below(least) - lost) for least in (self.spread, self.size))
        return Region(float(Upper(self.radius) + added), below(spread), below(size), self.center)

    def __str__(self) -> str:
        around = "" if self.center is None else " of a fixed vector"
        text = f"tokens within {self.radius:.4g}{around or ' of the origin'}"
        text += f", standard deviation at least {self.spread:.4g}" if self.spread else ""
        return text + (f", root mean square at least {self.size:.4g}" if self.size else "")


@dataclass(frozen=True, eq=False)
class PartBound:
    """A certified upper bound on how much a part can stretch distances between two sequences of `region`.

    `constant`: ‖f(x) - f(y)‖ <= constant ‖x - y‖ in `norm`, for all x and y in `region` (or as `region_text` says).
    `reach`: every token that comes out is at most this long (infinity where that was not asked).
    `statement`: the statement in docs/explanation/bounds.md that proves it.
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
            key="lipschitz.certified",
            value=self.constant if holds else None,
            unit=f"at most, in {NORMS[self.norm]}",
            kind="certified",
            status="holds" if holds else "vacuous",
            assumptions=(
                Assumption("lipschitz.valid", "checked", {"where": self.where}),
                *ARITHMETIC,
                *self.assumptions,
            ),
            reference=Reference("docs/explanation/bounds.md", self.statement),
            evidence={"part": self.part, "norm": self.norm, "where": self.where, **self.evidence},
        )


def chained(bounds: Sequence[PartBound], part: str, region: Region | None = None) -> PartBound:
    """f_k ∘ ... ∘ f_1: the constants multiply (statement 1).

    Each bound must be valid on a region that contains the output of the one before; the caller ensures that.
    """
    if not bounds:
        raise UsageError("a chain has at least one part")
    if len({bound.norm for bound in bounds}) > 1:
        raise UsageError("only bounds in one norm can be chained; these are in the token and in the Frobenius norm")
    constant = Upper(1.0)
    for bound in bounds:
        constant = constant * bound.constant
    first, parts = bounds[0], {bound.part: bound.constant for bound in bounds}
    where, text = (first.region, first.region_text) if region is None else (region, "")
    return PartBound(part, float(constant), first.norm, where, bounds[-1].reach, "statement 1", {"parts": parts}, text)


def residual(bound: PartBound, region: Region, part: str) -> PartBound:
    """x ↦ x + f(x): 1 + the constant, and the reaches add up (statement 1)."""
    constant, reach, inner = total((1.0, bound.constant)), total((region.reach, bound.reach)), {"inner": bound.constant}
    return PartBound(part, float(constant), bound.norm, region, float(reach), "statement 1", inner, bound.region_text)
