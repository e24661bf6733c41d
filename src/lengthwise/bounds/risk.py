"""A bound on a risk as a sum of terms, and the assumptions behind its numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Kind, Reference, Status

Quantity = float | Claim  # a number the caller answers for, or a claim that says where it comes from
NUMBERS = ("risk.given", "risk.certain")  # the assumptions that a number is at most so large

explain(
    {
        "risk.given": "{what} is at most {number:.6g}",
        "risk.certain": "{what} is at most {number:.6g}: {claim}",
        "risk.uncertain": "{what} ({number:.6g}) is {kind}, not certified, and may be too small: {claim}",
        "risk.missing": "{what}: {claim} is {status} and gives no number",
        "term.source_risk": "source risk",
        "term.sampling_risk": "sampling, risk",
        "term.shift": "Lipschitz x W1",
        "term.sampling_distance": "sampling, W1",
        "term.approximation": "approximation",
        "term.joint_risk": "joint risk",
        "term.labels": "labels",
    }
)


@dataclass(frozen=True)
class BoundTerm:
    """One term of a bound: a code word, how much it adds, and how it was computed. `name` is what people read."""

    key: str
    value: float
    how: str = ""

    @property
    def name(self) -> str:
        return sentence(f"term.{self.key}")


@dataclass(frozen=True)
class Read:
    """A quantity as read: its number (None where there is none), its assumption, and how certain it is."""

    value: float | None
    assumption: Assumption
    kind: Kind


def read_quantity(quantity: Quantity, what: str) -> Read:
    """The number of a quantity and the assumption under which it is an upper bound.

    A certified or proved claim counts as checked, and so does one whose interval is certain (level 1): its upper end is
    used. A measured Lipschitz constant is a lower bound and an estimate may be too small, so a bound made from one is
    heuristic. A bare number is listed as assumed.
    """
    if not isinstance(quantity, Claim):
        if not (isinstance(quantity, int | float) and 0 <= quantity < math.inf):
            raise UsageError(f"{what} must be a finite number of 0 or more, or a claim, not {quantity!r}")
        given = Assumption("risk.given", values={"what": what, "number": float(quantity)})
        return Read(float(quantity), given, "proved")
    certain = quantity.interval is not None and quantity.interval.level == 1
    sure = certain or quantity.kind in ("certified", "proved")
    number = quantity.value if isinstance(quantity.value, int | float) else None
    values: dict[str, Any] = {"what": what, "claim": quantity.title, "kind": quantity.kind, "status": quantity.status}
    if number is None or quantity.status != "holds":
        return Read(None, Assumption("risk.missing", "caveat", values), quantity.kind)
    if certain and quantity.interval is not None:
        number = max(number, quantity.interval.high)
    values["number"] = float(number)
    if sure:
        return Read(float(number), Assumption("risk.certain", "checked", values), "certified")
    return Read(float(number), Assumption("risk.uncertain", "caveat", values), "heuristic")


@dataclass(frozen=True)
class RiskBound:
    """The target risk is at most the sum of the terms. The risk can never exceed `ceiling`, so a sum that reaches it is
    vacuous."""

    key: str
    terms: tuple[BoundTerm, ...]
    ceiling: float
    kind: Kind
    assumptions: tuple[Assumption, ...]
    statement: str
    missing: tuple[str, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    page: str = "docs/explanation/bounds.md"  # where the statement is proved

    @property
    def name(self) -> str:
        """What is bounded, as people read it."""
        return sentence(self.key, self.evidence)

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
            key=self.key,
            value=None if self.missing else self.total,
            unit="at most",
            kind=self.kind,
            status=self.status,
            assumptions=self.assumptions,
            reference=Reference(self.page, self.statement),
            evidence={
                "terms": {term.key: term.value for term in self.terms},
                "ceiling": self.ceiling if math.isfinite(self.ceiling) else None,
                **({"missing": list(self.missing)} if self.missing else {}),
                **self.evidence,
            },
        )


def put_together(
    key: str, terms: list[BoundTerm], ceiling: float, reads: list[Read], others: list[Assumption], statement: str
) -> RiskBound:
    """A bound from its terms and the quantities it was made from."""
    kinds = {read.kind for read in reads}
    kind: Kind = "heuristic" if "heuristic" in kinds else "certified" if "certified" in kinds else "proved"
    missing = tuple(read.assumption.statement for read in reads if read.value is None)
    assumptions = (*(read.assumption for read in reads), *others)
    return RiskBound(key, tuple(terms), ceiling, kind, assumptions, statement, missing)
