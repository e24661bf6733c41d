"""Learns a finite machine from answers to words: rows of an observation table, and one suffix for every mistake.

Two words are held apart when some known suffix is answered differently after them. Each mistake of the machine on a
word gives, by halving, a suffix that parts two words which shared a state, so every mistake adds at least one state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lengthwise.oracle.crasp.words import Word

Answer = Callable[[Word], str | None]


@dataclass(frozen=True)
class Machine:
    """`answers[state]` is what is answered after a word that leads there from state 0."""

    alphabet: tuple[str, ...]
    transitions: tuple[tuple[int, ...], ...]
    answers: tuple[str | None, ...]
    access: tuple[Word, ...]

    def states(self, word: Sequence[str]) -> list[int]:
        """The states after every prefix of a word, the empty one first."""
        found = [0]
        for letter in word:
            found.append(self.transitions[found[-1]][self.alphabet.index(letter)])
        return found


def learn(answer: Answer, alphabet: Sequence[str], tests: Callable[[], Iterable[Word]], most: int) -> Machine | None:
    """The machine that is right on all tests; None when it would have more than `most` states.

    The work is at most some |tests| + most x (letters x most + log of the longest test) answers.
    """
    suffixes: list[Word] = [()]
    while True:
        machine = _machine(answer, tuple(alphabet), suffixes, most)
        if machine is None:
            return None
        wrong = next((word for word in tests() if machine.answers[machine.states(word)[-1]] != answer(word)), None)
        if wrong is None:
            return machine
        suffixes.append(_parting_suffix(answer, machine, wrong))


def _machine(answer: Answer, alphabet: tuple[str, ...], suffixes: list[Word], most: int) -> Machine | None:
    """The machine whose states are the rows of the table."""

    def row(word: Word) -> tuple[str | None, ...]:
        return tuple(answer((*word, *suffix)) for suffix in suffixes)

    number = {row(()): 0}
    access: list[Word] = [()]
    transitions = []
    for word in access:  # grows while it is read
        targets = []
        for letter in alphabet:
            onward = (*word, letter)
            key = row(onward)
            if key not in number:
                if len(number) == most:
                    return None
                number[key] = len(number)
                access.append(onward)
            targets.append(number[key])
        transitions.append(tuple(targets))
    return Machine(alphabet, tuple(transitions), tuple(key[0] for key in number), tuple(access))


def _parting_suffix(answer: Answer, machine: Machine, word: Word) -> Word:
    """A suffix of a wrongly answered word that parts two words of one state.

    Replacing a longer and longer prefix by the access word of its state turns the right answer into the machine's; the
    suffix behind the place where it turns is answered differently after the two.
    """
    states, truth = machine.states(word), answer(word)
    low, high = 0, len(word)  # right at low, wrong at high
    while high - low > 1:
        middle = (low + high) // 2
        if answer((*machine.access[states[middle]], *word[middle:])) == truth:
            low = middle
        else:
            high = middle
    return word[high:]
