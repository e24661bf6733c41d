"""A bimachine with its domain folded in: two tables, and an output that is defined exactly on words of the domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.oracle.locality.bimachine import Bimachine, Scanner, scanner

UNDEFINED = -1


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
