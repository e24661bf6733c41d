"""Makes states one that counting cannot tell apart, as long as no two answers that are asked for clash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lengthwise.oracle.crasp.components import components
from lengthwise.oracle.crasp.product import Product
from lengthwise.oracle.crasp.promise import Promise
from lengthwise.oracle.crasp.refine import refine
from lengthwise.tasks.languages.dfa import Dfa


def joined(promise: Promise, machine: Product) -> Dfa | None:
    """The automaton that is left when states of a product of `promise.dfa` that counting cannot tell apart are made one
    until there are none; None if that automaton would have to give two answers to one question.

    On words that are asked it runs as the product does. Its last state, the only one that does not accept, is where all
    other words go. Whenever any automaton made by joining states of the product passes the decision and answers all
    that is asked, so does this one, as every such automaton joins what is joined here (docs/crasp.md).
    """
    classes = _Classes(promise, machine)
    while not classes.clash:
        rows = classes.rows()
        labels = [*(machine.label(state) for state in classes.heads), None]
        pairs = [
            pair
            for component in components(machine.alphabet, rows)
            for pair in _alike(component.states, refine(component, [labels[s] for s in component.states]).blocks)
        ]
        if not pairs:
            return Dfa(machine.alphabet, rows, 0, frozenset(range(len(rows) - 1)))
        classes.join(pairs)
    return None


def _alike(states: Sequence[int], blocks: Sequence[int]) -> list[tuple[int, int]]:
    """Every state that is not the first of its block, with the first."""
    first: dict[int, int] = {}
    found = [(first.setdefault(block, state), state) for state, block in zip(states, blocks, strict=True)]
    return [(head, state) for head, state in found if head != state]


class _Classes:
    """Classes of states, closed under moves: where two states are one, so are those that a letter leads them to, if the
    letter may be read in both. A class is known by its first state, and has the moves and answers of all its states."""

    def __init__(self, promise: Promise, machine: Product) -> None:
        self.heads = [place for place, (state, *_) in enumerate(machine.states) if state in promise.kept]
        self.parent = {state: state for state in self.heads}
        self.onward = {s: [to if to in self.parent else None for to in machine.transitions[s]] for s in self.heads}
        self.answers = {s: list(promise.answers[machine.states[s][0]]) for s in self.heads}
        self.clash = False

    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The moves of the classes in the order of `heads`, and behind them those of the state for all other words."""
        number = {head: place for place, head in enumerate(self.heads)}
        away = len(number)
        rows = [
            tuple(away if to is None else number[self._head(to)] for to in self.onward[head]) for head in self.heads
        ]
        return (*rows, (away,) * len(rows[0]))

    def join(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Make pairs of classes one, given by their places in `heads`, and all that this brings with it."""
        work = [(self.heads[left], self.heads[right]) for left, right in pairs]
        while work and not self.clash:
            left, right = sorted(map(self._head, work.pop()))
            if left == right:
                continue
            self.parent[right] = left
            for letter, (mine, its) in enumerate(zip(self.onward[left], self.onward[right], strict=True)):
                if mine is None:
                    self.onward[left][letter] = its
                elif its is not None:
                    work.append((mine, its))
            for place, (mine, its) in enumerate(zip(self.answers[left], self.answers[right], strict=True)):
                if mine is None:
                    self.answers[left][place] = its
                elif its is not None and its != mine:
                    self.clash = True
        self.heads = [state for state in self.heads if self.parent[state] == state]

    def _head(self, state: int) -> int:
        while self.parent[state] != state:
            self.parent[state] = state = self.parent[self.parent[state]]
        return state
