"""How far the models of a study hold: a few sentences made from the numbers, and the claims they rest on.

That little was learned is said first. Encodings stand between backticks, as one of them is called `none`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthwise.analyses.content import GridRow, StudyContent
from lengthwise.analyses.words import code, counted, cut, listed, short, times
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.records import Assumption, Claim
from lengthwise.studies.cells import Cell

_EXAMPLES = 2
_FEW_ENCODINGS = 4

explain(
    {
        "reach.unlearned": "Nothing is known about sizes beyond the training range.",
        "reach.unmeasured": "Nothing was measured beyond the training range, so it is not known how far the models "
        "hold.",
        "reach.so_far": "So far, with {done:,} of {runs} done:",
        "reach.beyond": "beyond the training range",
        "reach.at": "at {times} the training length",
        "reach.at_or_measured": "at {times} the training length, or as far as was measured,",
        "reach.one_none": "{label} does not hold {at} with any of {of}{unlearned}.",
        "reach.one_some": "{label} holds {at} with {number} of {of}: {names}{unlearned}.",
        "reach.none": "None of {rows} holds {at} with {any}{unlearned}.",
        "reach.all": "All {rows} hold {at} with {one}{unlearned}.",
        "reach.some": "{number} of {rows} {verb} {at} with {one}; {others} {do} not{any}{unlearned}.",
        "reach.single": "{label} {verb} {at} with {one}{unlearned}.",
        "reach.never_learned": "; {names} {was} not learned in the training range",
        "reach.incomparable": "No {noun} was learned with two encodings, so they cannot be compared yet.",
        "reach.decides_one_all": "The encoding does not decide: {label} holds with every encoding.",
        "reach.decides_one_none": "The encoding does not decide: {label} does not hold with any encoding.",
        "reach.decides_none": "The encoding decides for none of them: each holds with all of its encodings or with "
        "none of them.",
        "reach.decides_one": "The encoding decides: {examples}.",
        "reach.decides": "The encoding decides for {number}: {examples}{more}.",
        "reach.example": "{label} holds with {some} but not with {others}",
        "reach.one_mean": "Its mean reach over {seeds} is {reach}, after training to {train_size}.",
        "reach.extremes": "By mean reach, the best is {best} and the worst {worst}.",
        "reach.extreme": "{label} with {reach} ({times} the training length)",
        "reach.no_runs": "The study has no runs, so there is no answer.",
        "reach.all_failed": "All {runs} failed, so there is no answer. {often}: {reason}.",
        "reach.none_done": "No run has finished yet, so there is no answer. Of {runs}: {states}; write the report "
        "again to see more.",
        "reach.cells_learned": "cells that were learned in the training range",
        "reach.rows_holding": "{noun}s that hold {at} with at least one encoding",
        "reach.rows_decided": "{noun}s for which the encoding decides {at}",
        "reach.answer": "the answer",
        "reach.rule": "a cell is learned when one of its seeds is, and holds when more than half of the seeds that "
        "learned do",
        "reach.same_training": "the encodings were given the same training",
    }
)
_RULE = Assumption("reach.rule")


@dataclass(frozen=True)
class Holding:
    """Which of a study's rows hold beyond the training range, with which encodings."""

    study: StudyContent

    @cached_property
    def judged(self) -> dict[str, dict[str, bool]]:
        """row label → encoding → whether it holds, for cells that were learned and measured beyond the range."""
        table: dict[str, dict[str, bool]] = {}
        for row in self.study.rows:
            for name, cell in self.study.row_cells(row).items():
                if cell.holds is not None:
                    table.setdefault(row.label, {})[name] = cell.holds
        return table

    @cached_property
    def holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if any(found.values())]

    @cached_property
    def not_holding(self) -> list[str]:
        return [label for label, found in self.judged.items() if not any(found.values())]

    @cached_property
    def never_learned(self) -> list[str]:
        """Rows with finished runs of which no cell was learned, though it could have been."""
        return [
            row.label
            for row in self.study.rows
            if (states := {cell.learned for cell in self._done(row).values()}) and states == {False}
        ]

    @cached_property
    def partly_learned(self) -> bool:
        """Whether a row that is judged has cells that were not learned."""
        rows = [row for row in self.study.rows if row.label in self.judged]
        return any(cell.learned is False for row in rows for cell in self._done(row).values())

    @cached_property
    def comparable(self) -> list[GridRow]:
        """Rows that were learned with at least two encodings."""
        return [row for row in self.study.rows if len(self.judged.get(row.label, {})) > 1]

    @cached_property
    def decided(self) -> list[GridRow]:
        """Rows that hold with one encoding and not with another."""
        return [row for row in self.comparable if len(set(self.judged[row.label].values())) == 2]

    @cached_property
    def multiples(self) -> list[float]:
        """The training lengths up to which it is asked whether cells hold."""
        return sorted({round(cell.multiple, 2) for cell in self.study.cells if cell.holds is not None})

    def _done(self, row: GridRow) -> dict[str, Cell]:
        return {name: cell for name, cell in self.study.row_cells(row).items() if cell.done}


def mean_reach(cell: Cell) -> str:
    """The mean reach over the seeds shown, `at least` where one of them holds to the end of the measurement."""
    mean = short(reach_of(cell))
    return f"at least {mean}" if cell.censored else mean


def reach_of(cell: Cell) -> float:
    """The mean reach over the seeds shown, as a number."""
    values = cell.values("reach")
    return sum(values.values()) / len(values)


@dataclass(frozen=True)
class ReachAnswer:
    """The sentences that answer how far models hold, and what they claim."""

    sentences: tuple[str, ...]
    claims: tuple[Claim, ...]


def answer(study: StudyContent) -> ReachAnswer:
    """The answer as far as the runs on disk give one."""
    if not study.counts["done"]:
        return _no_answer(study)
    held, several = Holding(study), len(study.encodings) > 1
    found = _beyond(held, several)
    if study.counts["done"] < len(study.runs):
        done = {"done": study.counts["done"], "runs": counted(len(study.runs), "run")}
        found = [sentence("reach.so_far", done), *found]
    claims = [_learned_claim(study), _holding_claim(held), *([_deciding_claim(held)] if several else [])]
    return ReachAnswer((*learning_sentences(study), *found), tuple(claims))


def learning_sentences(study: StudyContent) -> list[str]:
    """What must be said before anything is said about longer inputs; nothing where most cells were learned."""
    learned = study.learning
    return [text for text in (learned.sentence if learned.little else "", learned.about_drawn) if text]


def _beyond(held: Holding, several: bool) -> list[str]:
    """What holds beyond the training range, and what decides it."""
    if held.judged:
        return [_who_holds(held, several), _encoding_decides(held) if several else _extremes(held)]
    return [sentence("reach.unmeasured" if held.study.learning.learned else "reach.unlearned")]


def _at(held: Holding) -> str:
    """Where it is asked whether they hold."""
    if not held.multiples:
        return sentence("reach.beyond")
    key = "reach.at_or_measured" if len(held.multiples) > 1 else "reach.at"
    return sentence(key, {"times": times(held.multiples[-1])})


def _who_holds(held: Holding, several: bool) -> str:
    rows, missed, noun = held.judged, held.not_holding, held.study.noun
    values: dict[str, Any] = {"at": _at(held), "unlearned": _never_learned(held), "rows": counted(len(rows), noun)}
    if several:
        encoding = "encoding that learned it" if held.partly_learned else "encoding"
        values |= {"one": "at least one encoding", "any": f"any {encoding}"}
    else:
        values |= dict.fromkeys(("one", "any"), f"the encoding {code(held.study.encodings[0])}")
    if len(rows) == 1:
        return _one_holds(held, several, values)
    if not held.holding:
        return sentence("reach.none", values)
    if not missed:
        return sentence("reach.all", values)
    values |= {"number": len(held.holding), "verb": "holds" if len(held.holding) == 1 else "hold"}
    values |= {"others": listed(missed), "do": "does" if len(missed) == 1 else "do"}
    return sentence("reach.some", {**values, "any": f" with {values['any']}" if several else ""})


def _one_holds(held: Holding, several: bool, values: Mapping[str, Any]) -> str:
    label, found = next(iter(held.judged.items()))
    if not several:
        verb = "holds" if held.holding else "does not hold"
        return sentence("reach.single", {**values, "label": label, "verb": verb})
    names = [code(name) for name, holds in found.items() if holds]
    of = counted(len(found), "encoding") + (" that learned it" if held.partly_learned else "")
    key = "reach.one_some" if names else "reach.one_none"
    return sentence(key, {**values, "label": label, "of": of, "number": len(names), "names": listed(names)})


def _never_learned(held: Holding) -> str:
    """The rows that were not learned with any encoding, and so are in no count of what holds."""
    names = held.never_learned
    was = "was" if len(names) == 1 else "were"
    return sentence("reach.never_learned", {"names": listed(names, 3), "was": was}) if names else ""


def _encoding_decides(held: Holding) -> str:
    rows, decided = held.comparable, held.decided
    if not rows:
        return sentence("reach.incomparable", {"noun": held.study.noun})
    if not decided and len(rows) == 1:
        key = "reach.decides_one_all" if all(held.judged[rows[0].label].values()) else "reach.decides_one_none"
        return sentence(key, {"label": rows[0].label})
    if not decided:
        return sentence("reach.decides_none")
    most = _EXAMPLES if len(held.study.encodings) <= _FEW_ENCODINGS else 1
    widest = sorted(decided, key=lambda row: -_gap(held, row))[:most]
    examples = "; ".join(_example(held, row) for row in widest)
    if len(rows) == 1:
        return sentence("reach.decides_one", {"examples": examples})
    rest = len(decided) - len(widest)
    more = f"; and so on for {rest} more" if rest else ""
    number = f"all {len(rows)}" if len(decided) == len(rows) else f"{len(decided)} of {len(rows)}"
    return sentence("reach.decides", {"number": number, "examples": examples, "more": more})


def _gap(held: Holding, row: GridRow) -> float:
    """How much further a row reaches with its best encoding than with its worst, in training lengths."""
    cells = held.study.row_cells(row)
    means = [reach_of(cells[name]) for name in held.judged[row.label]]
    return (max(means) - min(means)) / row.train_size


def _example(held: Holding, row: GridRow) -> str:
    found = held.study.row_cells(row)
    texts: dict[bool, list[str]] = {True: [], False: []}
    for encoding, holds in held.judged[row.label].items():
        what = "" if texts[holds] or not holds else "mean reach "
        texts[holds].append(f"{code(encoding)} ({what}{mean_reach(found[encoding])})")
    values = {"some": listed(texts[True], 3), "others": listed(texts[False], 3, "or")}
    return sentence("reach.example", {"label": row.label, **values})


def _extremes(held: Holding) -> str:
    """Of one encoding: how far the best and the worst row reach."""
    found = [(row, cell) for row in held.study.rows for cell in held.study.row_cells(row).values()]
    known = [(row, cell) for row, cell in found if cell.holds is not None]
    ranked = sorted(known, key=lambda pair: reach_of(pair[1]) / pair[0].train_size)
    if len(ranked) == 1:
        row, cell = ranked[0]
        values = {"seeds": counted(len(cell.shown), "seed"), "reach": mean_reach(cell), "train_size": row.train_size}
        return sentence("reach.one_mean", values)
    said = []
    for row, cell in (ranked[-1], ranked[0]):
        values = {"reach": mean_reach(cell), "times": times(reach_of(cell) / row.train_size)}
        said.append(sentence("reach.extreme", {"label": row.label, **values}))
    return sentence("reach.extremes", {"best": said[0], "worst": said[1]})


def _count(key: str, value: int, of: int, evidence: dict[str, Any], *assumptions: Assumption) -> Claim:
    known = {"threshold": THRESHOLD, **evidence}
    status = "holds" if of else "unknown"
    given = (_RULE, *assumptions)
    return Claim(key, value if of else None, f"of {of}", "measured", status, assumptions=given, evidence=known)


def _learned_claim(study: StudyContent) -> Claim:
    found = study.learning
    missed = [f"{study.label(cell)} with {cell.position}" for cell in found.not_learned]
    evidence = {"rule": str(study.rule), "not_learned": missed, "advice": ADVICE}
    return _count("reach.cells_learned", len(found.learned), found.judged, evidence)


def _holding_claim(held: Holding) -> Claim:
    evidence = {"noun": held.study.noun, "at": _at(held), "rule": str(held.study.rule)}
    evidence |= {"hold": held.holding, "do_not_hold": held.not_holding, "not_learned": held.never_learned}
    return _count("reach.rows_holding", len(held.holding), len(held.judged), evidence)


def _deciding_claim(held: Holding) -> Claim:
    evidence = {"noun": held.study.noun, "at": _at(held), "decided": [row.label for row in held.decided]}
    same = Assumption("reach.same_training")
    return _count("reach.rows_decided", len(held.decided), len(held.comparable), evidence, same)


def _no_answer(study: StudyContent) -> ReachAnswer:
    counts, total = study.counts, len(study.runs)
    runs = counted(total, "run")
    if not total:
        text = sentence("reach.no_runs")
    elif counts["failed"] == total:
        reasons = Counter(run.reason or "no reason was noted" for run in study.runs)
        reason, number = reasons.most_common(1)[0]
        often = "The reason" if len(reasons) == 1 else f"The most common reason, of {counted(number, 'run')}"
        text = sentence("reach.all_failed", {"runs": runs, "often": often, "reason": cut(reason).rstrip(".")})
    else:
        states = ", ".join(f"{number:,} {state}" for state, number in counts.items() if number)
        text = sentence("reach.none_done", {"runs": runs, "states": states})
    unknown = Claim("reach.answer", None, "", "measured", "unknown", evidence={"states": dict(counts)})
    return ReachAnswer((text,), (unknown,))
