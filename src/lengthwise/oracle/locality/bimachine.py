"""Bimachines: a step whose label at a position follows from what one automaton saw on the left and one on the right.

A letter is a whole column written as text. The left scanner reads from the left border to the position, the right one
from the right border, and the output is a function of both states and of the letter between. A third scanner says which
words are states at all. `fold` puts it into both, so that the output is defined exactly on words of the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError

Step = Callable[[Any, str], Hashable]
Output = Callable[[Any, str, Any], str]
UNDEFINED = -1


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


@dataclass(frozen=True, eq=False)
class Folded:
    """`left[x, a]` and `right[m, a]` are the next states; `outputs[a][x, m]` numbers the label, or is UNDEFINED."""

    alphabet: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outputs: NDArray[np.int64]
    labels: tuple[str, ...]

    def label(self, x: int, letter: int, m: int) -> str:
        return self.labels[int(self.outputs[letter, x, m])]


def fold(machine: Bimachine) -> Folded:
    """The product of both scanners with the domain.

    On the right the domain is read backwards: a right context is known by the set of domain states from which it leads
    to acceptance, and a word is in the domain when the state after its letter is in that set.
    """
    letters = {letter: number for number, letter in enumerate(machine.alphabet)}
    domain = machine.domain.table

    def forward(state: tuple[int, int], letter: str) -> tuple[int, int]:
        number = letters[letter]
        return machine.left.table[state[0]][number], domain[state[1]][number]

    def backward(state: tuple[int, frozenset[int]], letter: str) -> tuple[int, frozenset[int]]:
        number = letters[letter]
        into = frozenset(source for source, row in enumerate(domain) if row[number] in state[1])
        return machine.right.table[state[0]][number], into

    left = scanner(machine.alphabet, (0, 0), forward)  # pyright: ignore[reportArgumentType]
    right = scanner(machine.alphabet, (0, machine.accepting), backward)  # pyright: ignore[reportArgumentType]
    outputs, labels = _outputs(machine, left, right)
    return Folded(machine.alphabet, np.array(left.table), np.array(right.table), outputs, labels)


def _outputs(machine: Bimachine, left: Scanner, right: Scanner) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    numbers: dict[str, int] = {}
    outputs = np.full((len(machine.alphabet), len(left.names), len(right.names)), UNDEFINED)
    lefts: list[tuple[int, int]] = list(left.names)  # pyright: ignore[reportAssignmentType]
    rights: list[tuple[int, frozenset[int]]] = list(right.names)  # pyright: ignore[reportAssignmentType]
    for number, letter in enumerate(machine.alphabet):
        for x, (p, d) in enumerate(lefts):
            entered = machine.domain.table[d][number]
            for m, (q, accepted) in enumerate(rights):
                if entered in accepted:
                    label = machine.output(machine.left.names[p], letter, machine.right.names[q])
                    outputs[number, x, m] = numbers.setdefault(label, len(numbers))
    return outputs, tuple(numbers)
