"""Does the encoding matter? What a shift costs with one encoding, compared with another pair by pair.

An encoding that learns less in range has more risk everywhere, beyond training too, and that says nothing about the
shift. So beyond training the increase of the risk over that in range is compared, and only where both models of a pair
learned their range. In range the risks themselves are compared, over all pairs: that is how well each encoding learns.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.findings.evidence import Climb, Evidence
from lengthwise.findings.grouping import (
    BEYOND,
    IN_RANGE,
    LEARNED_RULE,
    SHARED_ITEMS,
    axes_of,
    has_learned,
    increase_at,
    mean,
    risk_at,
)
from lengthwise.records import Assumption, Claim
from lengthwise.statistics.paired import paired_over_tasks

_SAME_TRAINING = Assumption("both encodings were given the same training, which may suit one of them better")
_CHOSEN = Assumption(
    f"only pairs of which both models learned their range are compared ({LEARNED_RULE}); which pairs these are depends "
    "on the encodings",
    "checked",
)
_OFFSET = "+offset"

Pair = tuple[str, int, int, int]  # task, depth, width, seed


@dataclass(frozen=True)
class EncodingEffect:
    """The first encoding minus the second at one place: IN_RANGE, an axis, or BEYOND (all axes).

    A pair is two models of one task, depth, width and seed. In range the risks of all pairs are compared; elsewhere
    the increases over the risk in range, of the `pairs` (out of `measured`) in which both models learned. `claim` has
    the mean difference, its interval and p. `task` is empty for all tasks together.

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

    @property
    def difference(self) -> float | None:
        return float(self.claim.value) if isinstance(self.claim.value, int | float) else None

    @property
    def significant(self) -> bool:
        """Whether the sign-flip test has p < 0.05."""
        return self.claim.evidence.get("p_value", 1.0) < 0.05


@dataclass(frozen=True)
class Encodings:
    """All pairs of encodings at all places, and beyond training task by task (`by_task`)."""

    effects: tuple[EncodingEffect, ...]
    by_task: tuple[EncodingEffect, ...] = ()

    def at(self, place: str) -> list[EncodingEffect]:
        return [effect for effect in self.effects if effect.place == place]

    def claims(self) -> list[Claim]:
        return [effect.claim for effect in (*self.effects, *self.by_task)]

    def plain(self) -> dict[str, Any]:
        return {"claims": [claim.plain() for claim in self.claims()]}


def encodings(evidence: Evidence) -> Encodings:
    """Every pair of encodings, in the order in which the study names them."""
    places = (IN_RANGE, *axes_of(evidence), BEYOND)
    tasks = list(dict.fromkeys(climb.task for climb in evidence.climbs))
    of: dict[str, dict[Pair, Climb]] = {}
    for climb in evidence.climbs:
        of.setdefault(climb.position, {})[climb.task, climb.depth, climb.width, climb.seed] = climb
    overall, by_task = [], []
    for first, second in itertools.combinations(of, 2):
        notes = [Assumption(text, "checked") for text in trained_at_offsets((first, second), of)]
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
    measure: Callable[[Climb, str], float | None] = risk_at if place == IN_RANGE else increase_at
    both = [pair for pair in ones if pair in twos]
    kept = [pair for pair in both if place == IN_RANGE or (has_learned([ones[pair]]) and has_learned([twos[pair]]))]
    left = set(both) - set(kept)
    first, second = (_values(side, left, place, measure) for side in (ones, twos))
    claim = paired_over_tasks(_name(names, place, task), first, second, unit="risk")
    own = (SHARED_ITEMS, _SAME_TRAINING, *(() if place == IN_RANGE else (_CHOSEN,)), *assumptions)
    risk = _mean_difference(ones, twos, both, place, risk_at)
    increase = None if place == IN_RANGE else _mean_difference(ones, twos, both, place, increase_at)
    evidence = {
        "pairs measured": len(both),
        "pairs by task": dict(Counter(pair[0] for pair in kept)),
        "difference in risk, all pairs": risk,
        "difference in increase, all pairs": increase,
    }
    claim = dataclasses.replace(claim, assumptions=(*claim.assumptions, *own), evidence={**claim.evidence, **evidence})
    return EncodingEffect(*names, place, claim.evidence["n"], len(both), claim, risk, increase, task)


def _name(names: tuple[str, str], place: str, task: str) -> str:
    where = place if place in (IN_RANGE, BEYOND) else f"levels of {place}"
    of_task = f" ({task})" if task else ""
    if place == IN_RANGE:
        return f"risk with {names[0]} minus risk with {names[1]}, {where}{of_task}"
    return (
        f"increase of the risk over that in range with {names[0]} minus that with {names[1]}, {where}, where both "
        f"learned{of_task}"
    )


def _values(
    side: Mapping[Pair, Climb], left: set[Pair], place: str, measure: Callable[[Climb, str], float | None]
) -> dict[str, float]:
    """Pair in words → measure, without the pairs that are left out."""
    found = {_words(pair): measure(climb, place) for pair, climb in side.items() if pair not in left}
    return {name: value for name, value in found.items() if value is not None}


def _words(pair: Pair) -> str:
    task, depth, width, seed = pair
    return f"{task}, depth {depth}, width {width}, seed {seed}"


def _mean_difference(
    ones: Mapping[Pair, Climb],
    twos: Mapping[Pair, Climb],
    pairs: Sequence[Pair],
    place: str,
    measure: Callable[[Climb, str], float | None],
) -> float | None:
    values = [(measure(ones[pair], place), measure(twos[pair], place)) for pair in pairs]
    return mean([one - two for one, two in values if one is not None and two is not None])


def trained_at_offsets(names: Iterable[str], studied: Container[str] = ()) -> list[str]:
    """A sentence for each encoding that is trained at random offsets: it resists shifts of position by design, and
    where the same encoding without offsets was not studied, nothing is known of that one."""
    bases = {name: name.split(_OFFSET)[0] for name in names if _OFFSET in name}
    return [
        f"The encoding {name} is trained at random offsets, so it has seen the positions of longer inputs; plain "
        f"{base} positions were not studied"
        for name, base in bases.items()
        if base not in studied
    ]
