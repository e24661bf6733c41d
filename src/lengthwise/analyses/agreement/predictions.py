"""Prediction and measurement for a whole study: what the oracle said cannot hold, and whether it did.

The oracle is credited or blamed for "cannot hold" alone, on cells that were learned. For "can hold" the share of cells
in which training got there is reported next to it. Cells that were not learned in the training range, or not measured
beyond it, are shown and counted separately: they count neither for nor against a prediction.

The oracle writes one card per task and training size, whatever the number of runs. A report must not be lost because a
task is: a task that cannot be made any more, that breaks when it is looked at, or that is not what was trained on,
has the verdict "unknown" with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import mean_reach
from lengthwise.analyses.words import code, counted, cut, listed, percent, times
from lengthwise.messages import explain, sentence
from lengthwise.oracle.check import Card
from lengthwise.oracle.limit.witnesses import witness_for
from lengthwise.oracle.opinion import Opinion, Outlook, Verdict, outlook_words
from lengthwise.probes.curve.standard import ADVICE, FURTHEST, THRESHOLD, wilson
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.studies.cells import Cell
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

Place = tuple[str, int, int]
Outcome = Literal["held", "not_held", "not_learned", "not_measured"]
Score = Literal["as_predicted", "contradiction", "attained", "not_attained"]
JUDGED: tuple[Outcome, ...] = ("held", "not_held")
OUTLOOKS: tuple[Outlook, ...] = get_args(Outlook)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_CAN, _CANNOT = OUTLOOKS[:2]
_LONGEST_REASON = 200
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
        "prediction.same_task": (
            "the task has not changed since the runs were trained, because guessing is right as often as it was then"
        ),
        "prediction.settings": "the other settings of the model do not matter",
        "agreement.accuracy": "learned cells that did not hold, of those the oracle said cannot hold",
        "agreement.attained": "learned cells that held, of those the oracle said can hold",
        "agreement.coverage": "cells that the oracle decided, of those learned and measured beyond the training range",
        "agreement.guessing": "guessing is right in less than {threshold}",
        "agreement.independent": "cells are independent trials",
        "agreement.nothing_judged": "No cell was learned and measured beyond its training range, so no prediction can "
        "be judged.",
        "agreement.nothing_decided": "The oracle decided none of {cells}.",
        "agreement.contradicted": "Contradiction: {held} of {cells} that “cannot hold” held at the sizes measured.",
        "agreement.uncontradicted": "Of {cells} that “cannot hold”, none held.",
        "agreement.got_there": "Of {cells} that “can hold”, {held} held.",
        "agreement.left": "{cells} could not be decided.",
        "agreement.not_counted": "Counted neither for nor against a prediction: {cells} {why}: {named}.",
        "agreement.why_not_learned": "not learned in the training range",
        "agreement.why_not_measured": "not finished, or not measured beyond the training range",
        "agreement.advice": "To learn more, {advice}.",
        "card.gone": "the task cannot be rebuilt here ({error})",
        "card.numbers": "the answers are real numbers, and no limit transformer for them is known here",
        "card.broke": "the task failed when the oracle examined it ({error})",
        "card.changed": "the task is not the one that was trained on: guessing at size {size} is right in {exact} of "
        "items and {token} of symbols, and was in {exact_then} and {token_then}",
        "card.outlook": "the oracle's outlook",
    }
)
SAME = Assumption("prediction.same_task")
SETTINGS = Assumption("prediction.settings")


@dataclass(frozen=True)
class CellPrediction:
    """One cell: the verdict, and what its runs did."""

    label: str
    cell: Cell
    verdict: Verdict

    @cached_property
    def outcome(self) -> Outcome:
        if self.cell.learned is False:
            return "not_learned"
        return "not_measured" if self.cell.holds is None else "held" if self.cell.holds else "not_held"

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
        holding = sum(bool(run.summary and run.summary.holds) for run in cell.kept)
        values = {
            "reach": reach,
            "holding": holding,
            "seeds": counted(len(cell.kept), "seed"),
            "verb": "holds" if holding == 1 else "hold",
            "times": times(cell.multiple),
            "guessed": sentence("prediction.guessed", {"chance": percent(self.chance)}) if lucky else "",
        }
        return sentence("prediction.found", values)

    @property
    def chance(self) -> float:
        """How often guessing is right at the largest sizes; where that reaches the bar, holding says nothing."""
        return max((run.summary.chance for run in self.cell.done if run.summary), default=0.0)

    @property
    def sentence(self) -> str:
        """A decided cell: what was predicted, what came, and why it was predicted."""
        why = " ".join(self.verdict.why.split())
        values = {"where": self.where, "outlook": outlook_words(self.verdict.outlook), "found": self.found}
        values |= {"outcome": sentence(f"outcome.{self.outcome}"), "why": why if why[-1:] in set(".!?…") else f"{why}."}
        return sentence("prediction.sentence", values)

    @property
    def reason(self) -> tuple[str, str]:
        """What the reason of the verdict is known by: the theory, and the key of what it rests on."""
        leading = self.verdict.leading
        if leading is None:
            return "", ""
        return leading.key, leading.claim.evidence.get("reason") or (leading.grounds.key if leading.grounds else "")

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
        own = ("task", "position", "variant", "train_size", "learned", "holds", "multiple")
        return {
            **{name: getattr(self.cell, name) for name in own},
            "outlook": self.verdict.outlook,
            "why": self.verdict.why,
            "outcome": self.outcome,
            "score": self.score,
            "measured": self.cell.claim("reach").plain() if self.cell.done else None,
            "verdict": self.verdict.plain(),
        }


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
    def contradictions(self) -> list[CellPrediction]:
        """Cells that held, at the sizes measured, though the oracle said "cannot hold"."""
        return self.scored("contradiction")

    @cached_property
    def not_reached(self) -> list[CellPrediction]:
        """Cells that can hold and did not: training did not get there."""
        return self.scored("not_attained")

    @cached_property
    def undecided(self) -> list[list[CellPrediction]]:
        """The cells with the outlook "unknown", those with one reason together, the most common reason first."""
        groups: dict[tuple[str, str], list[CellPrediction]] = {}
        for row in self.rows:
            if row.verdict.outlook == "unknown":
                groups.setdefault(row.reason, []).append(row)
        return sorted(groups.values(), key=len, reverse=True)

    def accuracy(self) -> Claim:
        """The share of "cannot hold" verdicts on learned cells that no cell contradicts."""
        rows = self.scored("as_predicted", "contradiction")
        lucky = "violated" if any(row.chance >= THRESHOLD for row in rows) else "checked"
        guessing = Assumption("agreement.guessing", lucky, {"threshold": percent(THRESHOLD)})
        return _share("agreement.accuracy", rows, "contradictions", self.contradictions, guessing)

    def attained(self) -> Claim:
        """The share of "can hold" verdicts on learned cells in which training got there."""
        rows = self.scored("attained", "not_attained")
        return _share("agreement.attained", rows, "others", self.not_reached)

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
                **{
                    outcome: [row.where for row in self.apart(outcome)] for outcome in OUTCOMES if outcome not in JUDGED
                },
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
        excluded, attained = len(self.scored("as_predicted", "contradiction")), len(self.scored("attained"))
        if excluded:
            key = "agreement.contradicted" if self.contradictions else "agreement.uncontradicted"
            found.append(sentence(key, {"held": len(self.contradictions), **cells(excluded)}))
        if possible := attained + len(self.not_reached):
            found.append(sentence("agreement.got_there", {"held": attained, **cells(possible)}))
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
    key: str, rows: list[CellPrediction], name: str, others: list[CellPrediction], *assumptions: Assumption
) -> Claim:
    """The share of cells that are not among the `others`, which the evidence has under `name`, with Wilson's interval,
    which takes cells for independent trials."""
    repeated, number = len({row.cell.task for row in rows}) < len(rows), len(rows) - len(others)
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
        evidence={"n": len(rows), "number": number, "threshold": THRESHOLD, name: [row.where for row in others]},
    )


def predict(study: StudyContent, oracle: Oracle) -> Predictions:
    """What the oracle says about every cell of a study, and what was measured."""
    found = verdicts(study.cells, oracle)
    rows = (CellPrediction(study.label(cell), cell, found[place(cell), _subject(cell)]) for cell in study.cells)
    return Predictions(study.name, tuple(rows))


def _subject(cell: Cell) -> str:
    """What the oracle is asked about: another model than our Transformer, or else an encoding."""
    return cell.model or cell.position


class Oracle(Protocol):
    """What `lengthwise.oracle.check.check` is: a task, encodings, other models and sizes in, a card with a verdict for
    each out."""

    def __call__(
        self,
        task: Task,
        positions: Sequence[str],
        *,
        model: Sequence[str],
        train_size: int,
        test_size: int,
        quick: bool,
    ) -> Card: ...


def verdicts(cells: Iterable[Cell], oracle: Oracle) -> dict[tuple[Place, str], Verdict]:
    """The verdict on every cell, by its place and its encoding or model."""
    groups: dict[Place, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(place(cell), []).append(cell)
    found = {}
    for where, group in groups.items():
        said = _card(where, group, oracle)
        for cell in group:
            subject = _subject(cell)
            found[where, subject] = said.get(subject) or Verdict(subject, ())
    return found


def place(cell: Cell) -> Place:
    """What a verdict depends on apart from its subject: the task, the training size and the largest size judged."""
    return cell.task, cell.train_size, min(cell.test_size, int(FURTHEST * cell.train_size))


def _card(where: Place, group: Sequence[Cell], oracle: Oracle) -> Mapping[str, Verdict]:
    name, train_size, test_size = where
    encodings = tuple(dict.fromkeys(cell.position for cell in group if cell.is_transformer))
    models = tuple(dict.fromkeys(cell.model for cell in group if not cell.is_transformer))
    subjects = (*encodings, *models)
    try:
        task = tasks.restore(name)
    except Exception as error:  # any task of a user's may be gone, or be broken by now
        return _silent(subjects, "card.gone", _said(error))
    if task.readout == "numbers" and witness_for(task) is None:
        return _silent(subjects, "card.numbers", {})
    try:
        if changed := _changed(task, group):
            return _silent(subjects, "card.changed", changed)
        return oracle(task, encodings, model=models, train_size=train_size, test_size=test_size, quick=True).verdicts
    except Exception as error:
        return _silent(subjects, "card.broke", _said(error))


def _changed(task: Task, group: Sequence[Cell]) -> dict[str, Any]:
    """What shows that the task is no longer the one that was trained on; nothing where nothing does.

    How often guessing is right is found on fixed items and stored with every curve: the same for the same task. It is
    compared at the largest trained size that was measured; a change that leaves it alone is not seen.
    """
    curve = next((run.curve for cell in group for run in cell.done if run.stored), None)
    if curve is None:
        return {}
    points = [(point.size, point.chance, point.token_chance) for point in curve.points]
    size, *then = max((point for point in points if point[0] <= group[0].train_size), default=points[0])
    guess = task.part("test").chance(size)
    now = (guess.exact, guess.token)
    if all(math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12) for one, other in zip(then, now, strict=True)):
        return {}
    shares = dict(zip(("exact", "token", "exact_then", "token_then"), map(percent, (*now, *then)), strict=True))
    return {"size": size, **shares}


def _silent(subjects: tuple[str, ...], reason: str, values: Mapping[str, Any]) -> dict[str, Verdict]:
    """The verdict where no theory was asked, for a reason that is a key."""
    why = sentence(reason, values)
    claim = Claim("card.outlook", None, "", "predicted", "unknown", evidence={"why": why, "reason": reason})
    return {name: Verdict(name, (Opinion("none", "unknown", why, claim),)) for name in subjects}


def _said(error: Exception) -> dict[str, str]:
    return {"error": cut(f"{type(error).__name__}: {error}", _LONGEST_REASON)}
