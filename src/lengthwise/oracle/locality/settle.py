"""The locality of a formulation: R, the windows that settle a step and where a chain stops, a proof where there is one.

A model that is run on its own output has to leave a finished state as it is, or to end its text. A layout whose every
step is local can still fail there: a mark that flips at each step flips forever unless the whole state is seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.bimachine import WindowProof, prove
from lengthwise.oracle.locality.consistency import Consistency, Verdict, consistency
from lengthwise.oracle.locality.machines import MachineCheck, compare, machine_of
from lengthwise.oracle.locality.steps import Steps, formulation_steps, is_end, without_ends
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.formulation import Column, Formulation, StepMove

Growth = Literal["finite", "infinite", "unknown"]
Spread = tuple[int, str, dict[str, Any]]  # a distance, and the sentence that says where it is found with its values
WIDTHS = (1, 3, 5, 7, 9, 11)
_LONG = 4  # instances ten times as long on which a bimachine is compared with the step
XIAO = Reference("xiao2024", "maximal input element distance R, Theorem 3.5")
_OF_BOUNDS = {"finite": "at_least", "infinite": "spreads"}  # how a lower bound says that R is
BOUND_RESTS_ON = ("locality.one_step_each", "locality.schedule_near")  # assumptions of a lower bound on R
explain(
    {
        "locality.distance": "{name}: R, the largest distance between two columns that enter one step",
        "locality.distance_bound": "{name}: a lower bound on R, the largest distance between two columns that enter "
        "one step",
        "locality.distance_continues": "R continues beyond the sizes examined as it did on the last of them",
        "locality.one_step_each": "every column takes part in at most one step",
        "locality.schedule_near": "whether a step is taken depends only on columns near it",
        "locality.distance_finite": "R is {value}, and the last {lasting} sizes add nothing to it ({numbers}).",
        "locality.distance_at_least": "R is at least {value}, if whether a step is taken depends only on columns near "
        "it, and the last {lasting} sizes add nothing to that ({numbers}).",
        "locality.distance_infinite": "R grows with the size ({numbers}).",
        "locality.distance_spreads": "Labels depend on columns farther and farther away, so R grows with the size "
        "({numbers}), if whether a step is taken depends only on columns near it.",
        "locality.distance_unknown": "R shows no clear tendency ({numbers}).",
        "locality.spread": "{spread} at size {size}",
        "locality.made_from": "In `{state}` the column in brackets is computed from columns {first} and {last} of the "
        "previous state.",
        "locality.changes_with": "`{one}` and `{other}` differ only in the column in brackets, yet the label at column "
        "{at} is {label!r} in one and {other_label!r} in the other.",
        "locality.machine_checked": "the bimachine is the step, and its domain contains the states (checked on "
        "{states} states, all up to size {up_to} and long random ones)",
        "locality.stopping": "{name}: stopping is local",
        "locality.no_end": "No chain ends in these steps, so stopping is not judged.",
        "locality.stops_alike": "The same windows settle where to stop.",
        "locality.steps_unsettled": "Windows do not settle the steps before the last either.",
        "locality.stop_unknown": "{windows} every step before the last; for the last this is not known.",
        "locality.stop_unsettled": "No windows settle where to stop; {windows} every step before that.",
        "locality.one_settles": "one window of {r} columns settles",
        "locality.several_settle": "{n} windows of {r} columns settle",
    }
)


@dataclass(frozen=True)
class Distance:
    """R by size. `bound` says that the numbers are lower bounds, found without knowing the sources of a step. `growth`
    is "finite" when the last `lasting` sizes raise R no further, "infinite" when they do, and "unknown" when there are
    fewer sizes: an observation on these sizes, not a proof."""

    name: str
    by_size: tuple[tuple[int, int], ...]
    growth: Growth
    lasting: int
    bound: bool
    example: str

    @property
    def value(self) -> int | None:
        """R where it is finite."""
        return max((spread for _, spread in self.by_size), default=0) if self.growth == "finite" else None

    def claim(self) -> Claim:
        value = {"finite": self.value, "infinite": "infinite", "unknown": None}[self.growth]
        status = "unknown" if self.growth == "unknown" or (self.bound and self.growth == "finite") else "holds"
        keys = ["locality.distance_continues", *(BOUND_RESTS_ON if self.bound else ())]
        given = tuple(map(Assumption, keys))
        evidence = {"name": self.name, "by_size": dict(self.by_size), "example": self.example}
        key = "locality.distance_bound" if self.bound else "locality.distance"
        return Claim(key, value, "columns", "measured", status, None, given, XIAO, evidence)

    def explain(self) -> list[str]:
        spreads = [sentence("locality.spread", {"spread": spread, "size": size}) for size, spread in self.by_size]
        growth = _OF_BOUNDS.get(self.growth, self.growth) if self.bound else self.growth
        values = {"value": self.value, "lasting": self.lasting, "numbers": ", ".join(spreads)}
        return [sentence(f"locality.distance_{growth}", values), *filter(None, [self.example])]


def distance(steps: Steps, sizes: Iterable[int], lasting: int = 3) -> Distance:
    """R by size from the sources of the steps, or where they are not known a lower bound of it.

    The bound compares states that differ in one column: if the label at i changes when column j does, then i's label
    is read off a window that reaches |i - j| far, and where R is finite and a column takes part in at most one step a
    window of radius 2R is enough (Theorem 3.5), so that R >= |i - j| / 2. The theorem is false where a step that is far
    away decides whether this one is taken: erasing the leftmost 1 has R = 0. So that is assumed too.
    """
    by_size, example, widest = [], "", 0
    for size in sizes:
        spreads = _by_sources(steps.moves(size)) if steps.sourced else _by_comparison(steps.moves(size))
        largest = 0
        for spread, key, values in spreads:
            largest = max(largest, spread)
            if spread > widest:
                shown = {name: written(*value) if type(value) is tuple else value for name, value in values.items()}
                widest, example = spread, sentence(key, shown)
        by_size.append((size, largest))
    return Distance(steps.name, tuple(by_size), _growth(by_size, lasting), lasting, not steps.sourced, example)


def _growth(by_size: list[tuple[int, int]], lasting: int) -> Growth:
    """Of the largest R up to each size: a size may show less, as in a sample."""
    last = list(itertools.accumulate((spread for _, spread in by_size), max))[-lasting:]
    if len(last) < lasting:
        return "unknown"
    if len(set(last)) == 1:
        return "finite"
    return "infinite"  # a layout of two lines may widen at every second size only


def _by_sources(moves: Iterable[StepMove]) -> Iterator[Spread]:
    for move in moves:
        for place, sources in enumerate(move.sources):
            if len(sources) > 1:
                first, last = sources[0], sources[-1]
                values = {"state": (move.after, place), "first": first + 1, "last": last + 1}
                yield last - first, "locality.made_from", values


def _by_comparison(moves: Iterable[StepMove]) -> Iterator[Spread]:
    """Half the distance, rounded up, between a column and a label that changes with it."""
    by_length: dict[int, list[StepMove]] = {}
    for move in {move.state: move for move in moves}.values():
        by_length.setdefault(len(move.state), []).append(move)
    for group in by_length.values():
        for place, one, other in _neighbours(group):
            for at, (label, other_label) in enumerate(zip(one.labels, other.labels, strict=True)):
                if label != other_label and at != place and None not in (label, other_label):
                    states = {"one": (one.state, place), "other": (other.state, place), "at": at + 1}
                    values = {**states, "label": label, "other_label": other_label}
                    yield (abs(at - place) + 1) // 2, "locality.changes_with", values


def _neighbours(moves: Sequence[StepMove]) -> Iterator[tuple[int, StepMove, StepMove]]:
    """A place, and two of these states of one length that differ there only, the first such state and a later one.
    Their columns are compared by sums with random weights, so that long states need no more room than they take."""
    numbers: dict[Column, int] = {}
    rows = [[numbers.setdefault(column, len(numbers) + 1) for column in move.state] for move in moves]
    states = np.array(rows, dtype=np.uint64)
    weights = np.random.default_rng(0).integers(0, 2**64, states.shape[1], dtype=np.uint64)
    sums = states @ weights
    for place, weight in enumerate(weights):
        rests = sums - states[:, place] * weight
        _, first, inverse, counts = np.unique(rests, return_index=True, return_inverse=True, return_counts=True)
        for other in np.flatnonzero(counts[inverse] > 1).tolist():
            one = int(first[inverse[other]])
            if np.flatnonzero(states[one] != states[other]).tolist() == [place]:
                yield place, moves[one], moves[other]


@dataclass(frozen=True)
class Locality:
    """Everything found about one formulation. `by_width` has one entry for each width examined, narrow to wide."""

    name: str
    distance: Distance
    by_width: tuple[Consistency, ...]
    proof: WindowProof | None = None
    comparison: MachineCheck | None = None

    @property
    def best(self) -> Consistency | None:
        """The fewest windows, and of these the narrowest; a width whose windows were all seen goes before others."""
        settled = [found for found in self.by_width if found.settled]
        return min(settled, key=lambda found: (found.least_size is None, found.n or 0, found.r), default=None)

    @property
    def verdict(self) -> Verdict | None:
        """PROVED by a bimachine; CONSISTENT with the best windows; REFUTED at every width that the sizes can judge, one
        of which is wider than a column; None: unknown, as when the number of windows grows."""
        if self.proof is not None and self.proof.radius is not None:
            return "PROVED"
        if self.best is not None:
            return "CONSISTENT"
        judged = [found for found in self.by_width if not found.thin]
        refuted = all(found.verdict == "REFUTED" for found in judged) and any(found.r > 1 for found in judged)
        return "REFUTED" if refuted else None

    @property
    def window(self) -> tuple[int, int] | None:
        """(n, r): the proved one where there is one, else the best one found."""
        if self.proof is not None and self.proof.r is not None:
            return 1, self.proof.r
        return None if self.best is None or self.best.n is None else (self.best.n, self.best.r)

    def claim(self) -> Claim:
        """The deciding one: the proof, the best window, or the last width."""
        if self.proof is not None:
            looked = self.comparison and Assumption("locality.machine_checked", "checked", vars(self.comparison))
            return self.proof.claim(self.name, looked)
        return (self.best or self.by_width[-1]).claim() if self.by_width else self.distance.claim()

    def explain(self) -> list[str]:
        parts = (self.distance, *([self.proof] if self.proof is not None else []), *self.by_width)
        return [line for part in parts for line in part.explain()]


def settle(
    subject: Formulation | Steps,
    sizes: Sequence[int],
    widths: Sequence[int] = WIDTHS,
    most: int = 4,
    steps: Steps | None = None,
    finished: bool = False,
    further: Sequence[int] = (),
) -> Locality:
    """R, and for growing widths how many windows settle a step, until one window does or the states are too short.

    The steps of a formulation are all of these sizes, unless others are given as `steps`. `finished` counts leaving a
    finished state as it is as a step too, which a model that is run on its own output has to know.
    What is settled at these sizes is tested at the `further` ones, and counts only if it is settled there too.
    A formulation with a known bimachine is also proved or refuted for all sizes, without further ones; its bimachine is
    compared with the step at these sizes and on random states ten times as long.
    """
    machine = machine_of(subject, finished) if isinstance(subject, Formulation) else None
    steps = steps or (formulation_steps(subject, finished=finished) if isinstance(subject, Formulation) else subject)
    found = []
    for r in widths:
        found.append(consistency(steps, r, sizes, most))
        if (found[-1].settled or found[-1].thin) and further and machine is None:
            found[-1] = consistency(steps, r, [*sizes, *further], most)
        if found[-1].thin or (found[-1].settled and found[-1].n == 1):
            break
    proof = comparison = None
    if isinstance(subject, Formulation) and machine is not None:
        comparison = compare(machine, steps, sizes)
        compare(machine, formulation_steps(subject, _LONG, finished=finished), [10 * max(sizes)])
        proof = prove(machine)
    return Locality(steps.name, distance(steps, sizes), tuple(found), proof, comparison)


@dataclass(frozen=True)
class Stopping:
    """`local`: windows settle where to stop; None: not known. `steps` is the locality of the steps without their ends,
    where this is what differs; `reason` is the key of the sentence that says why."""

    local: bool | None
    reason: str
    steps: Locality | None = None

    @property
    def sentence(self) -> str:
        n, r = (self.steps and self.steps.window) or (0, 0)
        windows = sentence("locality.one_settles" if n == 1 else "locality.several_settle", {"n": n, "r": r})
        text = sentence(self.reason, {"windows": windows})
        return text[:1].upper() + text[1:]

    def claim(self, name: str) -> Claim:
        status = "unknown" if self.local is None else "holds" if self.local else "refuted"
        evidence = {"name": name, "note": self.sentence}
        return Claim("locality.stopping", self.local, "", "measured", status, evidence=evidence)


def stopping(
    found: Locality,
    steps: Steps,
    sizes: Sequence[int],
    widths: Sequence[int] = WIDTHS,
    most: int = 4,
    further: Sequence[int] = (),
) -> Stopping:
    """Whether stopping is local, given the locality of the steps with their ends, found at these sizes and `further`
    ones. At the same sizes, steps that are settled without their ends and refuted with them are refuted by an end."""
    if not any(is_end(move) for size in sizes for move in steps.moves(size)):
        return Stopping(None, "locality.no_end")
    if found.window is not None:
        return Stopping(True, "locality.stops_alike")
    inner = settle(without_ends(steps), sizes, widths, most, further=further)
    if inner.window is None:
        return Stopping(None, "locality.steps_unsettled")
    if found.verdict != "REFUTED":
        return Stopping(None, "locality.stop_unknown", inner)
    return Stopping(False, "locality.stop_unsettled", inner)
