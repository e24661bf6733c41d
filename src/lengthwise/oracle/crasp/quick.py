"""A quick test that every language of C-RASP[] passes, on the syntactic monoid.

The monoid of the actions of words on the states of the minimal automaton must be aperiodic (no word moves states around
a cycle of several) and no R-class (actions that lead to each other by appending words) may hold two idempotents.
Failing proves that the language is outside C-RASP[]; passing shows nothing: (ab|bba)* passes and is outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import Word, component_numbers, spell, spelled
from lengthwise.tasks.languages.dfa import Dfa

MOST_ELEMENTS = 20_000
MOST_WORK = 20_000_000  # entries touched while the sets of one length are followed

Maps = NDArray[np.int32]
explain(
    {
        "crasp.quick_skipped": "The quick test was not run: words act in more than {most:,} ways.",
        "crasp.quick_passed": "The quick test is passed, which is necessary for a C-RASP[] program but not sufficient.",
        "crasp.quick_failed": "The quick test fails, so no C-RASP[] program exists.",
        "crasp.repetition": "{word} takes the automaton from state {around}: it counts modulo {modulus}.",
        "crasp.idempotents": "Reading {left} or {right} twice has the same effect as reading it once, and {left} "
        "followed by {right} acts as {right} alone, and the other way round; yet from state {state} they lead to "
        "different states, so the last word decides.",
    }
)


@dataclass(frozen=True)
class Monoid:
    """`maps[x]` is where element x takes each state; element 0 is the identity; `onward[x, a]` is x and then letter a.
    Element x is the action of the letters found by following `came` (element before, letter) back to 0."""

    maps: Maps
    onward: NDArray[np.int64]
    came: tuple[tuple[int, int], ...]

    def word(self, element: int) -> tuple[int, ...]:
        """A shortest word, as letter numbers, that acts as the element."""
        letters = []
        while element:
            element, letter = self.came[element]
            letters.append(letter)
        return tuple(reversed(letters))

    def idempotents(self, elements: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """Those of the elements that do once what they do twice."""
        chosen = self.maps[np.asarray(elements, dtype=np.int64)]
        twice = np.take_along_axis(chosen, chosen.astype(np.int64), axis=1)
        return [int(x) for x, same in zip(elements, (twice == chosen).all(axis=1), strict=True) if same]

    def circles(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Every element and several states that it takes around: each to the next, the last to the first."""
        for element, action in enumerate(self.maps.tolist()):
            seen: set[int] = set()
            for state in range(len(action)):
                path = []
                while state not in seen:
                    seen.add(state)
                    path.append(state)
                    state = action[state]
                if state in path and len(circle := path[path.index(state) :]) > 1:
                    yield element, tuple(circle)


def transition_monoid(dfa: Dfa, most: int = MOST_ELEMENTS) -> Monoid | None:
    """All actions of words, breadth-first; None when there are more than `most`. O(elements x letters x states)."""
    letters = np.asarray(dfa.transitions, dtype=np.int32).T
    identity = np.arange(len(dfa.transitions), dtype=np.int32)
    number = {identity.tobytes(): 0}
    maps, came, onward = [identity], [(0, 0)], []
    for here, current in enumerate(maps):  # grows while it is read
        row = []
        for letter, action in enumerate(letters):
            reached = action[current]
            key = reached.tobytes()
            if key not in number:
                if len(number) >= most:
                    return None
                number[key] = len(maps)
                maps.append(reached)
                came.append((here, letter))
            row.append(number[key])
        onward.append(row)
    return Monoid(np.stack(maps), np.asarray(onward, dtype=np.int64), tuple(came))


@dataclass(frozen=True)
class Stable:
    """The actions of words of length `index`, which are also those of length 2 x, 3 x, ... `index`. They form a
    semigroup. The sets of actions of words of length 1, 2, 3, ... repeat with the period `period`."""

    monoid: Monoid
    index: int
    period: int
    elements: NDArray[np.int64]

    def word(self, element: int) -> tuple[int, ...]:
        """A word of exactly `index` letters, as letter numbers, that acts as the element."""
        layers = [np.zeros(1, dtype=np.int64)]
        for _ in range(self.index):
            layers.append(np.unique(self.monoid.onward[layers[-1]]))
        letters = []
        for layer in reversed(layers[:-1]):
            before, letter = np.argwhere(self.monoid.onward[layer] == element)[0]
            letters.append(int(letter))
            element = int(layer[before])
        return tuple(reversed(letters))


def stable_semigroup(monoid: Monoid, most: int = MOST_WORK) -> Stable | None:
    """The set S of actions of words of length s with the smallest s > 0 for which length 2 s gives the same set. None
    when finding it would touch more than `most` entries. The sets follow each other by one rule, so once one returns
    they are periodic; s is the first multiple of the period that lies where they are."""
    layer, layers, first, work = np.zeros(1, dtype=np.int64), [], {}, 0
    while (key := layer.tobytes()) not in first:
        first[key] = len(layers)
        layers.append(layer)
        work += layer.size * monoid.onward.shape[1]
        if work > most:
            return None
        layer = np.unique(monoid.onward[layer])
    begins = first[key]
    period = len(layers) - begins
    index = max(1, -(-begins // period)) * period
    return Stable(monoid, index, period, layers[begins + (index - begins) % period])


@dataclass(frozen=True)
class Repetition:
    """A word that moves states around a cycle: `cycle[i]` goes to `cycle[i + 1]`, the last to the first."""

    word: Word
    cycle: tuple[int, ...]

    def explain(self) -> str:
        around = " to ".join(map(str, (*self.cycle, self.cycle[0])))
        values = {"word": spelled(self.word), "around": around, "modulus": len(self.cycle)}
        return sentence("crasp.repetition", values)


@dataclass(frozen=True)
class TwoIdempotents:
    """Two words that do once what they do twice and act differently; each followed by the other acts as the other."""

    left: Word
    right: Word
    state: int

    def explain(self) -> str:
        values = {"left": spelled(self.left), "right": spelled(self.right), "state": self.state}
        return sentence("crasp.idempotents", values)


@dataclass(frozen=True)
class QuickTest:
    """`passes` is None when the monoid is too large to examine."""

    passes: bool | None
    witness: Repetition | TwoIdempotents | None

    def explain(self) -> list[str]:
        if self.passes is None:
            return [sentence("crasp.quick_skipped", {"most": MOST_ELEMENTS})]
        if self.witness is None:
            return [sentence("crasp.quick_passed")]
        return [sentence("crasp.quick_failed"), self.witness.explain()]


def quick_test(dfa: Dfa, most: int = MOST_ELEMENTS) -> QuickTest:
    """O(elements x (letters + states)); at most `most` elements are examined."""
    minimal = dfa.minimised()
    monoid = transition_monoid(minimal, most)
    if monoid is None:
        return QuickTest(None, None)
    witness = _repetition(minimal, monoid) or _two_idempotents(minimal, monoid)
    return QuickTest(witness is None, witness)


def _repetition(dfa: Dfa, monoid: Monoid) -> Repetition | None:
    """The shortest word with a cycle of several states; a monoid without one is aperiodic, as some power of every
    element is then its own next power on every state."""
    found = next(monoid.circles(), None)
    return found and Repetition(spell(dfa, monoid.word(found[0])), found[1])


def _two_idempotents(dfa: Dfa, monoid: Monoid) -> TwoIdempotents | None:
    """Idempotents of one R-class, that is of one component of the graph in which a letter leads onward."""
    homes = component_numbers(monoid.onward.tolist())
    first: dict[int, int] = {}
    for element in monoid.idempotents(range(len(monoid.maps))):
        other = first.setdefault(homes[element], element)
        if other != element:
            state = int((monoid.maps[other] != monoid.maps[element]).argmax())
            return TwoIdempotents(spell(dfa, monoid.word(other)), spell(dfa, monoid.word(element)), state)
    return None
