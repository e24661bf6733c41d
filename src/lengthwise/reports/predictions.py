"""Prediction and measurement for a whole study: what the oracle said cannot hold, and whether it did.

The oracle is credited or blamed for "cannot hold" alone, on cells that were learned. For "can hold" the share of cells
in which training got there is reported next to it. Cells that were not learned in the training range, or not measured
beyond it, are shown and counted apart: they count neither for nor against a prediction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthwise.oracle.check import check
from lengthwise.oracle.opinion import Outlook
from lengthwise.probes.curve.intervals import wilson
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.reports.content import Content
from lengthwise.reports.oracle_cards import Oracle, place, verdicts
from lengthwise.reports.prediction import JUDGED, OUTCOMES, OUTLOOKS, SAME, Outcome, Prediction, Score, beside
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

    def scored(self, *scores: Score) -> list[Prediction]:
        """The cells with one of these scores."""
        return [row for row in self.rows if row.score in scores]

    @cached_property
    def judged(self) -> list[Prediction]:
        """The cells that were learned and measured beyond the training range."""
        return [row for row in self.rows if row.outcome in JUDGED]

    @cached_property
    def decided(self) -> list[Prediction]:
        """Those of them that the oracle decided."""
        return [row for row in self.judged if row.score is not None]

    @cached_property
    def excluded(self) -> list[Prediction]:
        """Judged cells of which the oracle said "cannot hold"."""
        return self.scored("as predicted", "contradiction")

    @cached_property
    def possible(self) -> list[Prediction]:
        """Judged cells of which the oracle said "can hold"."""
        return self.scored("training got there", "training did not get there")

    @cached_property
    def contradictions(self) -> list[Prediction]:
        """Cells that held, at the sizes measured, though the oracle said "cannot hold"."""
        return self.scored("contradiction")

    @cached_property
    def not_reached(self) -> list[Prediction]:
        """Cells that can hold and did not: training did not get there."""
        return self.scored("training did not get there")

    @cached_property
    def undecided(self) -> dict[str, list[Prediction]]:
        """The cells with the outlook "unknown", by the reason, the most common first."""
        groups: dict[str, list[Prediction]] = {}
        for row in self.rows:
            if row.verdict.outlook == "unknown":
                groups.setdefault(row.verdict.why, []).append(row)
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    def accuracy(self) -> Claim:
        """The share of "cannot hold" verdicts on learned cells that no cell contradicts."""
        rows, others = self.excluded, self.contradictions
        lucky = "violated" if any(row.chance >= THRESHOLD for row in rows) else "checked"
        guessing = Assumption(f"guessing is right in less than {percent(THRESHOLD)}", lucky)
        name = "learned cells that did not hold, of those the oracle said cannot hold"
        return _share(name, rows, len(rows) - len(others), (guessing,), {"contradictions": [r.where for r in others]})

    def attained(self) -> Claim:
        """The share of "can hold" verdicts on learned cells in which training got there."""
        rows, others = self.possible, self.not_reached
        name = "learned cells that held, of those the oracle said can hold (training got there)"
        return _share(name, rows, len(rows) - len(others), (), {"the others": [row.where for row in others]})

    def coverage(self) -> Claim:
        """The share of judged cells that the oracle decided."""
        judged = len(self.judged)
        return Claim(
            key="cells that the oracle decided, of those learned and measured beyond the training range",
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
        """Accuracy, what training attained, and coverage; nothing where no cell can be judged."""
        return [self.accuracy(), self.attained(), self.coverage()] if self.judged else []

    def cell_claims(self) -> list[Claim]:
        """What was predicted of each cell with a finished run."""
        found = (row.claim() for row in self.rows if row.cell.done)
        return [claim for claim in found if claim is not None]

    @property
    def headline(self) -> str:
        """What became of both kinds of verdict; a contradiction comes first."""
        if not self.judged:
            return "No cell was learned and measured beyond its training range, so no prediction can be judged."
        if not self.decided:
            return f"The oracle decided none of {counted(len(self.judged), 'learned cell')}."
        parts = []
        if self.contradictions:
            held = f"{len(self.contradictions)} of {counted(len(self.excluded), 'learned cell')}"
            parts.append(f"Contradiction: {held} that “cannot hold” held at the sizes measured.")
        elif self.excluded:
            parts.append(f"Of {counted(len(self.excluded), 'learned cell')} that “cannot hold”, none held.")
        if self.possible:
            got = len(self.possible) - len(self.not_reached)
            cells = counted(len(self.possible), "learned cell")
            parts.append(f"Of {cells} that “can hold”, training got there in {got}.")
        left = len(self.judged) - len(self.decided)
        return " ".join(parts) + (f" {counted(left, 'learned cell')} could not be decided." if left else "")

    @property
    def left_out(self) -> list[str]:
        """The cells that are not counted, a sentence a reason."""
        reasons: dict[Outcome, str] = {
            "not learned": "not learned in the training range",
            "not measured": "not finished, or not measured beyond the training range",
        }
        return [self._not_counted(outcome, why) for outcome, why in reasons.items() if self.apart(outcome)]

    def _not_counted(self, outcome: Outcome, why: str) -> str:
        rows = self.apart(outcome)
        were = f"{counted(len(rows), 'cell')} that {'was' if len(rows) == 1 else 'were'} {why}"
        advice = f" To learn more, {ADVICE}." if outcome == "not learned" else ""
        named = listed([row.where for row in rows], 12)
        return f"Counted neither for nor against a prediction: {were}: {named}.{advice}"

    @property
    def outcomes(self) -> list[Outcome]:
        """The columns of the table of counts: both outcomes that can be judged, and the others that occur."""
        return [outcome for outcome in OUTCOMES if outcome in JUDGED or self.apart(outcome)]

    def explain(self) -> list[str]:
        """The whole in sentences."""
        return [self.headline, *(row.sentence for row in self.contradictions), *self.left_out]

    def plain(self) -> dict[str, Any]:
        return {
            "study": self.study,
            "threshold": THRESHOLD,
            "counts": self.counts,
            "accuracy": self.accuracy().plain(),
            "attained": self.attained().plain(),
            "coverage": self.coverage().plain(),
            "contradictions": [row.sentence for row in self.contradictions],
            "cells": [row.plain() for row in self.rows],
        }


def _share(
    name: str, rows: list[Prediction], number: int, assumptions: tuple[Assumption, ...], evidence: dict[str, Any]
) -> Claim:
    """A share of cells with Wilson's interval, which takes cells for independent trials."""
    repeated = len({row.cell.task for row in rows}) < len(rows)
    apart = Assumption("cells are independent trials", "violated" if repeated else "assumed")
    return Claim(
        key=name,
        value=number / len(rows) if rows else None,
        unit="share",
        kind="measured",
        status="holds" if rows else "unknown",
        interval=wilson(number, len(rows)) if rows else None,
        assumptions=(apart, *assumptions, SAME),
        reference=Reference("wilson1927"),
        evidence={"n": len(rows), "number": number, "threshold": THRESHOLD, **evidence},
    )


def predict(content: Content, oracle: Oracle = check) -> Predictions:
    """What the oracle says about every cell of a study, and what was measured."""
    found = verdicts(content.cells, oracle)
    rows = [beside(content.label(cell), cell, found[place(cell), cell.position]) for cell in content.cells]
    return Predictions(content.name, tuple(rows))
