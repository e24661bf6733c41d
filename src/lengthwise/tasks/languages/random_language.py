"""Regular languages drawn by a seed: a sample of the class, where the published languages are a choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import STEADY, RegularLanguage

_LETTERS = "abcdefgh"
_MOST_STATES = 12
_TRIES = 5000
_SHORTEST = 3  # from here on every length has a word
_LENGTH, _WORDS = 20, 1000  # at least so many words of this length with different tags: fewer are learned by heart
_MOST_ALIKE = 0.9  # of all prefixes on average may have the same tag


@tasks.register("random_language")
@dataclass(frozen=True)
class RandomLanguage(RegularLanguage):
    """Tag every prefix of a word of a random regular language with the symbols that may come next.

    `random_language:seed=1,states=3`: `a b` → `{a,b,$} {a,b} {a,b,$}`. Its minimal automaton has `states` states
    over `alphabet` letters and is drawn by `seed`: every transition leads to a uniform state, every state accepts with
    probability 1/2, and in half of the automata one state is a dead end that a transition leads to with probability
    1/4. It is drawn again until it is minimal, every length from 3 on has a word, length 20 has at least 1,000 words
    with different tags, and no tag stands at more than 90 % of the prefixes.
    `regular_member:language=random_language` asks whether a word belongs.
    """

    seed: int = 0
    states: int = 4
    alphabet: int = 2
    preset = STEADY

    def __post_init__(self) -> None:
        if not 2 <= self.alphabet <= len(_LETTERS):
            raise UsageError(f"a random language must have 2 to {len(_LETTERS)} letters, not {self.alphabet}")
        if not 2 <= self.states <= _MOST_STATES:
            raise UsageError(f"a random language must have 2 to {_MOST_STATES} states, not {self.states}")
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
    """Whether every length has words, enough of them have different tags, and no tag stands nearly everywhere."""
    if dfa.is_empty() or not all(dfa.has_word(length) for length in range(_SHORTEST, 8 * _LENGTH + 1)):
        return False
    language = _Given(dfa)
    if _tag_rows(dfa, language.tags) < _WORDS:
        return False
    return all(language.chance(length).token <= _MOST_ALIKE for length in (_LENGTH, 8 * _LENGTH))


@dataclass(frozen=True)
class _Given(RegularLanguage):
    dfa: Dfa

    def build(self) -> Dfa:
        return self.dfa

    @property
    def tags(self) -> list[int]:
        """The tag of every state, -1 where no word passes."""
        return self._tables.tags.tolist()


def _tag_rows(dfa: Dfa, tags: list[int]) -> int:
    """How many different rows of tags the words of the length have that is looked at: the paths of sets of states, as
    of an automaton that reads tags in place of letters."""
    here = {frozenset([dfa.start]): 1}
    for _ in range(_LENGTH):
        onward: Counter[frozenset[int]] = Counter()
        for states, count in here.items():
            targets = {target for state in states for target in dfa.transitions[state] if tags[target] >= 0}
            for tag in {tags[target] for target in targets}:
                onward[frozenset(target for target in targets if tags[target] == tag)] += count
        here = dict(onward)
    return sum(count for states, count in here.items() if states & dfa.accepting)
