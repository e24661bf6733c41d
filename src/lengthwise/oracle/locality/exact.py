"""All windows of a bimachine, for all lengths, each with its label and the shortest length that shows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lengthwise.oracle.locality.bimachine import Bimachine
from lengthwise.oracle.locality.folding import Folded, fold
from lengthwise.oracle.locality.windows import PAD
from lengthwise.tasks.formulations.formulation import Formulation, State, column

_BORDER = -1
_LIMIT = 100_000  # windows to look at: a few seconds' work

Context = dict[tuple[int, ...], dict[int, int]]  # what stands beside the middle → state → least length


def all_windows(machine: Bimachine, radius: int) -> dict[tuple[State, str], int] | None:
    """(window, label) → the length of the shortest word of the domain that shows it; None if there are too many.

    A window occurs when some left context that ends in its left half and some right context that begins with its right
    half make a word of the domain; the shortest of each are found breadth first.
    """
    folded = fold(machine)
    alive = folded.outputs >= 0
    before = _contexts(folded.left, radius, np.asarray(alive.any(axis=(0, 2))))
    after = _contexts(folded.right, radius, np.asarray(alive.any(axis=(0, 1))))
    if len(before) * len(folded.alphabet) * len(after) > _LIMIT:
        return None
    shortest: dict[tuple[State, str], int] = {}
    for left, lefts in before.items():
        for right, rights in after.items():
            _enter(shortest, folded, left, lefts, right, rights)
    return shortest


def least_training_size(machine: Bimachine, radius: int, formulation: Formulation) -> int | None:
    """The least size whose states, with those of smaller sizes, show every window: L* for all sizes."""
    windows = all_windows(machine, radius)
    if windows is None or not machine.exact:
        return None
    longest = max(windows.values())
    return next(
        size
        for size in range(1, longest + 2)
        if formulation.has(size) and len(formulation.start(size, next(iter(formulation.every(size))))) >= longest
    )


def _contexts(table: NDArray[np.int64], radius: int, alive: NDArray[np.bool_]) -> Context:
    """The last `radius` letters read (with borders before the first) and the state, with the fewest letters."""
    start: tuple[tuple[int, ...], int] = ((_BORDER,) * radius, 0)
    lengths: dict[tuple[tuple[int, ...], int], int] = {start: 0}
    queue: list[tuple[tuple[int, ...], int]] = [start]
    for node in queue:
        seen, state = node
        for letter in range(table.shape[1]):
            target = int(table[state, letter])
            onward: tuple[tuple[int, ...], int] = ((*seen, letter)[1:] if radius else (), target)
            if alive[target] and onward not in lengths:
                lengths[onward] = lengths[node] + 1
                queue.append(onward)
    grouped: Context = {}
    for (seen, state), length in lengths.items():
        grouped.setdefault(seen, {})[state] = length
    return grouped


def _enter(
    shortest: dict[tuple[State, str], int],
    folded: Folded,
    left: tuple[int, ...],
    lefts: dict[int, int],
    right: tuple[int, ...],
    rights: dict[int, int],
) -> None:
    lengths = np.add.outer(list(lefts.values()), list(rights.values())) + 1
    outputs = folded.outputs[:, list(lefts), :][:, :, list(rights)]
    for letter, label in {(int(at[0]), int(outputs[tuple(at)])) for at in np.argwhere(outputs >= 0)}:
        columns = [PAD if at == _BORDER else column(folded.alphabet[at]) for at in (*left, letter, *right[::-1])]
        key = tuple(columns), folded.labels[label]
        least = int(lengths[outputs[letter] == label].min())
        shortest[key] = min(shortest.get(key, least), least)
