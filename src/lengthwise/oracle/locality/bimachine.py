"""Bimachines: a step whose label at a position is read off what an automaton saw on the left and one on the right.

A letter is a whole column written as text. The left scanner reads from the left border to the position, the right one
from the right border, and the output is a function of both states and of the letter between. A third scanner says which
words are states at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError

Step = Callable[[Any, str], Hashable]
Output = Callable[[Any, str, Any], str]


@dataclass(frozen=True)
class Scanner:
    """A deterministic automaton as a table: `table[state][letter]` is the next state; `names` say what states mean."""

    names: tuple[Hashable, ...]
    table: tuple[tuple[int, ...], ...]

    def run(self, letters: Sequence[int]) -> list[int]:
        """The states before each letter and after the last, from state 0."""
        states = [0]
        for letter in letters:
            states.append(self.table[states[-1]][letter])
        return states


def scanner(alphabet: Sequence[str], start: Hashable, step: Step, most: int = 5000) -> Scanner:
    """The automaton of all states that `step` reaches from `start`; state 0 is the start."""
    numbers, rows = {start: 0}, []
    for state in (queue := [start]):
        row = []
        for letter in alphabet:
            target = step(state, letter)
            if target not in numbers:
                if len(numbers) == most:
                    raise UsageError(f"a scanner has finitely many states, and this one has more than {most}")
                numbers[target] = len(numbers)
                queue.append(target)
            row.append(numbers[target])
        rows.append(tuple(row))
    return Scanner(tuple(numbers), tuple(rows))


@dataclass(frozen=True)
class Bimachine:
    """`left`, `right` and `output` give the label of each position; `domain` and `accepting` say which words count.

    `exact` says that the domain is exactly the set of states of the formulation; otherwise it is larger, and a window
    that settles it settles the formulation too, but a smaller one might.
    """

    alphabet: tuple[str, ...]
    left: Scanner
    right: Scanner
    output: Output
    domain: Scanner
    accepting: frozenset[int]
    exact: bool = True

    def accepts(self, word: Sequence[str]) -> bool:
        """Whether a word is a state."""
        index = self._index
        if any(letter not in index for letter in word):
            return False
        return self.domain.run([index[letter] for letter in word])[-1] in self.accepting

    def labels(self, word: Sequence[str]) -> tuple[str, ...]:
        """The label of each position of a word."""
        letters = [self._index[letter] for letter in word]
        before, after = self.left.run(letters), self.right.run(letters[::-1])
        return tuple(
            self.output(self.left.names[before[at]], letter, self.right.names[after[len(word) - 1 - at]])
            for at, letter in enumerate(word)
        )

    @property
    def _index(self) -> dict[str, int]:
        return self.__dict__.setdefault("_letters", {letter: number for number, letter in enumerate(self.alphabet)})


def bimachine(
    alphabet: Sequence[str],
    left: tuple[Hashable, Step],
    right: tuple[Hashable, Step],
    output: Output,
    domain: tuple[Hashable, Step, Callable[[Any], bool]],
    exact: bool = True,
) -> Bimachine:
    """A bimachine from start states and step functions; `domain` has a third part, which states of it accept."""
    scope = scanner(alphabet, domain[0], domain[1])
    accepting = frozenset(number for number, name in enumerate(scope.names) if domain[2](name))
    return Bimachine(
        tuple(alphabet), scanner(alphabet, *left), scanner(alphabet, *right), output, scope, accepting, exact
    )
