"""One cell of a study: what the oracle says about it, and what its trained models did.

Whether a cell held is judged by `lengthwise.probes.curve.standard`. A theory that says "cannot hold" is tested by every
cell that was learned: one that held contradicts it, at the sizes measured. A theory that says "can hold" says that some
model does it, not that training finds that model, so a cell that did not hold contradicts nothing: training did not get
there. A cell that was not learned says nothing about length, and neither does one not measured beyond its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from lengthwise.oracle.opinion import Outlook, Verdict
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.records import Assumption, Claim
from lengthwise.reports.verdicts import mean_reach
from lengthwise.reports.words import counted, percent, times
from lengthwise.studies.cells import Cell

Outcome = Literal["held", "did not hold", "not learned", "not measured"]
Score = Literal["as predicted", "contradiction", "training got there", "training did not get there"]
JUDGED: tuple[Outcome, ...] = ("held", "did not hold")
OUTLOOKS: tuple[Outlook, ...] = get_args(Outlook)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
SAME = Assumption("the task is now what it was when the runs were trained, as guessing is right as often as then")
SETTINGS = Assumption("the other settings of the model do not matter")
_SCORES: dict[tuple[Outlook, Outcome], Score] = {
    ("cannot hold", "did not hold"): "as predicted",
    ("cannot hold", "held"): "contradiction",
    ("can hold", "held"): "training got there",
    ("can hold", "did not hold"): "training did not get there",
}


@dataclass(frozen=True)
class Prediction:
    """One cell: the verdict, what its runs did, and its reach if a run has finished."""

    label: str
    cell: Cell
    verdict: Verdict
    outcome: Outcome
    measured: Claim | None

    @property
    def score(self) -> Score | None:
        """What the outcome says about the verdict; None where nothing was predicted or nothing can be judged."""
        return _SCORES.get((self.verdict.outlook, self.outcome))

    @property
    def where(self) -> str:
        return f"{self.label} with `{self.cell.position.replace('`', chr(39))}`"

    @property
    def found(self) -> str:
        """The measurement in a few words."""
        cell = self.cell
        if not cell.done:
            return "no run finished"
        if not cell.certain:
            return "its answers are drawn at random, so exact match is not meaningful"
        reach = f"mean reach {mean_reach(cell)} after training to {cell.train_size}"
        if self.outcome == "not learned":
            return f"{reach}: {ADVICE}"
        if self.outcome == "not measured":
            return f"{reach}; nothing was measured beyond the training range"
        guessed = f"; guessing alone gives {percent(self.chance)}" if self.chance >= THRESHOLD else ""
        seeds = f"{self.holding} of {counted(len(cell.kept), 'seed')} that learned"
        verb = "holds" if self.holding == 1 else "hold"
        return f"{reach}; {seeds} {verb} at {times(cell.multiple)} the training length{guessed}"

    @property
    def holding(self) -> int:
        """How many of the seeds that learned hold."""
        return sum(bool(run.summary and run.summary.holds) for run in self.cell.kept)

    @property
    def chance(self) -> float:
        """How often guessing is right at the largest sizes; where that reaches the bar, holding says nothing."""
        return max((run.summary.chance for run in self.cell.done if run.summary), default=0.0)

    @property
    def sentence(self) -> str:
        """A decided cell: what was predicted, what came, and why it was predicted."""
        why = _ended(self.verdict.why)
        return f"{self.where}: predicted “{self.verdict.outlook}”, {self.outcome}: {self.found}. Prediction: {why}"

    def claim(self) -> Claim | None:
        """The prediction as a claim with the theory's assumptions and two of its own; None where there is none."""
        deciding = self.verdict.deciding
        if deciding is None:
            return None
        return Claim(
            key=f"beyond the training range: {self.label}, encoding {self.cell.position}",
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
                "score": self.score,
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
            "learned": self.cell.learned,
            "holds": self.cell.holds,
            "multiple": self.cell.multiple,
            "outcome": self.outcome,
            "score": self.score,
            "measured": None if self.measured is None else self.measured.plain(),
            "verdict": self.verdict.plain(),
        }


def beside(label: str, cell: Cell, verdict: Verdict) -> Prediction:
    """A cell with the verdict on it and the outcome of its runs."""
    if cell.learned is False:
        outcome: Outcome = "not learned"
    elif cell.holds is None:
        outcome = "not measured"
    else:
        outcome = "held" if cell.holds else "did not hold"
    return Prediction(label, cell, verdict, outcome, cell.claim("reach") if cell.done else None)


def _ended(text: str) -> str:
    """A text that ends with a full stop, or a sign like it."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
