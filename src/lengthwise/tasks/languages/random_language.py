"""Regular languages drawn by a seed: a sample of the class, where the published languages are a choice."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import RegularLanguage

_LETTERS = "abcdefgh"
_MOST_STATES = 12
_TRIES = 5000
_SHORTEST = 3  # from here on every length has a word
_LENGTH, _WORDS = 20, 1000  # at least so many words of this length: fewer could be learned by heart
_MOST_ALIKE = 0.9  # of all prefixes on average may have the same tag


@tasks.register("random_language")
@dataclass(frozen=True)
class RandomLanguage(RegularLanguage):
    """Tag every prefix of a word of a random regular language with the symbols that may come next.

    `random_language:seed=1,states=3`: `a b a` → `{a,b,$} {b} {a,b,$} {b}`. Its minimal automaton has `states` states
    over `alphabet` letters and is drawn by `seed`: every transition leads to a uniform state, every state accepts with
    probability 1/2, and in half of the automata one state is a dead end that a transition leads to with probability
    1/4. It is drawn again until it is minimal, every length from 3 on has a word and length 20 at least 1,000, and no
    tag stands at more than 90 % of the prefixes. `regular_member:language=random_language` asks whether a word belongs.
    """

    seed: int = 0
    states: int = 4
    alphabet: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.alphabet <= len(_LETTERS):
            raise UsageError(f"a random language has 2 to {len(_LETTERS)} letters, not {self.alphabet}")
        if not 2 <= self.states <= _MOST_STATES:
            raise UsageError(f"a random language has 2 to {_MOST_STATES} states, not {self.states}")
        _ = self.automaton

    def build(self) -> Dfa:
        for number in range(_TRIES):
            dfa = self._drawn(number).minimised()
            if len(dfa.transitions) == self.states and _is_varied(dfa):
                return dfa
        raise UsageError(
            f"in {_TRIES} draws no language with {self.states} states and {self.alphabet} letters was varied enough; "
            "other numbers of states and letters give one"
        )

    def _drawn(self, number: int) -> Dfa:
        draws = Seeds(self.seed).draws("random language", self.states, self.alphabet, items=[number])
        live = self.states - int(draws.integers(0, 2, 1)[0, 0])  # the last state is a dead end where it is not live
        targets = draws.integers(0, live, self.states * self.alphabet).reshape(self.states, self.alphabet)
        if live < self.states:
            lost = draws.integers(0, 4, self.states * self.alphabet).reshape(targets.shape) == 0
            targets[lost], targets[live] = live, live
        accepts = draws.integers(0, 2, live)[0]
        rows = tuple(tuple(row) for row in targets.tolist())
        return Dfa(tuple(_LETTERS[: self.alphabet]), rows, 0, frozenset(accepts.nonzero()[0].tolist()))


def _is_varied(dfa: Dfa) -> bool:
    """Whether there are words enough, and different tags in them at short and at long lengths."""
    words = _numbers_of_words(dfa, _LENGTH)
    if min(words[_SHORTEST:]) == 0 or words[_LENGTH] < _WORDS:
        return False
    if not all(dfa.has_word(length) for length in range(_LENGTH, 8 * _LENGTH + 1)):
        return False
    language = _Given(dfa)
    return all(language.chance(length).token <= _MOST_ALIKE for length in (_LENGTH, 8 * _LENGTH))


@dataclass(frozen=True)
class _Given(RegularLanguage):
    dfa: Dfa

    def build(self) -> Dfa:
        return self.dfa


def _numbers_of_words(dfa: Dfa, longest: int) -> list[int]:
    """How many words there are of each length from 0 to the longest."""
    here = [int(state in dfa.accepting) for state in range(len(dfa.transitions))]
    found = [here[dfa.start]]
    for _ in range(longest):
        here = [sum(here[target] for target in row) for row in dfa.transitions]
        found.append(here[dfa.start])
    return found
