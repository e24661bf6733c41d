"""Prediction and measurement for a whole study: what the oracle said cannot hold, and whether it did.

The oracle is credited or blamed for "cannot hold" alone, on cells that were learned. For "can hold" the share of cells
in which training got there is reported next to it. Cells that were not learned in the training range, or not measured
beyond it, are shown and counted separately: they count neither for nor against a prediction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from lengthwise.analyses.agreement.cards import Oracle, place, verdicts
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import mean_reach
from lengthwise.analyses.words import code, counted, listed, percent, times
from lengthwise.messages import explain, sentence
from lengthwise.oracle.opinion import Outlook, Verdict, outlook_words
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD, wilson
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.studies.cells import Cell

Outcome = Literal["held", "not_held", "not_learned", "not_measured"]
Score = Literal["as_predicted", "contradiction", "attained", "not_attained"]
JUDGED: tuple[Outcome, ...] = ("held", "not_held")
OUTLOOKS: tuple[Outlook, ...] = get_args(Outlook)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_CAN, _CANNOT = OUTLOOKS[:2]
_SCORES: dict[tuple[Outlook, Outcome], Score] = {
    (_CANNOT, "not_held"): "as_predicted",
    (_CANNOT, "held"): "contradiction",
    (_CAN, "held"): "attained",
    (_CAN, "not_held"): "not_attained",
}

explain(
    {
        "outcome.held": "held",
        "outcome.not_held": "did not hold",
        "outcome.not_learned": "not learned",
        "outcome.not_measured": "not measured",
        "prediction.unfinished": "no run finished",
        "prediction.drawn": "its answers are drawn at random, so exact match is not meaningful",
        "prediction.reach": "mean reach {reach} after training to {train_size}",
        "prediction.unlearned": "{reach}: {advice}",
        "prediction.unmeasured": "{reach}; nothing was measured beyond the training range",
        "prediction.found": "{reach}; {holding} of {seeds} that learned {verb} at {times} the training length{guessed}",
        "prediction.guessed": "; guessing alone gives {chance}",
        "prediction.sentence": "{where}: predicted “{outlook}”, {outcome}: {found}. Prediction: {why}",
        "prediction.cell": "beyond the training range: {label}, encoding {position}",
        "prediction.same_task": "the task is now what it was when the runs were trained, as guessing is right as "
        "often as then",
        "prediction.settings": "the other settings of the model do not matter",
    }
)
SAME = Assumption("prediction.same_task")
SETTINGS = Assumption("prediction.settings")
explain(
    {
        "agreement.accuracy": "learned cells that did not hold, of those the oracle said cannot hold",
        "agreement.attained": "learned cells that held, of those the oracle said can hold (training got there)",
        "agreement.coverage": "cells that the oracle decided, of those learned and measured beyond the training range",
        "agreement.guessing": "guessing is right in less than {threshold}",
        "agreement.independent": "cells are independent trials",
        "agreement.nothing_judged": "No cell was learned and measured beyond its training range, so no prediction can "
        "be judged.",
        "agreement.nothing_decided": "The oracle decided none of {cells}.",
        "agreement.contradicted": "Contradiction: {held} of {cells} that “cannot hold” held at the sizes measured.",
        "agreement.uncontradicted": "Of {cells} that “cannot hold”, none held.",
        "agreement.got_there": "Of {cells} that “can hold”, training got there in {held}.",
        "agreement.left": "{cells} could not be decided.",
        "agreement.not_counted": "Counted neither for nor against a prediction: {cells} {why}: {named}.",
        "agreement.why_not_learned": "not learned in the training range",
        "agreement.why_not_measured": "not finished, or not measured beyond the training range",
        "agreement.advice": "To learn more, {advice}.",
    }
)


@dataclass(frozen=True)
class CellPrediction:
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
        return f"{self.label} with {code(self.cell.position)}"

    @property
    def found(self) -> str:
        """The measurement in a few words."""
        cell = self.cell
        if not cell.done:
            return sentence("prediction.unfinished")
        if not cell.certain:
            return sentence("prediction.drawn")
        reach = sentence("prediction.reach", {"reach": mean_reach(cell), "train_size": cell.train_size})
        if self.outcome == "not_learned":
            return sentence("prediction.unlearned", {"reach": reach, "advice": ADVICE})
        if self.outcome == "not_measured":
            return sentence("prediction.unmeasured", {"reach": reach})
        lucky = self.chance >= THRESHOLD
        values = {
            "reach": reach,
            "holding": self.holding,
            "seeds": counted(len(cell.kept), "seed"),
            "verb": "holds" if self.holding == 1 else "hold",
            "times": times(cell.multiple),
            "guessed": sentence("prediction.guessed", {"chance": percent(self.chance)}) if lucky else "",
        }
        return sentence("prediction.found", values)

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
        values = {"where": self.where, "outlook": outlook_words(self.verdict.outlook), "found": self.found}
        values |= {"outcome": sentence(f"outcome.{self.outcome}"), "why": _ended(self.verdict.why)}
        return sentence("prediction.sentence", values)

    def claim(self) -> Claim | None:
        """The prediction as a claim with the theory's assumptions and two of its own; None where there is none."""
        deciding = self.verdict.deciding
        if deciding is None:
            return None
        return Claim(
            key="prediction.cell",
            value=deciding.outlook,
            unit="",
            kind="predicted",
            assumptions=(*deciding.claim.assumptions, SETTINGS, SAME),
            reference=deciding.claim.reference,
            evidence={
                "label": self.label,
                "position": self.cell.position,
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


def beside(label: str, cell: Cell, verdict: Verdict) -> CellPrediction:
    """A cell with the verdict on it and the outcome of its runs."""
    if cell.learned is False:
        outcome: Outcome = "not_learned"
    elif cell.holds is None:
        outcome = "not_measured"
    else:
        outcome = "held" if cell.holds else "not_held"
    return CellPrediction(label, cell, verdict, outcome, cell.claim("reach") if cell.done else None)


def _ended(text: str) -> str:
    """A text that ends with a full stop, or a sign like it."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


@dataclass(frozen=True)
class Predictions:
    """Every cell of a study, in the order of its grid."""

    study: str
    rows: tuple[CellPrediction, ...]

    @cached_property
    def counts(self) -> dict[Outlook, dict[Outcome, int]]:
        """How many cells there are for each outlook and outcome."""
        found = Counter((row.verdict.outlook, row.outcome) for row in self.rows)
        return {outlook: {outcome: found[outlook, outcome] for outcome in OUTCOMES} for outlook in OUTLOOKS}

    def apart(self, outcome: Outcome) -> list[CellPrediction]:
        """The cells with an outcome."""
        return [row for row in self.rows if row.outcome == outcome]

    def scored(self, *scores: Score) -> list[CellPrediction]:
        """The cells with one of these scores."""
        return [row for row in self.rows if row.score in scores]

    @cached_property
    def judged(self) -> list[CellPrediction]:
        """The cells that were learned and measured beyond the training range."""
        return [row for row in self.rows if row.outcome in JUDGED]

    @cached_property
    def decided(self) -> list[CellPrediction]:
        """Those of them that the oracle decided."""
        return [row for row in self.judged if row.score is not None]

    @cached_property
    def excluded(self) -> list[CellPrediction]:
        """Judged cells of which the oracle said "cannot hold"."""
        return self.scored("as_predicted", "contradiction")

    @cached_property
    def possible(self) -> list[CellPrediction]:
        """Judged cells of which the oracle said "can hold"."""
        return self.scored("attained", "not_attained")

    @cached_property
    def contradictions(self) -> list[CellPrediction]:
        """Cells that held, at the sizes measured, though the oracle said "cannot hold"."""
        return self.scored("contradiction")

    @cached_property
    def not_reached(self) -> list[CellPrediction]:
        """Cells that can hold and did not: training did not get there."""
        return self.scored("not_attained")

    @cached_property
    def undecided(self) -> dict[str, list[CellPrediction]]:
        """The cells with the outlook "unknown", by the reason, the most common first."""
        groups: dict[str, list[CellPrediction]] = {}
        for row in self.rows:
            if row.verdict.outlook == "unknown":
                groups.setdefault(row.verdict.why, []).append(row)
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    def accuracy(self) -> Claim:
        """The share of "cannot hold" verdicts on learned cells that no cell contradicts."""
        rows, others = self.excluded, self.contradictions
        lucky = "violated" if any(row.chance >= THRESHOLD for row in rows) else "checked"
        guessing = Assumption("agreement.guessing", lucky, {"threshold": percent(THRESHOLD)})
        return _share(
            "agreement.accuracy",
            rows,
            len(rows) - len(others),
            (guessing,),
            {"contradictions": [r.where for r in others]},
        )

    def attained(self) -> Claim:
        """The share of "can hold" verdicts on learned cells in which training got there."""
        rows, others = self.possible, self.not_reached
        return _share("agreement.attained", rows, len(rows) - len(others), (), {"others": [r.where for r in others]})

    def coverage(self) -> Claim:
        """The share of judged cells that the oracle decided."""
        judged = len(self.judged)
        return Claim(
            key="agreement.coverage",
            value=len(self.decided) / judged if judged else None,
            unit="share",
            kind="measured",
            status="holds" if judged else "unknown",
            evidence={
                "n": judged,
                "cells": len(self.rows),
                "not_learned": [row.where for row in self.apart("not_learned")],
                "not_measured": [row.where for row in self.apart("not_measured")],
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
    def headline(self) -> tuple[str, ...]:
        """What became of both kinds of verdict; a contradiction comes first."""

        def cells(number: int) -> dict[str, str]:
            return {"cells": counted(number, "learned cell")}

        if not self.judged:
            return (sentence("agreement.nothing_judged"),)
        if not self.decided:
            return (sentence("agreement.nothing_decided", cells(len(self.judged))),)
        found = []
        if self.excluded:
            key = "agreement.contradicted" if self.contradictions else "agreement.uncontradicted"
            found.append(sentence(key, {"held": len(self.contradictions), **cells(len(self.excluded))}))
        if self.possible:
            got = len(self.possible) - len(self.not_reached)
            found.append(sentence("agreement.got_there", {"held": got, **cells(len(self.possible))}))
        if left := len(self.judged) - len(self.decided):
            found.append(sentence("agreement.left", cells(left)))
        return tuple(found)

    @property
    def left_out(self) -> list[str]:
        """The cells that are not counted, one sentence per reason."""
        return [self._not_counted(outcome) for outcome in OUTCOMES if outcome not in JUDGED and self.apart(outcome)]

    def _not_counted(self, outcome: Outcome) -> str:
        rows = self.apart(outcome)
        values = {"cells": counted(len(rows), "cell"), "why": sentence(f"agreement.why_{outcome}")}
        text = sentence("agreement.not_counted", {**values, "named": listed([row.where for row in rows], 12)})
        advice = outcome == "not_learned"
        return f"{text} {sentence('agreement.advice', {'advice': ADVICE})}" if advice else text

    @property
    def outcomes(self) -> list[Outcome]:
        """The columns of the table of counts: both outcomes that can be judged, and the others that occur."""
        return [outcome for outcome in OUTCOMES if outcome in JUDGED or self.apart(outcome)]

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
    key: str, rows: list[CellPrediction], number: int, assumptions: tuple[Assumption, ...], evidence: dict[str, Any]
) -> Claim:
    """A share of cells with Wilson's interval, which takes cells for independent trials."""
    repeated = len({row.cell.task for row in rows}) < len(rows)
    apart = Assumption("agreement.independent", "violated" if repeated else "assumed")
    return Claim(
        key=key,
        value=number / len(rows) if rows else None,
        unit="share",
        kind="measured",
        status="holds" if rows else "unknown",
        interval=wilson(number, len(rows)) if rows else None,
        assumptions=(apart, *assumptions, SAME),
        reference=Reference("wilson1927"),
        evidence={"n": len(rows), "number": number, "threshold": THRESHOLD, **evidence},
    )


def predict(study: StudyContent, oracle: Oracle) -> Predictions:
    """What the oracle says about every cell of a study, and what was measured."""
    found = verdicts(study.cells, oracle)
    rows = [beside(study.label(cell), cell, found[place(cell), cell.position]) for cell in study.cells]
    return Predictions(study.name, tuple(rows))
