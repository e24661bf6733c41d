"""A bound of a risk as a sum of terms, and what the numbers in it rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.records import Assumption, Claim, Kind, Reference, Status

Quantity = float | Claim  # a number the caller answers for, or a claim that says where it comes from


@dataclass(frozen=True)
class Term:
    """One step of the waterfall: what it is, how much it adds, and how it came about."""

    name: str
    value: float
    how: str = ""


@dataclass(frozen=True)
class Read:
    """A quantity as read: its number (None where there is none), its assumption, and how sure it is."""

    value: float | None
    assumption: Assumption
    kind: Kind


def read_quantity(quantity: Quantity, what: str) -> Read:
    """The number of a quantity and the assumption under which it is an upper bound.

    A certified or proved claim is checked, and so is one whose interval is certain (level 1): its upper end is taken. A
    measured Lipschitz constant is a lower bound, and an estimate may be too small: a bound made from one is called
    heuristic. A bare number is taken at its word and listed as assumed.
    """
    if not isinstance(quantity, Claim):
        if not (isinstance(quantity, int | float) and 0 <= quantity < math.inf):
            raise UsageError(f"{what} is a finite number of 0 or more, or a claim, not {quantity!r}")
        return Read(float(quantity), Assumption(f"{what} is at most {quantity:.6g}"), "proved")
    certain = quantity.interval is not None and quantity.interval.level == 1
    sure = certain or quantity.kind in ("certified", "proved")
    number = quantity.value if isinstance(quantity.value, int | float) else None
    if number is None or quantity.status != "holds":
        text = f"{what}: {quantity.name} is {quantity.status} and gives no number"
        return Read(None, Assumption(text, "violated"), quantity.kind)
    if certain and quantity.interval is not None:
        number = max(number, quantity.interval.high)
    if sure:
        text = f"{what} is at most {number:.6g}: {quantity.name}"
        return Read(float(number), Assumption(text, "checked"), "certified")
    text = f"{what} ({number:.6g}) is {quantity.kind}, not certified, and may be too small: {quantity.name}"
    return Read(float(number), Assumption(text, "violated"), "heuristic")


@dataclass(frozen=True)
class RiskBound:
    """The target risk is at most the sum of the terms. `ceiling` is what the risk can never exceed: a sum that reaches
    it says nothing and is called vacuous."""

    name: str
    terms: tuple[Term, ...]
    ceiling: float
    kind: Kind
    assumptions: tuple[Assumption, ...]
    statement: str
    missing: tuple[str, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    page: str = "docs/bounds.md"  # where the statement is proved

    @property
    def total(self) -> float:
        return math.fsum(term.value for term in self.terms)

    @property
    def status(self) -> Status:
        if self.missing:
            return "refused"
        return "vacuous" if self.total >= self.ceiling else "holds"

    def claim(self) -> Claim:
        """The bound as a claim; the terms are its evidence."""
        return Claim(
            key=self.name,
            value=None if self.missing else self.total,
            unit="at most",
            kind=self.kind,
            status=self.status,
            assumptions=self.assumptions,
            reference=Reference(self.page, self.statement),
            evidence={
                "terms": {term.name: term.value for term in self.terms},
                "ceiling": self.ceiling if math.isfinite(self.ceiling) else None,
                **({"missing": list(self.missing)} if self.missing else {}),
                **self.evidence,
            },
        )


def put_together(
    name: str, terms: list[Term], ceiling: float, reads: list[Read], others: list[Assumption], statement: str
) -> RiskBound:
    """A bound from its terms and the quantities it was made from."""
    kinds = {read.kind for read in reads}
    kind: Kind = "heuristic" if "heuristic" in kinds else "certified" if "certified" in kinds else "proved"
    missing = tuple(read.assumption.statement for read in reads if read.value is None)
    assumptions = (*(read.assumption for read in reads), *others)
    return RiskBound(name, tuple(terms), ceiling, kind, assumptions, statement, missing)
