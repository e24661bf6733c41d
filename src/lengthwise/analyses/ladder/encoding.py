"""Does the encoding matter? What a shift costs with one encoding, compared with another pair by pair.

An encoding that learns less in range has more risk everywhere, beyond training too, and that says nothing about the
shift. So beyond training the increase of the risk over that in range is compared, and only where both models of a pair
learned their range. In range the risks themselves are compared, over all pairs: that is how well each encoding learns.

A longer problem has more tokens, and has them at later positions. The index shift is the second alone: the problems of
training, moved (`probes/index_shift`). Intervals are those of `statistics.blocked`, tasks being the blocks.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    BEYOND,
    IN_RANGE,
    INDEX,
    LEARNED_VALUES,
    SHARED_ITEMS,
    Climb,
    Evidence,
    has_learned,
    mean,
    place_text,
)
from lengthwise.analyses.ladder.section import LadderAnalysis
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.figures.style import PALETTE, alt, ends_of, hover, rule_at, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Figure, Record, Table, columns
from lengthwise.statistics.blocked import BlockedMean, blocked_mean
from lengthwise.statistics.paired import paired_over_tasks

MOST_PAIRS = 15  # pairs of encodings that are drawn
_SAME_TRAINING = Assumption("encodings.same_training")
_CHOSEN = Assumption("encodings.both_learned", "checked", LEARNED_VALUES)
_OFFSET = "+offset"

explain(
    {
        "encodings.title": "The encoding, pair by pair",
        "encodings.link": "Encodings",
        "encodings.text": (
            "The first encoding minus the second, over pairs of models that differ in nothing else. In range, "
            "the risks of all pairs are compared. Beyond training, the increase over the risk in range is "
            "compared, and only where both models of a pair learned their range (a risk of {learned:g} or "
            "less there): a model that never learned has nothing to lose. Pairs share items and training "
            "data, so intervals are somewhat too narrow."
        ),
        "encodings.note": "Left of the line the first is better, right of it the second. Bars are 95 % intervals.",
        "encodings.first_drawn": ("Only the first {drawn} of {pairs} pairs are drawn; the claims list all of them."),
        "encodings.offset": "The encoding {name} is trained at random offsets, so it has seen the positions of longer "
        "inputs; plain {base} positions were not studied.",
        "encodings.same_training": "both encodings were given the same training, which may suit one of them better",
        "encodings.both_learned": "only pairs of which both models learned their range are compared (a risk of at "
        "most {learned:g} in range); which pairs these are depends on the encodings",
        "encodings.risk": "risk with {first} minus risk with {second}, {place}{of_task}",
        "encodings.increase": "increase of the risk over that in range with {first} minus that with {second}, "
        "{place}, where both learned{of_task}",
        "encodings.figure": "{first} minus {second}",
        "encodings.words": "{first} minus {second}: the difference of the risk in range and of its increase beyond, "
        "with intervals.",
        "encodings.these_tasks": (
            "the interval is for other configurations of these tasks ({tasks}); the interval over tasks says "
            "whether other tasks would show the same"
        ),
        "encodings.answer": "Index shift and longer problems, pair by pair",
        "encodings.answer_note": "Increase of the risk with the first encoding minus that with the second, and its "
        "interval for these tasks. An encoding matters where that excludes 0. Where it does not, detectable is the "
        "smallest difference that would have been found with probability 80 %. The last two columns are the interval "
        "for other tasks like these.",
        "encodings.index_table": "What moving all positions does",
        "encodings.index_note": (
            "Means over the models that learned, on the same items of the training range. Changed: tokens "
            "that the model would write differently without the shift."
        ),
        "encodings.table": "Every pair at every place",
        "encodings.table_note": (
            "From and to: the interval for these tasks. The next columns are the interval for other tasks "
            "like these and the smallest difference that it would have found with probability 80 %. The last "
            "two columns are the differences over all pairs, learned or not; nothing is concluded from them."
        ),
    }
)

Pair = tuple[str, int, int, int]  # task, depth, width, seed


@analyses.register("encodings")
@dataclass(frozen=True)
class EncodingsAnalysis(LadderAnalysis):
    """What a shift costs with one encoding, compared with another."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        result = encodings(evidence)
        figures = encoding_panels(result) if study.pictures else []
        pairs = len({(effect.first, effect.second) for effect in result.effects if effect.difference is not None})
        names = dict.fromkeys(name for effect in result.effects for name in (effect.first, effect.second))
        offsets = [note.statement for note in trained_at_offsets(names, names)]
        notes = [sentence("encodings.note")]
        if 0 < len(figures) < pairs:
            notes.append(sentence("encodings.first_drawn", {"pairs": pairs, "drawn": len(figures)}))
        layout = PageLayout(notes=tuple(notes), claims=0, columns=3 if len(figures) > 2 else 2)
        text = (sentence("encodings.text", LEARNED_VALUES), *offsets)
        claims = (effect.claim for effect in (*result.effects, *result.by_task))
        tables = [_answer_table(result, evidence), *_index_table(evidence), _table(result)]
        return arranged("encodings", layout, text, claims, tables, figures)

    def says(self, evidence: Evidence) -> bool:
        return any(effect.difference is not None for effect in encodings(evidence).effects)


@dataclass(frozen=True)
class EncodingEffect:
    """The first encoding minus the second at one place: IN_RANGE, INDEX (moved positions), an axis, or BEYOND (all).

    A pair is two models of one task, depth, width and seed. In range the risks of all pairs are compared; elsewhere
    the increases over the risk in range, of the `pairs` (out of `measured`) in which both models learned. `claim` has
    the mean difference, its interval and p; `blocked` the same difference with both intervals, and what they would have
    found. `task` is empty for all tasks together.

    `risk_of_all` and `increase_of_all` are the mean differences over all pairs, whether they learned or not.
    """

    first: str
    second: str
    place: str
    pairs: int
    measured: int
    claim: Claim
    risk_of_all: float | None = None
    increase_of_all: float | None = None
    task: str = ""
    blocked: BlockedMean | None = None

    @property
    def decided(self) -> bool:
        """Whether the interval excludes 0."""
        return self.claim.interval is not None and 0.0 not in self.claim.interval

    @property
    def difference(self) -> float | None:
        return float(self.claim.value) if isinstance(self.claim.value, int | float) else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the difference."""
        return self.claim.interval and (self.claim.interval.low, self.claim.interval.high)


@dataclass(frozen=True)
class Encodings:
    """All pairs of encodings at all places, and beyond training task by task (`by_task`)."""

    effects: tuple[EncodingEffect, ...]
    by_task: tuple[EncodingEffect, ...] = ()

    def at(self, place: str) -> list[EncodingEffect]:
        return [effect for effect in self.effects if effect.place == place]


@functools.lru_cache(maxsize=4)
def encodings(evidence: Evidence) -> Encodings:
    """Every pair of encodings, in the order in which the study names them."""
    index = (INDEX,) if any(climb.moved for climb in evidence.climbs) else ()
    places = (IN_RANGE, *index, *evidence.axes, BEYOND)
    tasks = evidence.tasks
    of: dict[str, dict[Pair, Climb]] = {}
    for climb in evidence.climbs:
        of.setdefault(climb.position, {})[climb.task, climb.depth, climb.width, climb.seed] = climb
    overall, by_task = [], []
    for first, second in itertools.combinations(of, 2):
        notes = trained_at_offsets((first, second), of)
        overall += [_effect(of[first], of[second], place, notes) for place in places]
        for task in tasks if len(tasks) > 1 else []:
            ones, twos = ({pair: c for pair, c in of[name].items() if pair[0] == task} for name in (first, second))
            if ones and twos:
                by_task.append(_effect(ones, twos, BEYOND, notes, task))
    return Encodings(tuple(overall), tuple(by_task))


def _effect(
    ones: Mapping[Pair, Climb],
    twos: Mapping[Pair, Climb],
    place: str,
    assumptions: Sequence[Assumption],
    task: str = "",
) -> EncodingEffect:
    names = (next(iter(ones.values())).position, next(iter(twos.values())).position)
    inside = place == IN_RANGE
    both = [pair for pair in ones if pair in twos]
    kept = [pair for pair in both if inside or (has_learned([ones[pair]]) and has_learned([twos[pair]]))]
    left = set(both) - set(kept)
    measure = Climb.risk_at if inside else Climb.increase_at
    first, second = (
        {
            "{}, depth {}, width {}, seed {}".format(*pair): value
            for pair, climb in side.items()
            if pair not in left and (value := measure(climb, place)) is not None
        }
        for side in (ones, twos)
    )
    key = "encodings.risk" if inside else "encodings.increase"
    about = {"first": names[0], "second": names[1], "place": place_text(place), "of_task": f" ({task})" if task else ""}
    claim = paired_over_tasks(key, first, second, about=about, unit="risk")
    blocked = _blocked(ones, twos, kept, lambda climb: measure(climb, place))
    claim = _with_blocks(claim, blocked, len({pair[0] for pair in kept}))
    own = (SHARED_ITEMS, _SAME_TRAINING, *(() if inside else (_CHOSEN,)), *assumptions)
    sides = [(ones[pair], twos[pair]) for pair in both]
    risk = _mean_difference(sides, place, Climb.risk_at)
    increase = None if inside else _mean_difference(sides, place, Climb.increase_at)
    evidence = {
        "pairs_measured": len(both),
        "pairs_by_task": dict(Counter(pair[0] for pair in kept)),
        "risk_of_all": risk,
        "increase_of_all": increase,
    }
    claim = dataclasses.replace(claim, assumptions=(*claim.assumptions, *own), evidence={**claim.evidence, **evidence})
    return EncodingEffect(*names, place, claim.evidence["n"], len(both), claim, risk, increase, task, blocked)


def _blocked(
    ones: Mapping[Pair, Climb],
    twos: Mapping[Pair, Climb],
    pairs: Sequence[Pair],
    measure: Callable[[Climb], float | None],
) -> BlockedMean | None:
    """The mean difference with tasks as blocks, and configurations with their seeds as what they hold."""
    blocks: dict[str, dict[str, list[float]]] = {}
    for pair in pairs:
        one, two = measure(ones[pair]), measure(twos[pair])
        if one is not None and two is not None:
            task, depth, width, _ = pair
            blocks.setdefault(task, {}).setdefault(f"depth {depth}, width {width}", []).append(one - two)
    return blocked_mean(blocks) if blocks else None


def _with_blocks(claim: Claim, blocked: BlockedMean | None, tasks: int) -> Claim:
    """The claim with the interval that its blocks give; where it includes 0, with what would have been found."""
    if blocked is None or blocked.spread is None:
        return claim
    over = blocked.over
    found = {
        "decided": blocked.spread.excludes_zero,
        "detectable": blocked.spread.detectable,
        "over": over and [over.interval.low, over.interval.high],
        "detectable_over": over and over.detectable,
    }
    note = Assumption("encodings.these_tasks", "assumed", {"tasks": tasks})
    evidence = {**claim.evidence, **found}
    return dataclasses.replace(
        claim, interval=blocked.spread.interval, assumptions=(*claim.assumptions, note), evidence=evidence
    )


def _mean_difference(
    pairs: Sequence[tuple[Climb, Climb]], place: str, measure: Callable[[Climb, str], float | None]
) -> float | None:
    values = [(measure(one, place), measure(two, place)) for one, two in pairs]
    return mean(one - two for one, two in values if one is not None and two is not None)


def trained_at_offsets(names: Iterable[str], studied: Container[str] = ()) -> list[Assumption]:
    """A note for each encoding that is trained at random offsets: it resists shifts of position by design, and where
    the same encoding without offsets was not studied, nothing is known of that one."""
    bases = {name: name.split(_OFFSET)[0] for name in names if _OFFSET in name}
    return [
        Assumption("encodings.offset", "checked", {"name": name, "base": base})
        for name, base in bases.items()
        if base not in studied
    ]


def encoding_panels(result: Encodings) -> list[Figure]:
    """One panel per pair of encodings; none where no two could be compared."""
    pairs: dict[tuple[str, str], list[EncodingEffect]] = {}
    for effect in result.effects:
        if effect.difference is not None:
            pairs.setdefault((effect.first, effect.second), []).append(effect)
    shown = dict(list(pairs.items())[:MOST_PAIRS])
    template = _template(max(map(len, shown.values()), default=0))
    return [
        Figure(
            f"encodings.{number + 1}",
            template,
            {"effects": [_row(effect) for effect in effects]},
            sentence("encodings.figure", {"first": first, "second": second}),
            sentence("encodings.words", {"first": first, "second": second}),
        )
        for number, ((first, second), effects) in enumerate(shown.items())
    ]


def _row(effect: EncodingEffect) -> dict[str, Any]:
    difference, p_value = effect.difference or 0.0, effect.claim.evidence.get("p_value")
    low, high = effect.ends or (difference, difference)
    return {
        "place": place_text(effect.place),
        "difference": 100 * difference,
        "low": 100 * low,
        "high": 100 * high,
        "measure": "risk" if effect.place == IN_RANGE else "increase of the risk",
        "pairs": f"{effect.pairs} of {effect.measured}",
        "p": f"{p_value:.3g}" if isinstance(p_value, float) else "–",
    }


def _template(places: int) -> dict[str, Any]:
    title = "difference (percentage points)"
    numbers = (("difference:Q", title, ".2f"), *ends_of(".2f", "95 % "))
    told = hover("place:N", *numbers, ("measure:N", "compared"), "pairs:N", "p:N")
    base = alt.Chart(alt.NamedData("effects")).encode(y=alt.Y("place:N", title=None, sort=None), tooltip=told)
    bars = base.mark_rule(strokeWidth=2.5, color=PALETTE[0]).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    points = base.mark_point(filled=True, size=70, color=PALETTE[0], opacity=1)
    layers = alt.layer(rule_at("x", 0), bars, points.encode(x=alt.X("difference:Q", title=title)))
    return template_of(layers.properties(width=330, height=34 * places))


def _answer_table(result: Encodings, evidence: Evidence) -> Table:
    """Index shift, longer problems and all levels, for every pair."""
    described = columns(
        "first:text encoding | second:text minus | place:text | pairs:text both learned | difference | low from | "
        "high to | detectable | over_low other tasks, from | over_high to"
    )
    places = dict.fromkeys((INDEX, *evidence.axes[:1], BEYOND))
    rows = []
    for one in (effect for place in places for effect in result.at(place)):
        spread = one.blocked and one.blocked.spread
        missed = spread.detectable if spread and not spread.excludes_zero else None
        start = (one.first, one.second, place_text(one.place), f"{one.pairs} of {one.measured}", one.difference)
        rows.append((*start, *(one.ends or (None, None)), missed, *_over(one)[:2]))
    title, note = sentence("encodings.answer"), sentence("encodings.answer_note")
    return Table("encodings.answer", described, tuple(rows), title, note)


def _over(effect: EncodingEffect) -> tuple[float | None, float | None, float | None]:
    """The interval for other tasks, and what it would have found."""
    over = effect.blocked.over if effect.blocked else None
    return (over.interval.low, over.interval.high, over.detectable) if over else (None, None, None)


def _index_table(evidence: Evidence) -> list[Table]:
    """What an index shift does with each encoding; none where it was not measured."""
    described = columns(
        "encoding:text | models:text that learned | risk:share in range | moved:share after the shift | increase | "
        "changed:share other token written"
    )
    rows = []
    for name in evidence.encodings:
        measured = [climb for climb in evidence.climbs if climb.position == name and climb.moved]
        learned = [climb for climb in measured if has_learned([climb])]
        found = [climb.moved for climb in learned if climb.moved]
        if measured:
            means = (mean(one.risk for one in found), mean(one.moved_risk for one in found))
            more = (mean(one.increase for one in found), mean(one.changed for one in found))
            rows.append((name, f"{len(learned)} of {len(measured)}", *means, *more))
    title, note = sentence("encodings.index_table"), sentence("encodings.index_note")
    return [Table("encodings.index", described, tuple(rows), title, note)] if rows else []


def _table(result: Encodings) -> Table:
    described = columns(
        "first:text encoding | second:text minus | place:text | task:text | measure:text compared | pairs:text | "
        "difference | low from | high to | p_value p | over_low other tasks, from | over_high other tasks, to | "
        "detectable_over other tasks, detectable | risk_of_all risk, all pairs | "
        "increase_of_all increase, all pairs"
    )
    rows = []
    for one in (*result.effects, *result.by_task):
        start = (one.first, one.second, place_text(one.place), one.task or None)
        compared = "risk" if one.place == IN_RANGE else "increase"
        numbers = (one.difference, *(one.ends or (None, None)), one.claim.evidence.get("p_value"))
        every = (one.risk_of_all, one.increase_of_all)
        rows.append((*start, compared, f"{one.pairs} of {one.measured}", *numbers, *_over(one), *every))
    title, note = sentence("encodings.table"), sentence("encodings.table_note")
    return Table("encodings.pairs", described, tuple(rows), title, note, detail=True)
