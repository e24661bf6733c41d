"""Search for a repair: try the candidates, write the file of the best, and check that file and nothing else.

One window is preferred to several, and fewer tokens per state to more. What is said of the repaired layout is what was
found about the file that was written: its windows by the same decision as for any layout, and that its answers are
those of the original on every first state examined.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lengthwise.errors import OutOfReach, UsageError
from lengthwise.limits import time_limit
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.bimachine import prove
from lengthwise.oracle.locality.consistency import consistency
from lengthwise.oracle.locality.machines import compare
from lengthwise.oracle.locality.own import Own, function_steps, settle_own
from lengthwise.oracle.locality.repairs.candidates import SweepFound, encodings, sweeps
from lengthwise.oracle.locality.repairs.original import Broken, sizes_examined
from lengthwise.oracle.locality.repairs.proof import machine_of_sweep
from lengthwise.oracle.locality.repairs.shapes import State, columns
from lengthwise.oracle.locality.repairs.writing import file_text
from lengthwise.oracle.locality.settle import Locality
from lengthwise.oracle.locality.steps import Steps, remembered
from lengthwise.progress import Progress, silent
from lengthwise.records import Assumption, Claim
from lengthwise.registry import allow_code
from lengthwise.tasks.formulations.between import labels_between, written
from lengthwise.tasks.formulations.formulation import StepMove
from lengthwise.tasks.formulations.functions import Functions
from lengthwise.trust import module_in

LONG, LONG_STARTS, LONG_SECONDS = 10, 20, 30.0  # times the largest size; first states of it; time for them
_WIDTHS = (3, 5, 7)
_FEW = 150  # first states of a size at which the original was not examined
_LEAST = 8  # a sweep is checked up to this size at least
_LINES = 8  # states of an example
explain(
    {
        "repair.Sweep": "aligned columns, filled from left to right, one per step{carried}",
        "repair.carried": "; a row carries along one of {states} values, which the answer's tokens do not show",
        "repair.Stacked": "segments one above the other, so that columns of equal index share a column",
        "repair.Numbered": "equal marks are numbered, so that each has its own",
        "repair.Marked": "a mark on every column that the next step changes",
        "repair.Pointed": "a pointer that moves one column per step to the next change",
        "repair.before_one": "One window of {r} columns settles every step already: there is nothing to repair.",
        "repair.before_several": "{n} windows of {r} columns settle every step{scope}.",
        "repair.before_none": "No number of windows settles the steps, for every width that could be judged.",
        "repair.before_unknown": "Whether windows settle the steps is not known.",
        "repair.none": "Unknown: none of {tried} candidates has the same answers and is settled by fewer windows at "
        "the sizes examined. "
        "Another layout might be.",
        "repair.proved": "Proved: one window of {r} columns settles every step at every size, if the answers at larger "
        "sizes are written by the same machine ({machine}); it was compared with the file on {compared:,} "
        "states up to size {up_to}.",
        "repair.one_state": "1 state",
        "repair.states": "{states} states",
        "repair.consistent": "{windows} every step in the states up to size {up_to}; larger sizes were not proved.",
        "repair.answers": "answers of the repaired layout equal those of the original",
        "repair.answers_said": "Answers: equal to those of the original on all {starts:,} first states examined, up to "
        "size {up_to}.",
        "repair.long": "At size {size}, on {starts} chains: the same windows settle every step, and the answers are "
        "equal.",
        "repair.alike": "{said} Their first states are among the first that starts({size}) lists, which may be alike; "
        "define draw(size, random) to try random ones.",
        "repair.no_long": "Larger sizes were not tried: their chains take too long, or the layout has none.",
        "repair.tokens": "tokens per state at size {size}",
        "repair.steps": "steps per chain at size {size}",
        "repair.cost": "Cost at size {size}: {before:.1f} → {after:.1f} tokens per state, {steps:.1f} → "
        "{steps_after:.1f} steps per chain.",
    }
)


@dataclass(frozen=True)
class LayoutCost:
    """Tokens per state and steps per chain, on average over the first states of a size."""

    size: int
    tokens: float
    steps: float


@dataclass(frozen=True)
class Repaired:
    """What was found about the file of a repaired layout. `compared` states of it agree with the machine of `states`
    states that the proof is about; both are 0 where there is none. `long` is a larger size and how many of its chains
    were tried, None where they took too long; these are `alike` if they are among the first of a long list."""

    how: str
    source: str
    locality: Locality
    up_to: int
    starts: int
    costs: tuple[LayoutCost, LayoutCost]
    states: int
    compared: int
    long: tuple[int, int] | None
    alike: bool
    example: tuple[str, ...]

    def proof(self) -> str:
        n, r = self.locality.window or (0, 0)
        if self.locality.proof is not None:
            machine = sentence("repair.one_state" if self.states == 1 else "repair.states", {"states": self.states})
            return sentence("repair.proved", {"r": r, "machine": machine, **vars(self)})
        windows = sentence("locality.one_settles" if n == 1 else "locality.several_settle", {"n": n, "r": r})
        return sentence("repair.consistent", {"windows": windows[:1].upper() + windows[1:], "up_to": self.up_to})

    def explain(self) -> list[str]:
        before, after = self.costs
        cost = {"size": before.size, "before": before.tokens, "after": after.tokens}
        size, starts = self.long or (0, 0)
        long = sentence("repair.long" if self.long else "repair.no_long", {"size": size, "starts": starts})
        if self.alike:
            long = sentence("repair.alike", {"said": long, "size": size})
        return [
            self.proof(),
            sentence("repair.answers_said", {"starts": self.starts, "up_to": self.up_to}),
            long,
            sentence("repair.cost", {**cost, "steps": before.steps, "steps_after": after.steps}),
        ]

    def claims(self) -> list[Claim]:
        given = (Assumption("locality.larger_sizes", values={"up_to": self.up_to}),)
        evidence = {"starts": self.starts, "up_to": self.up_to, "long": self.long}
        costs = [
            Claim(key, getattr(self.costs[1], name), "", "measured", "holds", evidence=vars(cost) | {"before": before})
            for key, name in (("repair.tokens", "tokens"), ("repair.steps", "steps"))
            for cost, before in [(self.costs[1], getattr(self.costs[0], name))]
        ]
        answers = Claim("repair.answers", True, "", "measured", "holds", None, given, evidence=evidence)
        return [self.locality.claim(), answers, *costs]


@dataclass(frozen=True)
class Repair:
    """The layout as it was and, where one was found, the repaired one; `tried` candidates were looked at."""

    name: str
    before: Locality
    repaired: Repaired | None
    tried: int

    @property
    def needed(self) -> bool:
        """Whether there was anything to repair."""
        return self.before.window is None or self.before.window[0] > 1

    def explain(self) -> list[str]:
        key = {None: "unknown", "REFUTED": "none"}.get(self.before.verdict, "several" if self.needed else "one")
        n, r = self.before.window or (0, 0)
        best = self.before.best
        scope = f" in {best.scope}" if best is not None and self.before.proof is None else ""
        lines = [sentence(f"repair.before_{key}", {"n": n, "r": r, "scope": scope})]
        if self.repaired is not None:
            return [*lines, *self.repaired.explain()]
        return [*lines, sentence("repair.none", {"tried": self.tried})] if self.needed else lines

    def plain(self) -> dict[str, Any]:
        found = self.repaired
        return {
            "name": self.name,
            "needed": self.needed,
            "before": {"verdict": self.before.verdict, "window": self.before.window},
            "tried": self.tried,
            "repaired": None
            if found is None
            else {
                **{name: getattr(found, name) for name in ("how", "up_to", "starts", "states", "compared")},
                **{name: getattr(found, name) for name in ("long", "alike")},
                "verdict": found.locality.verdict,
                "window": found.locality.window,
                "costs": [vars(cost) for cost in found.costs],
                "claims": [claim.plain() for claim in found.claims()],
                "example": list(found.example),
                "source": found.source,
            },
        }


def repair(broken: Broken, progress: Progress = silent) -> Repair:
    """Search and check; `progress` is told of every candidate."""
    window = broken.before.window
    if window is not None and window[0] == 1:
        return Repair(broken.name, broken.before, None, 0)
    most = window[0] if window else 5
    tried = 0
    for made, found in _ranked(broken, most, progress):
        tried += 1
        if found is not None:
            repaired = _checked(broken, made, found)
            if repaired is not None:
                return Repair(broken.name, broken.before, repaired, tried)
    return Repair(broken.name, broken.before, None, tried)


def _ranked(broken: Broken, most: int, progress: Progress) -> Iterator[tuple[Any, SweepFound | bool | None]]:
    """Candidates with what was found about them, those to be checked at once when they are known to be the best.

    A layout that appends is swept first, since its steps stay what they are; for others the states are written in
    another way first, which keeps the steps too."""
    appends = all(
        move.after == move.state or len(move.after) == len(move.state) + 1
        for size in broken.sizes[:4]
        for move in broken.steps.moves(size)
    )
    told = itertools.count(1)

    def swept() -> Iterator[tuple[Any, SweepFound | bool | None]]:
        good: list[SweepFound] = []
        for found in sweeps(broken):
            progress(sentence("repair.Sweep", {"carried": ""}), next(told), 0)
            if found is not None:
                good.append(found)
                if found.sweep.carried is None:
                    break
            else:
                yield None, None
        for found in sorted(good, key=lambda one: (one.sweep.carried is not None, one.machine.states)):
            yield found.sweep, found

    def encoded() -> Iterator[tuple[Any, SweepFound | bool | None]]:
        good = []
        for made in encodings(broken):
            progress(sentence(f"repair.{type(made).__name__}"), next(told), 0)
            n = _windows(broken, made)
            if n is not None and n < most:
                good.append((n, made))
                if n == 1:
                    break
            else:
                yield made, None
        for _, made in sorted(good, key=lambda pair: pair[0]):
            yield made, True

    yield from itertools.chain(swept(), encoded()) if appends else itertools.chain(encoded(), swept())


def _windows(broken: Broken, made: Any) -> int | None:
    """How many windows settle the steps of a candidate at the sizes examined."""
    step, begin = lambda state: made.step(columns(state), broken.original), lambda s: made.begin(s, broken.original)
    try:
        own = _own(broken, step, begin)
        sizes, further = sizes_examined(own.steps)
        found, _ = settle_own(own, sizes, _WIDTHS, further)
    except (UsageError, ValueError):
        return None
    return found.window[0] if found.window else None


def _own(broken: Broken, step: Callable[[Any], Any], begin: Callable[[State], State]) -> Own:
    """A repaired layout, from the first states of the original that are looked at."""
    functions = Functions(broken.name, step, lambda size: [begin(start) for start in _looked_at(broken, size)])
    return Own(remembered(function_steps(functions)), remembered(function_steps(functions, "right")))


def _looked_at(broken: Broken, size: int) -> list[State]:
    """The first states of a size that a repaired layout is checked on: fewer where the original was not examined."""
    starts = broken.starts(size)
    return starts if size in broken.sizes else starts[:_FEW]


def _checked(broken: Broken, made: Any, found: SweepFound | bool) -> Repaired | None:
    """The file of a candidate, loaded and examined; None if anything about it is not as it should be."""
    kind = type(made).__name__
    carried = ""
    if isinstance(found, SweepFound) and found.sweep.carried is not None:
        carried = sentence("repair.carried", {"states": found.machine.states})
    how = sentence(f"repair.{kind}", {"carried": carried})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "repaired.py")
        Path(path).write_text(file_text(broken, made, how, ""), encoding="utf-8")
        allow_code(path)
        names = vars(module_in(path))
    try:
        return _examined(broken, made, found, how, names)
    except UsageError:  # a larger size has what it cannot write
        return None


def _examined(broken: Broken, made: Any, found: SweepFound | bool, how: str, names: dict[str, Any]) -> Repaired | None:
    own = _own(broken, names["step"], lambda start: _begun(names, names["repair"], start))
    sizes, further = sizes_examined(own.steps)
    machine = machine_of_sweep(found.sweep, found.machine) if isinstance(found, SweepFound) else None
    proof = machine and prove(machine)
    if proof is not None and proof.r is not None:  # states have to be longer than two windows
        reaching = [size for size in range(1, max(sizes[-1], _LEAST) + 2) if any(own.steps.moves(size))]
        sizes, further = tuple(reaching[:-1]), tuple(reaching[-1:])
    locality, steps = settle_own(own, sizes, (proof.r,) if proof and proof.r else _WIDTHS, further)
    proved = proof is not None and proof.r is not None and locality.by_width[-1].verdict != "REFUTED"
    if locality.window is None and not proved:  # a sample in which windows seldom recur refutes no proof
        return None
    states = compared = 0
    if isinstance(found, SweepFound) and machine is not None and proof is not None:
        check = compare(machine, steps, [*sizes, *further])
        states, compared = found.machine.states, check.states
        locality = replace(locality, proof=proof if proof.radius is not None else None, comparison=check)
    if not all(_same(broken, names, size) for size in (*sizes, *further)):
        return None
    starts = sum(len(_looked_at(broken, size)) for size in (*sizes, *further))
    long = _long(broken, names, locality, steps, sizes)
    if long is not None and not long[1]:
        return None
    begun = [_begun(names, names["repair"], start) for start in broken.starts(sizes[-1])]
    costs = (
        _cost(broken.original.step, broken.starts(sizes[-1]), sizes[-1]),
        _cost(names["step"], begun, sizes[-1]),
    )
    first = broken.starts(min(sizes[-1], 3))[-1]
    example = tuple(written(state) for state in _chain(names["step"], _begun(names, made, first))[:_LINES])
    up_to = max((*sizes, *further))
    alike = long is not None and long[0] in broken.cut
    repaired = Repaired(how, "", locality, up_to, starts, costs, states, compared, long, alike, example)
    return replace(repaired, source=file_text(broken, made, how, repaired.proof()))


def _begun(names: dict[str, Any], made: Any, start: State) -> State:
    return made.begin(start) if type(made).__name__ == "Sweep" else made.begin(start, names["original"])


def _chain(step: Callable[[Any], Any], start: State) -> list[State]:
    chain, after = [start], step(start)
    while after is not None:
        chain.append(columns(after))
        after = step(chain[-1])
    return chain


def _same(broken: Broken, names: dict[str, Any], size: int) -> bool:
    """Whether every chain of a size that is examined ends with the answer of the original."""
    return all(_answered(broken, names, start) for start in _looked_at(broken, size))


def _answered(broken: Broken, names: dict[str, Any], start: State) -> bool:
    made = names["repair"]
    begun = _begun(names, made, start)
    return columns(names["answer"](_chain(names["step"], begun)[-1])) == broken.original.final(start)


def _long(
    broken: Broken, names: dict[str, Any], locality: Locality, steps: Steps, sizes: Sequence[int]
) -> tuple[int, int] | None:
    """A larger size and how many chains of it were tried: 0 if the windows do not settle them, an answer differs or
    none can be written."""
    size, (n, r), reached = LONG * sizes[-1], locality.window or (1, 1), False
    try:
        with time_limit("the check of a repair", LONG_SECONDS, always=True):
            starts = broken.original.some(size, LONG_STARTS)
            reached = bool([broken.original.final(start) for start in starts])
            if not reached:
                return None
            chains = [_chain(names["step"], _begun(names, names["repair"], start)) for start in starts]
            same = all(_answered(broken, names, start) for start in starts)
    except OutOfReach:
        return None
    except Exception:  # of the user's layout, or of this file where a larger size has what it cannot write
        return (size, 0) if reached else None
    moves = [
        [StepMove(one, two, labels_between(one, two), ()) for one, two in itertools.pairwise([*chain, chain[-1]])]
        for chain in chains
    ]
    both = replace(steps, chains=lambda at: moves if at == size else steps.chains(at))
    found = consistency(both, r, [*sizes, size], most=max(2, n))
    return size, len(starts) if same and found.n is not None and found.n <= n else 0


def _cost(step: Callable[[Any], Any], starts: Sequence[State], size: int) -> LayoutCost:
    chains = [_chain(step, start) for start in starts]
    states = [state for chain in chains for state in chain]
    tokens = sum(len(column) for state in states for column in state) / len(states)
    return LayoutCost(size, tokens, sum(len(chain) - 1 for chain in chains) / len(chains))
