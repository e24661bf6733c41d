"""Words drawn uniformly among those of one length that an automaton accepts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from lengthwise.seeds import Floats, Ints


class Walks:
    """Uniform accepted words: a letter is taken with probability (completions after it) / (completions before it).

    The numbers of completions grow like letters**length, so their logarithms are kept, each state for itself: a state
    whose words are rarer by any factor still has exact proportions. The tables grow with the longest length asked for,
    O(length x states x letters) numbers.
    """

    def __init__(self, transitions: Sequence[Sequence[int]], accepting: Collection[int]) -> None:
        self._letters = len(transitions[0])
        self._next = np.asarray(transitions, dtype=np.int64)
        done = np.full(len(transitions), -np.inf)
        done[list(accepting)] = 0.0
        self._logs = done  # log of the number of accepted words of the longest length in the tables, by state
        self._cuts: list[Floats] = [np.zeros((len(transitions), self._letters - 1))]

    def words(self, starts: Ints, uniforms: Floats) -> tuple[Ints, Ints]:
        """Letters [items, length] and the states around them [items, length + 1], one row a row of `uniforms`.

        A start must have an accepted word of this length; the automaton knows (`Dfa.has_word`).
        """
        items, length = uniforms.shape
        while len(self._cuts) <= length:
            self._grow()
        letters = np.empty((length, items), dtype=np.int64)
        states = np.empty((length + 1, items), dtype=np.int64)
        states[0] = state = starts
        flat, columns = self._next.ravel(), np.ascontiguousarray(uniforms.T)[:, :, None]
        for place in range(length):
            cuts = self._cuts[length - place].take(state, axis=0)
            letter = letters[place] = (cuts <= columns[place]).sum(axis=1)
            state = states[place + 1] = flat.take(state * self._letters + letter)
        return letters.T, states.T

    def visits(self, start: int, length: int, groups: Ints) -> tuple[float, Floats]:
        """How uniform words from a start spread over groups of states: the probability of never leaving the group of
        the start, and the mean share of prefixes in each group. O(length x states x letters)."""
        while len(self._cuts) <= length:
            self._grow()
        here = np.zeros(len(self._next))
        here[start] = 1.0
        staying, inside, total = here, groups == groups[start], here.copy()
        targets = self._next.ravel()
        for left in range(length, 0, -1):
            ends = np.pad(self._cuts[left], ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
            taken = np.diff(ends, axis=1)
            here = np.bincount(targets, (here[:, None] * taken).ravel(), minlength=len(here))
            staying = inside * np.bincount(targets, (staying[:, None] * taken).ravel(), minlength=len(here))
            total += here
        met = groups >= 0  # states of no group are those that no word meets
        return min(1.0, float(staying.sum())), np.bincount(groups[met], total[met]) / (length + 1)

    def _grow(self) -> None:
        """One letter more: `cuts[q, i]` is the probability that the letter from state q is one of the first i + 1."""
        onward = self._logs[self._next]
        top = onward.max(axis=1)
        some = top > -np.inf
        sums = np.exp(onward - np.where(some, top, 0.0)[:, None]).cumsum(axis=1)
        total = np.where(some, sums[:, -1], 1.0)
        # A letter without completions adds exactly 0 to the sums, so its interval is empty and it is never taken.
        self._cuts.append(sums[:, :-1] / total[:, None])
        self._logs = np.where(some, top + np.log(total), -np.inf)
