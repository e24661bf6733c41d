"""The question of a study and its answer: a few sentences made from the numbers, and the claims they rest on.

Encodings stand between backticks, as one of them is called `none`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.records import Assumption, Claim
from lengthwise.reports.content import Content, Row
from lengthwise.reports.plateaus import Plateau, falling
from lengthwise.reports.verdicts import RULE, Verdicts, mean_reach
from lengthwise.reports.words import counted, listed, times

_EXAMPLES = 2
_FEW_ENCODINGS = 4


@dataclass(frozen=True)
class Answer:
    """A question, the sentences that answer it, and what they claim."""

    question: str
    sentences: tuple[str, ...]
    claims: tuple[Claim, ...]


def answer(content: Content, fits: Sequence[Plateau] = ()) -> Answer:
    """The answer as far as the runs on disk give one. That little was learned is said first; where plateaus were
    fitted, they are what was asked."""
    if not content.counts["done"]:
        return _no_answer(content)
    verdicts = Verdicts(content)
    several = len(content.encodings) > 1
    found = _beyond(verdicts, several)
    if content.counts["done"] < len(content.runs):
        begin = found[0][:1].lower() if found[0].startswith(("All ", "None ", "Nothing ")) else found[0][:1]
        done = f"{content.counts['done']:,} of {counted(len(content.runs), 'run')} done"
        found[0] = f"So far, with {done}, {begin}{found[0][1:]}"
    claims = [_learned_claim(verdicts), _holding_claim(verdicts), *([_deciding_claim(verdicts)] if several else [])]
    if fits:
        fall = falling(fits)
        found, claims = [_levels_off(fall), found[0]], [fall, *claims]
    learned = verdicts.learning
    first = [text for text in (learned.sentence if learned.little else "", learned.about_drawn) if text]
    return Answer(content.question, (*first, *found), tuple(claims))


def _beyond(verdicts: Verdicts, several: bool) -> list[str]:
    """What holds beyond the training range, and what decides it."""
    if verdicts.judged:
        if several:
            return [_who_holds(verdicts), _encoding_decides(verdicts)]
        return [_who_holds_with_the_one(verdicts), _extremes(verdicts)]
    if not verdicts.learning.learned:
        return ["Nothing is known about sizes beyond the training range."]
    return ["Nothing was measured beyond the training range, so it is not known how far the models hold."]


def _levels_off(fall: Claim) -> str:
    found, cells = fall.evidence["with a plateau"], fall.evidence["cells"]
    start = f"A plateau of the test loss was found in {found} of {counted(cells, 'cell')}"
    if fall.value is None:
        return f"{start}, and for no setting at two training lengths, which would show whether it falls."
    return f"{start}; after training to greater sizes it is lower for {fall.value} {fall.unit}."


def _who_holds(verdicts: Verdicts) -> str:
    rows, held, noun = verdicts.judged, verdicts.holding, verdicts.content.noun
    encoding = "encoding that learned it" if verdicts.partly_learned else "encoding"
    if len(rows) == 1:
        label, found = next(iter(rows.items()))
        names = [name for name, holds in found.items() if holds]
        learned = " that learned it" if verdicts.partly_learned else ""
        of = f"of {counted(len(found), 'encoding')}{learned}"
        if not names:
            return f"{label} does not hold {verdicts.at} with any {of}{_unlearned(verdicts)}."
        code = listed([_code(name) for name in names])
        return f"{label} holds {verdicts.at} with {len(names)} {of}: {code}{_unlearned(verdicts)}."
    if not held:
        return f"None of {counted(len(rows), noun)} holds {verdicts.at} with any {encoding}{_unlearned(verdicts)}."
    if not verdicts.not_holding:
        start = f"All {counted(len(rows), noun)} hold {verdicts.at} with at least one encoding"
        return f"{start}{_unlearned(verdicts)}."
    verb = "holds" if len(held) == 1 else "hold"
    start = f"{len(held)} of {counted(len(rows), noun)} {verb} {verdicts.at} with at least one encoding"
    verb = "does" if len(verdicts.not_holding) == 1 else "do"
    return f"{start}; {listed(verdicts.not_holding)} {verb} not with any {encoding}{_unlearned(verdicts)}."


def _who_holds_with_the_one(verdicts: Verdicts) -> str:
    rows, held, missed = verdicts.judged, verdicts.holding, verdicts.not_holding
    encoding = f"with the encoding {_code(verdicts.content.encodings[0])}"
    if len(rows) == 1:
        label = next(iter(rows))
        return f"{label} {'holds' if held else 'does not hold'} {verdicts.at} {encoding}{_unlearned(verdicts)}."
    noun = verdicts.content.noun
    if not held:
        return f"None of {counted(len(rows), noun)} holds {verdicts.at} {encoding}{_unlearned(verdicts)}."
    if not missed:
        return f"All {counted(len(rows), noun)} hold {verdicts.at} {encoding}{_unlearned(verdicts)}."
    verb = "holds" if len(held) == 1 else "hold"
    start = f"{len(held)} of {counted(len(rows), noun)} {verb} {verdicts.at} {encoding}"
    return f"{start}; {listed(missed)} {'does' if len(missed) == 1 else 'do'} not{_unlearned(verdicts)}."


def _unlearned(verdicts: Verdicts) -> str:
    """The rows that were learned with no encoding, and so are in no count of what holds."""
    names = verdicts.never_learned
    if not names:
        return ""
    return f"; {listed(names, 3)} {'was' if len(names) == 1 else 'were'} not learned in the training range"


def _encoding_decides(verdicts: Verdicts) -> str:
    rows, decided = verdicts.comparable, verdicts.decided
    if not rows:
        return f"No {verdicts.content.noun} was learned with two encodings, so they cannot be compared yet."
    if not decided:
        if len(rows) == 1:
            every = all(verdicts.judged[rows[0].label].values())
            return f"The encoding does not decide: {rows[0].label} holds with {'every' if every else 'no'} encoding."
        return "The encoding decides for none of them: each holds with all of its encodings or with not one."
    widest = sorted(decided, key=lambda row: -_gap(verdicts, row))[
        : _EXAMPLES if len(verdicts.content.encodings) <= _FEW_ENCODINGS else 1
    ]
    examples = "; ".join(_example(verdicts, row) for row in widest)
    if len(rows) == 1:
        return f"The encoding decides: {examples}."
    rest = len(decided) - len(widest)
    more = f"; and so on for {rest} more" if rest else ""
    number = f"all {len(rows)}" if len(decided) == len(rows) else f"{len(decided)} of {len(rows)}"
    return f"The encoding decides for {number}: {examples}{more}."


def _gap(verdicts: Verdicts, row: Row) -> float:
    """How much further a row reaches with its best encoding than with its worst, in training lengths."""
    cells = verdicts.content.row_cells(row)
    means = [_mean(cells[name].values("reach")) for name in verdicts.judged[row.label]]
    return (max(means) - min(means)) / row.train_size


def _example(verdicts: Verdicts, row: Row) -> str:
    found = verdicts.content.row_cells(row)
    judged = verdicts.judged[row.label]
    texts: dict[bool, list[str]] = {True: [], False: []}
    for encoding, holds in judged.items():
        what = "" if texts[holds] or not holds else "mean reach "
        texts[holds].append(f"{_code(encoding)} ({what}{mean_reach(found[encoding])})")
    return f"{row.label} holds with {listed(texts[True], 3)} but not with {listed(texts[False], 3, 'or')}"


def _extremes(verdicts: Verdicts) -> str:
    """Of one encoding: how far the best and the worst row reach."""
    found = [(row, cell) for row in verdicts.content.rows for cell in verdicts.content.row_cells(row).values()]
    ranked = sorted(
        ((row, cell) for row, cell in found if cell.holds is not None),
        key=lambda pair: _mean(pair[1].values("reach")) / pair[0].train_size,
    )
    if len(ranked) == 1:
        row, cell = ranked[0]
        seeds = counted(len(cell.shown), "seed")
        return f"Its mean reach over {seeds} is {mean_reach(cell)}, after training to {row.train_size}."
    texts = []
    for row, cell in (ranked[-1], ranked[0]):
        multiple = times(_mean(cell.values("reach")) / row.train_size)
        texts.append(f"{row.label} with {mean_reach(cell)} ({multiple} the training length)")
    return f"By mean reach the furthest is {texts[0]}, the nearest {texts[1]}."


def _code(name: str) -> str:
    return "`" + name.replace("`", "'") + "`"


def _learned_claim(verdicts: Verdicts) -> Claim:
    found = verdicts.learning
    return Claim(
        key="cells that were learned in the training range",
        value=len(found.learned) if found.judged else None,
        unit=f"of {found.judged}",
        kind="measured",
        status="holds" if found.judged else "unknown",
        assumptions=(Assumption(RULE),),
        evidence={
            "threshold": THRESHOLD,
            "rule": str(verdicts.content.rule),
            "not learned": [f"{verdicts.content.label(cell)} with {cell.position}" for cell in found.not_learned],
            "to try": ADVICE,
        },
    )


def _holding_claim(verdicts: Verdicts) -> Claim:
    return Claim(
        key=f"{verdicts.content.noun}s that hold {verdicts.at} with at least one encoding",
        value=len(verdicts.holding) if verdicts.judged else None,
        unit=f"of {len(verdicts.judged)}",
        kind="measured",
        status="holds" if verdicts.judged else "unknown",
        assumptions=(Assumption(RULE),),
        evidence={
            "threshold": THRESHOLD,
            "rule": str(verdicts.content.rule),
            "hold": verdicts.holding,
            "do not": verdicts.not_holding,
            "not learned": verdicts.never_learned,
        },
    )


def _deciding_claim(verdicts: Verdicts) -> Claim:
    rows = verdicts.comparable
    return Claim(
        key=f"{verdicts.content.noun}s for which the encoding decides {verdicts.at}",
        value=len(verdicts.decided) if rows else None,
        unit=f"of {len(rows)}",
        kind="measured",
        status="holds" if rows else "unknown",
        assumptions=(Assumption(RULE), Assumption("the encodings were given the same training")),
        evidence={"threshold": THRESHOLD, "decided": [row.label for row in verdicts.decided]},
    )


def _no_answer(content: Content) -> Answer:
    counts, total = content.counts, len(content.runs)
    if not total:
        sentences = ("The study has no runs, so there is no answer.", "Its specification is at the end of this page.")
    elif counts["failed"] == total:
        reasons = Counter(run.reason or "no reason was noted" for run in content.runs)
        reason, number = reasons.most_common(1)[0]
        often = "The reason" if len(reasons) == 1 else f"The most common reason, of {counted(number, 'run')}"
        sentences = (f"All {counted(total, 'run')} failed, so there is no answer.", f"{often}: {_cut(reason)}.")
    else:
        waiting = ", ".join(f"{number:,} {state}" for state, number in counts.items() if number)
        sentences = (
            "No run has finished yet, so there is no answer.",
            f"Of {counted(total, 'run')}: {waiting}; this page tells more when it is written again.",
        )
    unknown = Claim("the answer", None, "", "measured", "unknown", evidence={"states": dict(counts)})
    return Answer(content.question, sentences, (unknown,))


def _cut(text: str, most: int = 160) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= most else text[: most - 1] + "…"


def _mean(values: dict[int, float]) -> float:
    return sum(values.values()) / len(values)
