"""A quick test that every language of C-RASP[] passes, on the syntactic monoid.

The monoid of the actions of words on the states of the minimal automaton must be aperiodic (no word moves states around
a cycle of several) and no R-class (actions that lead to each other by appending words) may hold two idempotents.
Failing proves that the language is outside C-RASP[]; passing shows nothing: (ab|bba)* passes and is outside.
"""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import Word, component_numbers, spelled
from lengthwise.oracle.crasp.monoid import MOST_ELEMENTS, Monoid, transition_monoid
from lengthwise.tasks.languages.dfa import Dfa

explain(
    {
        "crasp.quick_skipped": "The quick test was not made: words act in more than {most:,} ways.",
        "crasp.quick_passed": "The quick test is passed, which is necessary for a C-RASP[] program but not sufficient.",
        "crasp.quick_failed": "The quick test fails, so no C-RASP[] program exists.",
        "crasp.repetition": "{word} takes the automaton from state {around}: it counts modulo {modulus}.",
        "crasp.idempotents": "Reading {left} or {right} twice has the same effect as reading it once, and {left} "
        "followed by {right} acts as {right} alone, and the other way round; yet from state {state} they lead to "
        "different states, so the last word decides.",
    }
)


@dataclass(frozen=True)
class Repetition:
    """A word whose repetition moves some states around a cycle: `cycle[i]` goes to `cycle[i + 1]`, the last to the
    first."""

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
    elements: int | None
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
        return QuickTest(None, None, None)
    witness = _repetition(minimal, monoid) or _two_idempotents(minimal, monoid)
    return QuickTest(witness is None, len(monoid.maps), witness)


def _repetition(dfa: Dfa, monoid: Monoid) -> Repetition | None:
    """The shortest word with a cycle of several states; a monoid without one is aperiodic, as some power of every
    element is then its own next power on every state."""
    for element, action in enumerate(monoid.maps.tolist()):
        seen = [-1] * len(action)
        for start in range(len(action)):
            state, path = start, []
            while seen[state] < 0:
                seen[state] = start
                path.append(state)
                state = action[state]
            if seen[state] == start and state in path and len(cycle := path[path.index(state) :]) > 1:
                return Repetition(_spell(dfa, monoid, element), tuple(cycle))
    return None


def _two_idempotents(dfa: Dfa, monoid: Monoid) -> TwoIdempotents | None:
    """Idempotents of one R-class, that is of one component of the graph in which a letter leads onward."""
    homes = component_numbers(monoid.onward.tolist())
    first: dict[int, int] = {}
    for element in monoid.idempotents(range(len(monoid.maps))):
        other = first.setdefault(homes[element], element)
        if other != element:
            state = int((monoid.maps[other] != monoid.maps[element]).argmax())
            return TwoIdempotents(_spell(dfa, monoid, other), _spell(dfa, monoid, element), state)
    return None


def _spell(dfa: Dfa, monoid: Monoid, element: int) -> Word:
    return tuple(dfa.alphabet[letter] for letter in monoid.word(element))
