"""Automata whose letters permute their states, followed by products of reflections.

A letter that permutes states is an orthogonal matrix, and one that moves r directions is a product of r reflections
I - 2 k kᵀ (Cartan and Dieudonné). The states need not be unit vectors: the permutations leave subspaces invariant, and
a subspace in which every letter moves few directions is enough if its vectors distinguish what must be distinguished.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthwise.oracle.crasp.promise import Promise
from lengthwise.oracle.turns import apart, asked_part

MOST_STATES = 130
_SAME = 1e-6  # numbers below it are rounding errors
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Invariant:
    """An invariant subspace: the vector of every state, and the matrix by which each letter moves them."""

    vectors: Matrix  # [states, dimension]
    letters: Matrix  # [letters, dimension, dimension]

    @property
    def order(self) -> int:
        """Reflections whose product is a letter, for the letter that needs most."""
        moved = self.letters - np.eye(self.letters.shape[1])
        return int(np.linalg.matrix_rank(moved, tol=_SAME).max())


@dataclass(frozen=True)
class Reflections:
    """`order` reflections per letter follow the automaton in one layer, one head for each of the subspaces. States that
    need different answers are at least `margin` apart, as a share of the length of their vectors."""

    order: int
    heads: tuple[Invariant, ...]
    margin: float

    @property
    def dimension(self) -> int:
        """The largest of the subspaces."""
        return max((head.vectors.shape[1] for head in self.heads), default=1)


@functools.lru_cache(maxsize=64)
def reflections(promise: Promise) -> Reflections | None:
    """The fewest reflections per letter that follow the automaton within its invariant subspaces; None where some
    letter takes two states to one, or there are too many states. O(states^3)."""
    moves = permutations(promise)
    if moves is None or moves.shape[1] > MOST_STATES:
        return None
    differ = apart(promise)
    spaces = sorted(_invariants(moves), key=lambda space: (space.order, space.vectors.shape[1]))
    distances, length, heads = np.zeros(differ.shape), 0.0, []
    for space in spaces:
        if not (differ & (distances < _SAME)).any():
            break
        steps = space.vectors[:, None] - space.vectors
        further = (steps**2).sum(axis=2)
        if (differ & (distances < _SAME) & (further >= _SAME)).any():
            heads.append(space)
            distances += further
            length += (space.vectors**2).sum(axis=1).max()
    margin = float(np.sqrt(distances[differ].min() / length)) if heads else float("inf")
    return Reflections(max((head.order for head in heads), default=0), tuple(heads), margin)


def permutations(promise: Promise) -> NDArray[np.int64] | None:
    """Each letter as a permutation of the states of words that are asked, [letters, states]; None where one takes two
    states to one. Where a letter is never asked it may do anything: a path of states that it follows is closed."""
    table = np.asarray(asked_part(promise).transitions[:-1], dtype=np.int64).T
    nowhere, moves = table.shape[1], []
    for row in table.tolist():
        onward = {state: to for state, to in enumerate(row) if to != nowhere}
        if len(set(onward.values())) < len(onward):
            return None
        for first in set(range(nowhere)) - set(onward.values()):
            last = first
            while last in onward:
                last = onward[last]
            onward[last] = first
        moves.append([onward[state] for state in range(nowhere)])
    return np.array(moves)


def _invariants(moves: NDArray[np.int64]) -> list[Invariant]:
    """The space of all states cut into small subspaces that every letter leaves invariant: the eigenspaces of a random
    symmetric matrix that commutes with all letters, so one that is constant on the orbits of pairs of states."""
    states = moves.shape[1]
    orbits = np.arange(states * states).reshape(states, states)
    while True:
        before = orbits
        for move in moves:
            back = np.argsort(move)
            orbits = np.minimum(orbits, np.minimum(orbits[move][:, move], orbits[back][:, back]))
        if (before == orbits).all():
            break
    some = np.random.default_rng(0).normal(size=states * states)[orbits]
    values, vectors = np.linalg.eigh(some + some.T)
    cuts = np.flatnonzero(np.diff(values) > _SAME) + 1
    spaces = []
    for space in np.split(vectors, cuts, axis=1):
        # Letter a takes the unit vector of a state to that of its target, so the rows of `space` to one another.
        letters = np.stack([space[move].T @ space for move in moves])
        spaces.append(Invariant(space, letters))
    return spaces
