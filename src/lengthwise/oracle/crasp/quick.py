"""A quick test that every language of C-RASP[] passes, on the syntactic monoid.

The monoid of the actions of words on the states of the minimal automaton must be aperiodic (no word moves states around
a cycle of several) and no R-class (actions that lead to each other by appending words) may hold two idempotents.
Failing proves that the language is outside C-RASP[]; passing shows nothing: (ab|bba)* passes and is outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.oracle.crasp.components import component_numbers
from lengthwise.oracle.crasp.decision import YANG
from lengthwise.oracle.crasp.monoid import MOST_ELEMENTS, Monoid, transition_monoid
from lengthwise.oracle.crasp.words import Word, spelled
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.languages.dfa import Dfa

NECESSARY = Assumption("the published inclusion holds: C-RASP[] with regular languages lies in R^omega")


@dataclass(frozen=True)
class Repetition:
    """A word whose repetition moves some states around a cycle: `cycle[i]` goes to `cycle[i + 1]`, the last to the
    first."""

    word: Word
    cycle: tuple[int, ...]

    def sentence(self) -> str:
        around = " to ".join(map(str, (*self.cycle, self.cycle[0])))
        return f"{spelled(self.word)} leads the automaton from state {around}: it counts modulo {len(self.cycle)}."


@dataclass(frozen=True)
class TwoIdempotents:
    """Two words that do once what they do twice, do different things, and each followed by the other is the other."""

    left: Word
    right: Word
    state: int

    def sentence(self) -> str:
        left, right = spelled(self.left), spelled(self.right)
        return (
            f"{left} and {right} each do once what they do twice, {left} and then {right} is {right} alone and the "
            f"other way round, yet from state {self.state} they lead to different states: the last word decides."
        )


@dataclass(frozen=True)
class QuickTest:
    """`passes` is None when the monoid is too large to look at."""

    passes: bool | None
    elements: int | None
    witness: Repetition | TwoIdempotents | None

    def claim(self) -> Claim:
        name, evidence = "the language passes the quick test for C-RASP[]", {"elements": self.elements}
        if self.passes is None:
            return Claim(name, None, "", "proved", "unknown", reference=YANG)
        status = "holds" if self.passes else "refuted"
        return Claim(name, self.passes, "", "proved", status, None, (NECESSARY,), YANG, evidence)

    def explain(self) -> list[str]:
        if self.passes is None:
            return [f"The quick test was not made: words act in more than {MOST_ELEMENTS:,} ways."]
        if self.witness is None:
            return ["The quick test is passed, which is necessary for a C-RASP[] program and not sufficient."]
        return ["The quick test fails, so no C-RASP[] program exists.", self.witness.sentence()]

    def plain(self) -> dict[str, Any]:
        return {"passes": self.passes, "elements": self.elements, "explanation": self.explain()}


def quick_test(dfa: Dfa, most: int = MOST_ELEMENTS) -> QuickTest:
    """O(elements x (letters + states)); at most `most` elements are looked at."""
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
