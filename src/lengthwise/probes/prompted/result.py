"""Answers as a record: accuracy by size in two readings, how far the subject holds by three bars, what was not
answered, and accuracy by the depth of what was to be found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from lengthwise.figures.plots import heat_figure, line_figure
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import THRESHOLD, wilson
from lengthwise.probes.prompted.asking import OUTCOMES, Asked, MarkedAnswer
from lengthwise.records import Assumption, Claim, Figure, Interval, Record, Reference, Table, columns
from lengthwise.tasks.sizes import name_of

RULER_BAR, NOLIMA_SHARE = 0.856, 0.85
SHORTEST = 3  # sizes from which the own score is taken
BANDS = 5  # of depth
_MOST_UNANSWERED = 0.05
SIZES, ENDINGS, DEPTHS = "prompted.sizes", "prompted.outcomes", "prompted.depths"
_ANSWERS, _NONE = OUTCOMES[:3], OUTCOMES[3:]

explain(
    {
        "prompted.reach": "reach",
        "prompted.effective.fixed": "effective length, {threshold:.1%} right (the threshold of RULER)",
        "prompted.effective.own": "effective length, 85 % of the score on short inputs (as in NoLiMa)",
        "prompted.answered": "items that were answered",
        "prompted.format": "right answers that keep the format exactly",
        "prompted.drawn": "items are drawn as the task draws them",
        "prompted.pointwise": "intervals are pointwise",
        "prompted.complete": "items without an answer are like the others; {unanswered} of {items} have none",
        "prompted.base": "the score on short inputs is taken as it was measured",
        "prompted.cut": "cut off at the token budget",
        "prompted.empty": "empty",
        "prompted.refused": "refused",
        "prompted.overlong": "not asked, because the prompt does not fit into the context",
        "prompted.failed": "failed at the server",
    }
)


@dataclass(frozen=True)
class SizeScore:
    """What came of the items of one size. Accuracy is over `answered`, the items whose answer ended by itself and is
    not empty: an answer in which nothing can be read is wrong, one that was cut off is not."""

    size: int
    counts: Counter[str]
    strictly: int
    tokens: float | None
    chance: float

    @property
    def items(self) -> int:
        return self.counts.total()

    @property
    def answered(self) -> int:
        return sum(self.counts[name] for name in _ANSWERS)

    @property
    def right(self) -> int:
        return self.counts["right"]

    def share(self, strict: bool = False) -> float | None:
        return (self.strictly if strict else self.right) / self.answered if self.answered else None

    def interval(self, strict: bool = False) -> Interval:
        return wilson(self.strictly if strict else self.right, self.answered)


def record_of(asked: Asked, subject: str) -> Record:
    """The record of a measurement by prompts."""
    scores = _scores(asked)
    claims = _claims(scores, asked)
    task = name_of(asked.task)
    return Record(
        source="prompted",
        title=f"{task}, asked of {subject} by prompt",
        text=tuple(_text(asked, claims)),
        claims=tuple(claims),
        tables=(_by_size(scores), _by_outcome(scores), *_by_depth(asked.answers)),
        figures=(_lines(task, scores), *_heat(task, asked.answers)),
        data={
            "task": task,
            "subject": subject,
            "chat": asked.chat,
            "seed": asked.seed,
            "budgets": {str(size): budget for size, budget in asked.budgets.items()},
            "folder": asked.folder,
            "marks": [[one.size, one.item, one.outcome, one.strict] for one in asked.answers],
            "said": dict(asked.said.most_common(5)),
        },
    )


def _scores(asked: Asked) -> list[SizeScore]:
    found = []
    for size in asked.budgets:
        some = [answer for answer in asked.answers if answer.size == size]
        tokens = [answer.tokens for answer in some if answer.tokens is not None]
        found.append(
            SizeScore(
                size,
                Counter(answer.outcome for answer in some),
                sum(answer.strict for answer in some),
                sum(tokens) / len(tokens) if tokens else None,
                asked.task.part("test").chance(size).exact,
            )
        )
    return found


# --- claims ---------------------------------------------------------------------------------------------------------


def _claims(scores: Sequence[SizeScore], asked: Asked) -> list[Claim]:
    own = max(scores[:SHORTEST], key=lambda score: score.share() or 0.0)
    base = own.share() or 0.0
    above = base > 0 and own.interval().low > own.chance
    counts = sum((score.counts for score in scores), Counter[str]())
    answered, right = sum(score.answered for score in scores), counts["right"]
    strictly = sum(score.strictly for score in scores)
    none = {name: counts[name] for name in _NONE if counts[name]}
    seed = {"seed": asked.seed}
    ruler, nolima = Reference("hsieh2024"), Reference("modarressi2025")
    found = [
        _length("prompted.reach", THRESHOLD, scores, seed),
        _length("prompted.effective.fixed", RULER_BAR, scores, seed, ruler),
        _length("prompted.effective.own", NOLIMA_SHARE * base, scores, {**seed, "base": base}, nolima, above),
        Claim(
            "prompted.answered",
            answered / counts.total(),
            "share",
            "measured",
            interval=wilson(answered, counts.total()),
            evidence={"n": counts.total(), "answered": answered, **none},
        ),
    ]
    if right:
        evidence = {"n": right, "strict": strictly}
        found.append(
            Claim(
                "prompted.format",
                strictly / right,
                "share",
                "measured",
                interval=wilson(strictly, right),
                evidence=evidence,
            )
        )
    return found


def _length(
    key: str,
    bar: float,
    scores: Sequence[SizeScore],
    more: dict[str, Any],
    reference: Reference | None = None,
    above: bool = True,
) -> Claim:
    """The largest size up to which the lenient score stays at the bar or above it at every size measured.

    What is known ends before a size without answers, or at which guessing meets the bar. At the smallest size, the
    first makes the length unknown and the second vacuous, as does an own score that is not `above` guessing.
    """
    points = list(takewhile(lambda score: score.answered > 0 and score.chance < bar, scores))
    unanswered, items = sum(p.items - p.answered for p in points), sum(p.items for p in points)
    many = unanswered > _MOST_UNANSWERED * items
    facts = {"unanswered": unanswered, "items": items}
    assumptions = (
        Assumption("prompted.drawn"),
        Assumption("prompted.pointwise"),
        Assumption("prompted.complete", "violated" if many else "checked", facts),
        *((Assumption("prompted.base"),) if "base" in more else ()),
    )
    evidence = {"threshold": bar, "reading": "lenient", **more}
    if not points or not above:
        status = "vacuous" if scores[0].answered else "unknown"
        return Claim(key, None, "size", "measured", status, None, assumptions, reference, evidence)

    def held(value: Callable[[SizeScore], float]) -> list[SizeScore]:
        return list(takewhile(lambda score: value(score) >= bar, points))

    reach = held(lambda score: score.share() or 0.0)
    low, high = held(lambda score: score.interval().low), held(lambda score: score.interval().high)
    strict = held(lambda score: score.share(strict=True) or 0.0)
    evidence |= {
        "smallest_size": points[0].size,
        "largest_size": points[-1].size,
        "censored": len(reach) == len(points),
        "tokens": reach[-1].tokens if reach else 0,
        "strict": _last(strict),
    }
    interval = Interval(_last(low), math.inf if len(high) == len(points) else _last(high), 0.95, "Wilson at each size")
    return Claim(key, _last(reach), "size", "measured", "holds", interval, assumptions, reference, evidence)


def _last(held: Sequence[SizeScore]) -> int:
    return held[-1].size if held else 0


# --- words ----------------------------------------------------------------------------------------------------------


def _text(asked: Asked, claims: Sequence[Claim]) -> Iterable[str]:
    reach, fixed, own, answered = claims[:4]
    yield _far(reach, "Reach", f"{THRESHOLD:.0%} right")
    yield _far(fixed, "Effective length by the bar of RULER", f"{RULER_BAR:.1%} right")
    share = (
        f"{own.evidence['threshold']:.1%} right ({NOLIMA_SHARE:.0%} of its {own.evidence['base']:.1%} on short inputs)"
    )
    yield _far(own, "Effective length by its own score, as in NoLiMa", share)
    least, most = min(asked.budgets.values()), max(asked.budgets.values())
    budget = f"{least}" if least == most else f"{least} to {most}"
    shots = f"{asked.shots} worked {'example' if asked.shots == 1 else 'examples'}"
    how = "the chat template" if asked.chat else "plain text, without a chat template"
    yield f"Asked by prompt: {how}, {shots}, an answer of at most {budget} tokens, {asked.items} items per size."
    none = {name: count for name in _NONE if (count := answered.evidence.get(name))}
    if none:
        left, total = sum(none.values()), answered.evidence["n"]
        parts = "; ".join(f"{count:,} {sentence(f'prompted.{name}')}" for name, count in none.items())
        yield f"{left:,} of {total:,} items have no answer and count neither as right nor as wrong: {parts}."
    if none.get("cut"):
        yield "A larger budget would show what the answers that were cut off would have been."
    if said := asked.said.most_common(1):
        yield f"The server said, {said[0][1]:,} times: {said[0][0]}"
    if asked.folder:
        yield f"Prompts and answers are in {asked.folder}."


def _far(claim: Claim, name: str, bar: str) -> str:
    """A length in words, with the tokens that its prompts have."""
    if claim.value is None:
        why = "guessing does as well" if claim.status == "vacuous" else "the smallest size has no answers"
        return f"{name}: none can be given, because {why}."
    if not claim.value:
        return f"{name}: 0, with less than {bar} at the smallest size already."
    tokens, least = claim.evidence["tokens"], "at least " if claim.evidence["censored"] else ""
    long = f" ({tokens:,.0f} tokens)" if tokens else ""
    return f"{name}: {least}{claim.value}{long}, with at least {bar} at every size measured up to there."


# --- tables and figures ---------------------------------------------------------------------------------------------


def _by_size(scores: Sequence[SizeScore]) -> Table:
    described = columns(
        "size:whole | tokens:number prompt tokens | answered:whole | lenient:share right | low:share 95 % from | "
        "high:share 95 % to | strict:share right, strict | strict_low:share 95 % from | strict_high:share 95 % to | "
        "of_all:share right of all | chance:share"
    )
    rows = []
    for score in scores:
        ends: list[float | None] = [None] * 4
        if score.answered:
            both = score.interval(), score.interval(strict=True)
            ends = [end for interval in both for end in (interval.low, interval.high)]
        tokens = None if score.tokens is None else round(score.tokens, 1)
        first = (score.size, tokens, score.answered, score.share(), *ends[:2], score.share(strict=True), *ends[2:])
        rows.append((*first, score.right / score.items, score.chance))
    note = "shares of the items that were answered; right of all counts an item without an answer as wrong"
    return Table(SIZES, described, tuple(rows), "accuracy by size", note)


def _by_outcome(scores: Sequence[SizeScore]) -> Table:
    described = columns("size:whole | items:whole | " + " | ".join(f"{name}:whole" for name in OUTCOMES))
    rows = tuple((score.size, score.items, *(score.counts[name] for name in OUTCOMES)) for score in scores)
    note = "unread: an answer in which no symbols of the task can be read, which counts as wrong"
    return Table(ENDINGS, described, rows, "what came of the items", note)


def _bands(answers: Iterable[MarkedAnswer]) -> dict[tuple[int, int], Counter[bool]]:
    """Right and other answers by size and band of depth."""
    found: dict[tuple[int, int], Counter[bool]] = {}
    for answer in answers:
        if answer.depth is not None and answer.outcome in _ANSWERS:
            band = min(BANDS - 1, int(answer.depth * BANDS))
            found.setdefault((answer.size, band), Counter())[answer.outcome == "right"] += 1
    return dict(sorted(found.items()))


def _by_depth(answers: Sequence[MarkedAnswer]) -> list[Table]:
    bands = _bands(answers)
    if not bands:
        return []
    described = columns(
        "size:whole | first:share depth from | last:share depth to | answered:whole | right:whole | lenient:share right"
        " | low:share 95 % from | high:share 95 % to"
    )
    rows = []
    for (size, band), count in bands.items():
        interval = wilson(count[True], count.total())
        share = count[True] / count.total()
        ends = (band / BANDS, (band + 1) / BANDS)
        rows.append((size, *ends, count.total(), count[True], share, interval.low, interval.high))
    note = "depth 0 is the first sentence of the text, 100 % the last"
    return [Table(DEPTHS, described, tuple(rows), "accuracy by depth", note, detail=True)]


def _lines(task: str, scores: Sequence[SizeScore]) -> Figure:
    series = {}
    for name, strict in (("lenient reading", False), ("strict reading", True)):
        known = [(score.size, score.share(strict), score.interval(strict)) for score in scores if score.answered]
        series[name] = [(size, *(100 * y for y in (share or 0.0, ends.low, ends.high))) for size, share, ends in known]
    words = f"The share of right answers to {task} by size, in both readings, with 95 % intervals."
    return line_figure("prompted.curve", f"{task}: right answers by size", words, ("size", "right, %"), series, "x")


def _heat(task: str, answers: Sequence[MarkedAnswer]) -> list[Figure]:
    cells = [
        (size, 100 * band // BANDS, 100 * count[True] / count.total())
        for (size, band), count in _bands(answers).items()
    ]
    words = "The share of right answers by size and by the depth at which the answer stands in the text."
    axes = ("size", "depth from, %")
    return [heat_figure("prompted.heat", f"{task}: right answers by depth, %", words, axes, cells)] if cells else []


def _summary(records: Sequence[Record]) -> str:
    """How far each of several tasks holds, in one sentence."""
    reaches = {record.data["task"]: record.claim("prompted.reach") for record in records}
    far = [
        f"{task} to {'at least ' if claim.evidence['censored'] else ''}{claim.value}"
        for task, claim in reaches.items()
        if claim.value
    ]
    if not far:
        return f"Of {len(records)} tasks, none is known to have {THRESHOLD:.0%} right, not even at its smallest size."
    rest = "" if len(far) == len(records) else "; none of the others at its smallest size, as far as is known"
    return f"Of {len(records)} tasks, these have {THRESHOLD:.0%} right at every size measured: {', '.join(far)}{rest}."


def overview(records: Sequence[Record]) -> Record:
    """Several tasks of one subject: how far it holds in each, and the share of right answers by task and size."""
    lengths = ("prompted.reach", "prompted.effective.fixed", "prompted.effective.own")
    described = columns(
        "task:text | reach:whole | fixed:whole effective length (RULER) | own:whole effective length (NoLiMa) | "
        "smallest:share right at the smallest size | largest:share right at the largest size | answered:share"
    )
    rows, cells = [], []
    for record in records:
        by_size: list[dict[str, Any]] = list(record.table(SIZES).records())
        ends = [by_size[place]["lenient"] for place in (0, -1)]
        far = [record.claim(key).value for key in lengths]
        rows.append((record.data["task"], *far, *ends, record.claim("prompted.answered").value))
        known = [row for row in by_size if row["lenient"] is not None]
        cells += [(row["size"], record.data["task"], 100 * row["lenient"]) for row in known]
    words = "The share of right answers, by task and size."
    axes, note = ("size", ""), "a length that is the largest size measured is a lower bound"
    return Record(
        "prompted_tasks",
        title=f"{len(records)} tasks, asked of {records[0].data['subject']} by prompt",
        text=(_summary(records),),
        tables=(Table("prompted.tasks", described, tuple(rows), "by task", note),),
        figures=(heat_figure("prompted.tasks", "right answers by task and size, %", words, axes, cells),),
    )
