"""One cell of a study: what the oracle says about it, and what its trained models did.

A cell *held* when its exact match on the longest stretch measured beyond the training range, up to three times the
training length, is at least 70 %; else it *fell*. A cell that was not learned in the training range (no seed kept) says
nothing about length, and neither does one that was not measured beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from lengthwise.oracle.opinion import Outlook, Verdict
from lengthwise.records import Assumption, Claim
from lengthwise.reports.published import BAR, longest_stretch
from lengthwise.reports.words import percent
from lengthwise.studies.cells import Cell

Outcome = Literal["held", "fell", "not learned", "not measured"]
JUDGED: tuple[Outcome, ...] = ("held", "fell")
OUTLOOKS: tuple[Outlook, ...] = get_args(Outlook)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
SAME = Assumption("the task is now what it was when the runs were trained, as guessing is right as often as then")
SETTINGS = Assumption("the other settings of the model do not matter")
_FORETOLD: dict[Outlook, str] = {"can hold": "to hold", "cannot hold": "to fail"}
_FITS: dict[Outlook, Outcome] = {"can hold": "held", "cannot hold": "fell"}


@dataclass(frozen=True)
class Prediction:
    """One cell: the verdict, and the exact match on the longest stretch with the sizes in it, if there is one."""

    label: str
    cell: Cell
    verdict: Verdict
    outcome: Outcome
    measured: Claim | None
    sizes: str

    @property
    def agrees(self) -> bool | None:
        """Whether the cell did as foretold; None where nothing was foretold or nothing can be judged."""
        wanted = _FITS.get(self.verdict.outlook)
        return None if wanted is None or self.outcome not in JUDGED else self.outcome == wanted

    @property
    def where(self) -> str:
        return f"{self.label} with `{self.cell.position.replace('`', chr(39))}`"

    @property
    def found(self) -> str:
        """The measurement in a few words."""
        claim = self.measured
        if claim is None or not isinstance(claim.value, int | float):
            return "no run finished" if not self.cell.done else "nothing measured beyond the training range"
        spread = claim.interval
        between = f", 95 % interval over seeds {percent(spread.low)} to {percent(spread.high)}" if spread else ""
        guessed = f"; guessing alone gives {percent(self.chance)}" if self.chance >= BAR else ""
        return f"{percent(claim.value)} exact at sizes {self.sizes}{between}{guessed}"

    @property
    def chance(self) -> float:
        """How often guessing is right at the largest sizes; where that reaches the bar, holding says nothing."""
        return max((run.summary.chance for run in self.cell.done if run.summary), default=0.0)

    @property
    def sentence(self) -> str:
        """A decided cell: what was foretold, what came, and why it was foretold."""
        foretold = _FORETOLD.get(self.verdict.outlook, "nothing")
        near = ", which reaches across the bar" if self.near_the_bar else ""
        why = _ended(self.verdict.why)
        return f"{self.where}: predicted {foretold}, {self.outcome}: {self.found}{near}. Why so predicted: {why}"

    @property
    def near_the_bar(self) -> bool:
        """Whether the interval over seeds has ends on both sides of the bar."""
        spread = None if self.measured is None else self.measured.interval
        return spread is not None and spread.low < BAR <= spread.high

    def claim(self) -> Claim | None:
        """The prediction as a claim with the theory's assumptions and two of its own; None where there is none."""
        deciding = self.verdict.deciding
        if deciding is None:
            return None
        return Claim(
            name=f"beyond the training range: {self.label}, encoding {self.cell.position}",
            value=deciding.outlook,
            unit="",
            kind="predicted",
            assumptions=(*deciding.claim.assumptions, SETTINGS, SAME),
            reference=deciding.claim.reference,
            evidence={
                "theory": deciding.theory,
                "why": deciding.why,
                "grounds": str(deciding.grounds or deciding.claim),
                "outcome": self.outcome,
                "as predicted": self.agrees,
            },
        )

    def plain(self) -> dict[str, Any]:
        return {
            "task": self.cell.task,
            "position": self.cell.position,
            "variant": self.cell.variant,
            "train_size": self.cell.train_size,
            "outlook": self.verdict.outlook,
            "why": self.verdict.why,
            "outcome": self.outcome,
            "agrees": self.agrees,
            "sizes": self.sizes,
            "measured": None if self.measured is None else self.measured.plain(),
            "verdict": self.verdict.plain(),
        }


def beside(label: str, cell: Cell, verdict: Verdict) -> Prediction:
    """A cell with the verdict on it and the outcome of its runs."""
    stretch = longest_stretch(cell) if cell.done else None
    if stretch is None or not stretch.beyond:
        return Prediction(label, cell, verdict, "not measured", None, "")
    assert isinstance(stretch.exact.value, int | float)
    held: Outcome = "held" if stretch.exact.value >= BAR else "fell"
    outcome: Outcome = held if cell.learned else "not learned"
    return Prediction(label, cell, verdict, outcome, stretch.exact, stretch.sizes)


def _ended(text: str) -> str:
    """A text that ends with a full stop, or a sign like it."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
