"""What a sample of chains shows: widths at which one window settles every step, conflicts by line, and gaps of a test.

A sample refutes, with two lines that anybody can look up; or it does not, and then the widest that can be said is that
it is consistent in this sample. Where windows hardly ever recur not even that says anything, and the answer is unknown.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.settle import BOUND_RESTS_ON, Distance, distance
from lengthwise.oracle.locality.steps import Steps, kept_steps
from lengthwise.oracle.locality.thoughts.places import (
    Form,
    WindowPlaces,
    decoder_places,
    moves_of,
    step_places,
)
from lengthwise.oracle.locality.thoughts.reading import Chain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints
from lengthwise.tasks.formulations.between import labels_between
from lengthwise.tasks.formulations.formulation import StepMove

RECURRING = 0.5  # of the places at which something changes; with fewer, nothing is said about a width
ODD = 0.05  # of the places at which something changes: conflicts below this share are taken for faults of the data
MOST = 4  # windows
_STATES = 1_000  # kept whole, for several windows and the distance
_NAMED = 1_000  # conflicts that are kept
XIAO = Reference("xiao2024", "(n, r)-consistency; what a sample shows of it")
Lines = list[tuple[StepMove, int]]  # kept steps, each with its line
Verdict = Literal["refuted", "consistent", "unknown"]
explain(
    {
        "thoughts.windows": "{name}: one window of {width} columns",
        "thoughts.unseen": "{name}: share of test chains with a window that training does not show",
        "thoughts.distance": "{name}: a lower bound on R, the largest distance between two columns that enter one step",
        "thoughts.distance_said": "R is at least {spread}, in {kept:,} of the states, if whether a step is taken "
        "depends only on columns near it. {example}",
        "thoughts.in_sample": "what other chains would show is not known",
        "thoughts.refuted": "windows of {width}: refuted; {conflicts:,} of {windows:,} windows have two labels, and at "
        "least {odd:,} of {changes:,} places that change something would have to differ{several}",
        "thoughts.consistent": "windows of {width}: consistent in this sample; {windows:,} windows with one label each",
        "thoughts.unknown": "windows of {width}: unknown; no conflict, but only {recurring:.0%} of the places that "
        "change something have a window that another chain has too",
        "thoughts.several": "; {n} windows are not refuted, in {states:,} of the states",
        "thoughts.none": "; no number of windows distinguishes lines {one} and {other}, in {states:,} of the states",
        "thoughts.more": "; more than {most} windows are needed, in {states:,} of the states",
        "thoughts.conflict": "line {line}, step {step}, column {column}: {label!r} where line {other_line}, step "
        "{other_step} has {other_label!r} ({count:,} against {other_count:,} places with the window `{window}`)",
        "thoughts.and_more": "… and {more:,} more",
        "thoughts.shown": "Of {windows:,} windows of {width} columns in the test file training shows {seen:,}; "
        "{chains:,} of {all_chains:,} test chains have a window that it does not show.",
        "thoughts.against": "{count:,} places of the test file have a label that training contradicts, the first in "
        "line {line}, step {step}.",
        "thoughts.cover": "{count:,} test records would close all gaps: lines {lines}.",
        "thoughts.closed": "Training shows every window of the test file.",
    }
)


@dataclass(frozen=True)
class Conflict:
    """A place and another with the same window and another label, which is the more frequent or, of equally frequent
    ones, the earlier one. `count` and `other_count` places have the one and the other."""

    width: int
    window: str
    line: int
    step: int
    column: int
    label: str
    count: int
    other_line: int
    other_step: int
    other_label: str
    other_count: int

    def explain(self) -> str:
        return sentence("thoughts.conflict", vars(self))


@dataclass(frozen=True)
class WidthFound:
    """What the sample says about one window of a width, and where it is refuted about several: the least number that
    is not refuted in `states` of the states (None: more than `MOST`), or two lines that refute every number."""

    width: int
    verdict: Verdict
    windows: int
    clashing: int
    odd: int
    changes: int
    recurring: float
    several: int | None = None
    lines: tuple[int, int] | None = None
    states: int = 0

    def explain(self) -> str:
        values = {**vars(self), "conflicts": self.clashing, "several": ""}
        if self.states:
            key = "none" if self.lines else "more" if self.several is None else "several"
            one, other = self.lines or (0, 0)
            said = {"n": self.several, "one": one, "other": other, "most": MOST, "states": self.states}
            values["several"] = sentence(f"thoughts.{key}", said)
        return sentence(f"thoughts.{self.verdict}", values)

    def claim(self, name: str) -> Claim:
        status = "holds" if self.verdict == "consistent" else self.verdict
        kind = "proved" if self.verdict == "refuted" else "measured"
        given = () if self.verdict == "refuted" else (Assumption("thoughts.in_sample"),)
        evidence = {"name": name, **vars(self)}
        return Claim("thoughts.windows", self.verdict, "", kind, status, None, given, XIAO, evidence)


@dataclass(frozen=True)
class Gaps:
    """Which windows of a test file training lacks. `chains` of `all_chains` need one of them, `lines` of the file would
    show them all, and `against` are the first of the `contradicted` places, whose label training contradicts."""

    width: int
    windows: int
    seen: int
    chains: int
    all_chains: int
    lines: tuple[int, ...]
    against: tuple[tuple[int, int], ...]
    contradicted: int = 0

    def explain(self) -> list[str]:
        found = [sentence("thoughts.shown", vars(self))]
        if self.against:
            line, step = self.against[0]
            found.append(sentence("thoughts.against", {"count": self.contradicted, "line": line, "step": step}))
        if not self.lines:
            return [*found, sentence("thoughts.closed")]
        shown = ", ".join(map(str, self.lines[:10])) + (" …" if len(self.lines) > 10 else "")
        return [*found, sentence("thoughts.cover", {"count": len(self.lines), "lines": shown})]


@dataclass(frozen=True)
class Findings:
    """Everything that is said about a file. `width` is the narrowest at which it is consistent or has so few conflicts
    that they look like faults; None if there is none. `conflicts` are those of that width, else of the widest."""

    name: str
    form: Form
    chains: int
    steps: int
    by_width: tuple[WidthFound, ...]
    width: int | None
    conflicts: tuple[Conflict, ...]
    conflicting: int
    distance: Distance | None
    kept: int = 0
    gaps: Gaps | None = None

    def claims(self) -> list[Claim]:
        claims = [found.claim(self.name) for found in self.by_width]
        if self.distance is not None:
            bound, evidence = self.distance, {"name": self.name, "states": self.kept, "example": self.distance.example}
            claims.append(Claim("thoughts.distance", spread_of(bound), "columns", "measured", "unknown",
                                None, tuple(map(Assumption, BOUND_RESTS_ON)), XIAO, evidence))  # fmt: skip
        if self.gaps is not None:
            share = self.gaps.chains / max(1, self.gaps.all_chains)
            evidence = {"name": self.name, **vars(self.gaps)}
            claims.append(Claim("thoughts.unseen", share, "", "measured", "holds", None, (), XIAO, evidence))
        return claims

    def explain(self) -> list[str]:
        """What each width shows, and how far apart what enters a step is at least."""
        said = [found.explain() for found in self.by_width]
        if self.distance is not None:
            values = {"spread": spread_of(self.distance), "kept": self.kept, "example": self.distance.example}
            said.append(sentence("thoughts.distance_said", values).strip())
        return said

    def plain(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("name", "form", "chains", "steps", "width", "conflicting")},
            "widths": [vars(found) for found in self.by_width],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
            "gaps": None if self.gaps is None else vars(self.gaps),
            "claims": [claim.plain() for claim in self.claims()],
        }


def spread_of(found: Distance) -> int:
    """The largest lower bound on R of any size."""
    return max((spread for _, spread in found.by_size), default=0)


@dataclass(eq=False)
class _Pass:
    """One window of one width over the training places: which windows have two labels, and which places are odd."""

    places: WindowPlaces
    numbers: Ints
    training: Ints
    found: WidthFound = field(init=False)
    odd: Ints = field(init=False)
    usual: dict[int, tuple[int, int]] = field(init=False)  # clashing window → a place with its usual label, how often

    def look(self, width: int) -> None:
        windows, labels = self.numbers[self.training], self.places.label[self.training]
        pairs, first, inverse, counts = np.unique(
            windows * len(self.places.labels) + labels, return_index=True, return_inverse=True, return_counts=True
        )
        of = pairs // len(self.places.labels)
        order = np.lexsort((first, -counts, of))  # of each window the most frequent label first, then the earliest
        leads = np.ones(len(of), dtype=bool)
        leads[1:] = of[order][1:] != of[order][:-1]
        leading = np.zeros(len(of), dtype=bool)
        leading[order[leads]] = True
        self.odd = np.flatnonzero(~leading[inverse.reshape(-1)])
        clashing = np.unique(of[~leading])
        usual = order[leads][np.isin(of[order][leads], clashing)]
        self.usual = {int(of[at]): (int(first[at]), int(counts[at])) for at in usual}
        self.counts = counts[inverse.reshape(-1)]
        changes = self.places.changes[self.training]
        recurring = _recurring(windows[changes], self.places.chain[self.training][changes])
        verdict: Verdict = "refuted" if len(clashing) else "consistent" if recurring >= RECURRING else "unknown"
        distinct = len(order[leads])
        self.found = WidthFound(width, verdict, distinct, len(clashing), len(self.odd), int(changes.sum()), recurring)

    def conflicts(self, chains: Sequence[Chain], spell: dict[int, str]) -> tuple[Conflict, ...]:
        """The odd places, each with the usual one."""
        places, found = self.places, []
        for at in self.odd[:_NAMED]:
            place = int(self.training[at])
            first, count = self.usual[int(self.numbers[place])]
            other = int(self.training[first])
            ends = [
                (chains[places.chain[one]].line, int(places.step[one]), places.labels[places.label[one]])
                for one in (place, other)
            ]
            (line, step, label), (other_line, other_step, other_label) = ends
            window = _window(places, int(places.at[place]), self.found.width, spell)
            column = int(places.column[place])
            its = int(self.counts[at])
            found.append(
                Conflict(
                    self.found.width, window, line, step, column, label, its, other_line, other_step, other_label, count
                )
            )
        return tuple(found)


def _window(places: WindowPlaces, at: int, width: int, spell: dict[int, str]) -> str:
    reach = width // 2
    last = at + (reach if places.form == "step" else 0)
    shown = [spell.get(int(token), "") for token in places.flat[max(0, at - reach) : last + 1]]
    return " ".join(filter(None, shown))


def _recurring(windows: Ints, chains: Ints) -> float:
    """The share of places whose window another chain has too; 1 if there are none."""
    if not len(windows):
        return 1.0
    numbers, inverse = np.unique(windows, return_inverse=True)
    inverse = inverse.reshape(-1)
    least, most = np.full(len(numbers), np.iinfo(np.int64).max), np.full(len(numbers), -1)
    np.minimum.at(least, inverse, chains)
    np.maximum.at(most, inverse, chains)
    return float((least < most)[inverse].mean())


def examine(name: str, chains: Sequence[Chain], tests: Sequence[Chain] = (), decoder: bool = False) -> Findings:
    """What a file of chains shows, and what a test file has that it does not show."""
    together = [*chains, *tests]
    readings = decoder_places(together) if decoder else step_places(together)
    passes = min((_passes(places, len(chains)) for places in readings), key=_badness)
    few = (one for one in passes if one.found.odd <= ODD * one.found.changes and one.found.verdict != "unknown")
    chosen = next(few, None)
    shown = chosen or passes[-1]
    spell = _spelling(together, shown.places)
    sample, lines = (None, []) if decoder else _sample(chains, passes)
    sound = None if sample is None else _without(sample, chains, chosen)
    by_width = [one.found for one in passes]
    if sample is not None:
        by_width = [_with_several(found, sample, lines) for found in by_width]
    sizes = sorted({len(move.state) for move, _ in lines})
    return Findings(
        name,
        "decoder" if decoder else "step",
        len(chains),
        sum(len(chain.states) - 1 for chain in chains),
        tuple(by_width),
        chosen.found.width if chosen else None,
        shown.conflicts(chains, spell),
        len(shown.odd),
        distance(sound, sizes) if sound is not None else None,
        len(lines),
        _gaps(shown, together, len(chains)) if tests else None,
    )


def _passes(places: WindowPlaces, training: int) -> list[_Pass]:
    """Growing widths, until one is consistent or says nothing more."""
    found = []
    own = np.flatnonzero(places.chain < training)
    for width, numbers in places.windows():
        one = _Pass(places, numbers, own)
        one.look(width)
        found.append(one)
        if one.found.verdict != "refuted":
            break
    return found


def _badness(passes: list[_Pass]) -> tuple[bool, int]:
    return passes[-1].found.verdict == "refuted", min(one.found.odd for one in passes)


def _spelling(chains: Sequence[Chain], places: WindowPlaces) -> dict[int, str]:
    """Numbers of tokens → tokens, in the order in which they were given."""
    numbers: dict[str, int] = {}
    for chain in chains:
        for state in chain.states:
            for token in (*state, ";") if places.form == "decoder" else state:
                numbers.setdefault(token, len(numbers) + 1)
    return {number: token for token, number in numbers.items()}


def _sample(chains: Sequence[Chain], passes: Sequence[_Pass]) -> tuple[Steps, Lines]:
    """Whole states with their lines: those of conflicts first, then evenly over the file."""
    wanted: dict[tuple[int, int], None] = {}
    for one in passes:
        for at in one.odd[: _STATES // 20]:
            place = int(one.training[at])
            other = int(one.training[one.usual[int(one.numbers[place])][0]])
            for each in (place, other):
                wanted[int(one.places.chain[each]), int(one.places.step[each])] = None
    total = sum(len(chain.states) for chain in chains)
    stride = max(1, total // max(1, _STATES - len(wanted)))
    lines: dict[StepMove, int] = {}
    for number, each in enumerate(moves_of(chains)):
        if number % stride == 0 or (each.chain, each.step) in wanted:
            state, after = each.move.state, each.move.after
            lines.setdefault(StepMove(state, after, labels_between(state, after), ()), chains[each.chain].line)
    kept = [(size, move) for move in lines for size in (0, len(move.state))]  # size 0 is all of them
    return kept_steps("sample", kept), list(lines.items())


def _without(sample: Steps, chains: Sequence[Chain], chosen: _Pass | None) -> Steps:
    """The sample without the steps that look like faults, which would show distances that no step has."""
    if chosen is None or not len(chosen.odd):
        return sample
    places, odd = chosen.places, chosen.training[chosen.odd]
    faults = set(zip(places.chain[odd].tolist(), places.step[odd].tolist(), strict=True))
    moves = (each.move for each in moves_of(chains) if (each.chain, each.step) in faults)
    wrong = {(move.state, move.after) for move in moves}
    kept = lambda size: ([m for m in chain if (m.state, m.after) not in wrong] for chain in sample.chains(size))  # noqa: E731
    return replace(sample, chains=kept)


def _with_several(found: WidthFound, sample: Steps, lines: Lines) -> WidthFound:
    """Whether several windows are refuted as well, in the states that were kept whole."""
    if found.verdict != "refuted" or found.width == 1:
        return found
    result = consistency(sample, found.width, [0], MOST)
    witness, states = result.witness, len(lines)
    if witness is None:
        return replace(found, several=result.n, states=states)
    ends = (
        (witness.state, witness.position, witness.label),
        (
            witness.other_state,
            witness.other_position,
            witness.other_label,
        ),
    )
    one, other = (
        next(line for move, line in lines if move.state == state and move.labels[at] == label)
        for state, at, label in ends
    )
    return replace(found, lines=(one, other), states=states)


def _gaps(one: _Pass, chains: Sequence[Chain], training: int) -> Gaps:
    """What the test chains, those after the first `training`, have that these do not show."""
    places, width = one.places, one.found.width
    tested = np.flatnonzero(places.chain >= training)
    own, its = one.numbers[one.training], one.numbers[tested]
    distinct = np.unique(its)
    unseen = distinct[~np.isin(distinct, own)]
    missing = np.isin(its, unseen)
    needs: dict[int, set[int]] = {}
    for chain, window in zip(places.chain[tested][missing].tolist(), its[missing].tolist(), strict=True):
        needs.setdefault(chains[chain].line, set()).add(window)
    labels = len(places.labels)
    known = np.isin(its, own) & ~np.isin(its * labels + places.label[tested], own * labels + places.label[one.training])
    against = [(chains[int(places.chain[at])].line, int(places.step[at])) for at in tested[known][:_NAMED].tolist()]
    lacking = len(np.unique(places.chain[tested][missing]))
    lines = tuple(sorted(cover(needs)))
    seen = len(distinct) - len(unseen)
    return Gaps(width, len(distinct), seen, lacking, len(chains) - training, lines, tuple(against), int(known.sum()))


def cover(needs: dict[int, set[int]]) -> list[int]:
    """A few keys whose sets together hold everything in any of them: the one that adds most is taken next, so there are
    at most ln(largest set) + 1 times as many as needed."""
    left = set().union(*needs.values()) if needs else set()
    queue = [(-len(windows), key) for key, windows in needs.items()]
    heapq.heapify(queue)
    chosen = []
    while left:
        before, key = heapq.heappop(queue)
        adds = len(needs[key] & left)
        if adds == -before:
            chosen.append(key)
            left -= needs[key]
        elif adds:
            heapq.heappush(queue, (-adds, key))
    return chosen
