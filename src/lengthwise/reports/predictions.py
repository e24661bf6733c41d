"""Prediction beside measurement for a whole study: how much the oracle decided, and how often it was right.

Cells that were not learned in the training range, or not measured beyond it, are shown and counted apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthwise.measurement.intervals import wilson
from lengthwise.oracle.check import check
from lengthwise.oracle.opinion import Outlook
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.reports.content import Content
from lengthwise.reports.oracle_cards import Oracle, place, verdicts
from lengthwise.reports.prediction import JUDGED, OUTCOMES, OUTLOOKS, SAME, Outcome, Prediction, beside
from lengthwise.reports.published import BAR
from lengthwise.reports.words import counted, listed, percent


@dataclass(frozen=True)
class Predictions:
    """Every cell of a study, in the order of its grid."""

    study: str
    rows: tuple[Prediction, ...]

    @cached_property
    def counts(self) -> dict[Outlook, dict[Outcome, int]]:
        """How many cells there are for each outlook and outcome."""
        found = Counter((row.verdict.outlook, row.outcome) for row in self.rows)
        return {outlook: {outcome: found[outlook, outcome] for outcome in OUTCOMES} for outlook in OUTLOOKS}

    def apart(self, outcome: Outcome) -> list[Prediction]:
        """The cells with an outcome."""
        return [row for row in self.rows if row.outcome == outcome]

    @cached_property
    def judged(self) -> list[Prediction]:
        """The cells that held or fell."""
        return [row for row in self.rows if row.outcome in JUDGED]

    @cached_property
    def decided(self) -> list[Prediction]:
        """Those of them that the oracle decided."""
        return [row for row in self.judged if row.agrees is not None]

    @cached_property
    def disagreements(self) -> list[Prediction]:
        return [row for row in self.decided if not row.agrees]

    @property
    def right(self) -> int:
        return len(self.decided) - len(self.disagreements)

    @cached_property
    def undecided(self) -> dict[str, list[Prediction]]:
        """The cells with the outlook "unknown", by the reason, the most common first."""
        groups: dict[str, list[Prediction]] = {}
        for row in self.rows:
            if row.verdict.outlook == "unknown":
                groups.setdefault(row.verdict.why, []).append(row)
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    def accuracy(self) -> Claim:
        """The share of decided cells that did as foretold."""
        decided = self.decided
        repeated = len({row.cell.task for row in decided}) < len(decided)
        apart = Assumption("cells are independent trials", "violated" if repeated else "assumed")
        lucky = any(row.chance >= BAR for row in decided)
        guessing = Assumption(f"guessing is right in less than {percent(BAR)}", "violated" if lucky else "checked")
        return Claim(
            name="cells that did as the oracle predicted, of those it decided",
            value=self.right / len(decided) if decided else None,
            unit="share",
            kind="measured",
            status="holds" if decided else "unknown",
            interval=wilson(self.right, len(decided)) if decided else None,
            assumptions=(apart, guessing, SAME),
            reference=Reference("wilson1927"),
            evidence={
                "n": len(decided),
                "right": self.right,
                "threshold": BAR,
                "the others": [row.where for row in self.disagreements],
            },
        )

    def coverage(self) -> Claim:
        """The share of judged cells that the oracle decided."""
        judged = len(self.judged)
        return Claim(
            name="cells that the oracle decided, of those learned and measured beyond the training range",
            value=len(self.decided) / judged if judged else None,
            unit="share",
            kind="measured",
            status="holds" if judged else "unknown",
            evidence={
                "n": judged,
                "cells": len(self.rows),
                "not learned": [row.where for row in self.apart("not learned")],
                "not measured": [row.where for row in self.apart("not measured")],
            },
        )

    def claims(self) -> list[Claim]:
        """Accuracy and coverage; nothing where no cell can be judged."""
        return [self.accuracy(), self.coverage()] if self.judged else []

    def cell_claims(self) -> list[Claim]:
        """What was foretold of each cell with a finished run."""
        found = (row.claim() for row in self.rows if row.cell.done)
        return [claim for claim in found if claim is not None]

    @property
    def headline(self) -> str:
        """How many cells were decided, and how many of those rightly."""
        judged, decided = counted(len(self.judged), "cell"), len(self.decided)
        if not self.judged:
            return "No cell was learned and measured beyond its training range, so no prediction can be judged yet."
        if not decided:
            return f"The oracle decided none of {judged}."
        if not self.disagreements:
            return f"The oracle decided {decided} of {judged} and was right in all of them."
        return f"The oracle decided {decided} of {judged} and was right in {self.right}."

    @property
    def left_out(self) -> list[str]:
        """The cells that are not counted, a sentence a reason."""
        reasons: dict[Outcome, str] = {
            "not learned": "not learned in the training range, as no seed was kept",
            "not measured": "not finished, or not measured beyond the training range",
        }
        return [self._not_counted(outcome, why) for outcome, why in reasons.items() if self.apart(outcome)]

    def _not_counted(self, outcome: Outcome, why: str) -> str:
        rows = self.apart(outcome)
        failing = self.counts["cannot hold"][outcome]
        were = f"{counted(len(rows), 'cell')} that {'was' if len(rows) == 1 else 'were'} {why}"
        return f"Not counted: {were} ({failing} predicted to fail): {listed([row.where for row in rows], 12)}."

    @property
    def outcomes(self) -> list[Outcome]:
        """The columns of the table of counts: both outcomes that can be judged, and the others that occur."""
        return [outcome for outcome in OUTCOMES if outcome in JUDGED or self.apart(outcome)]

    def explain(self) -> list[str]:
        """The whole in sentences."""
        return [self.headline, *(row.sentence for row in self.disagreements), *self.left_out]

    def plain(self) -> dict[str, Any]:
        return {
            "study": self.study,
            "threshold": BAR,
            "counts": self.counts,
            "accuracy": self.accuracy().plain(),
            "coverage": self.coverage().plain(),
            "disagreements": [row.sentence for row in self.disagreements],
            "cells": [row.plain() for row in self.rows],
        }


def predict(content: Content, oracle: Oracle = check) -> Predictions:
    """What the oracle says about every cell of a study, beside what was measured."""
    found = verdicts(content.cells, oracle)
    rows = [beside(content.label(cell), cell, found[place(cell), cell.position]) for cell in content.cells]
    return Predictions(content.name, tuple(rows))
