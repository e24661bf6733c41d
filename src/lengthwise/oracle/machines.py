"""Automata that tasks without one of their own are known to have, and machines as what is asked of them."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence

from lengthwise.oracle.crasp.automata import explored
from lengthwise.oracle.crasp.promise import Promise
from lengthwise.tasks.algorithmic import Parity
from lengthwise.tasks.chomsky.expressions import ModularArithmetic
from lengthwise.tasks.chomsky.strings import CycleNavigation, ParityCheck
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.task import Task

MOST_PLACES, MOST_MODULUS = 500, 12  # of a circle; of arithmetic, whose states are twice its square


@functools.lru_cache(maxsize=16)
def known_machine(task: Task) -> Promise | None:
    """The automaton of a task of these very classes, as a subclass may ask something else."""
    if type(task) is Parity:
        return _sum({"0": 0, "1": 1}, ("e", "o"))
    if type(task) is ParityCheck:
        return _sum({"0": 0, "1": 1}, ("0", "1"))
    if type(task) is CycleNavigation and task.modulus <= MOST_PLACES:
        return _sum({"-1": -1, "0": 0, "1": 1}, tuple(map(str, range(task.modulus))))
    return _modular(task) if type(task) is ModularArithmetic and task.modulus <= MOST_MODULUS else None


def _sum(steps: dict[str, int], answers: tuple[str, ...]) -> Promise:
    """The sum of steps, modulo the number of answers."""
    rows = [tuple((total + step) % len(answers) for step in steps.values()) for total in range(len(answers))]
    return machine_asked(tuple(steps), rows, answers)


def machine_asked(alphabet: tuple[str, ...], rows: Sequence[tuple[int, ...]], answers: Sequence[Hashable]) -> Promise:
    """A machine from state 0 on that is asked at the end of every word with an answer. States that lead to the same
    states are one if their answers agree, or one of them has none, as that of the empty word may have."""
    while True:
        known = {row: answer for row, answer in zip(rows, answers, strict=True) if answer is not None}
        keys = [(row, known.get(row) if one is None else one) for row, one in zip(rows, answers, strict=True)]
        number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        if len(number) == len(rows):
            break
        home = [number[key] for key in keys]
        rows, answers = [tuple(home[to] for to in row) for row, _ in number], [answer for _, answer in number]
    dfa = Dfa(alphabet, tuple(rows), 0, frozenset(state for state, answer in enumerate(answers) if answer is not None))
    return Promise(dfa, dfa.live, tuple((*(None,) * len(alphabet), answer) for answer in answers))


def _modular(task: ModularArithmetic) -> Promise:
    """The machine of sums and products: the sum so far, and the current product or, before a digit, its factor. A
    numeral or an operator in a wrong place leads to a state without an answer."""
    modulus = task.modulus

    def step(state: tuple[int, int, bool] | None, letter: int) -> tuple[int, int, bool] | None:
        if state is None or state[2] is not (letter < modulus):
            return None
        total, term, _ = state
        if letter < modulus:
            return total, term * letter % modulus, False
        match task.symbols[letter]:
            case "*":
                return total, term, True
            case "+":
                return (total + term) % modulus, 1 % modulus, True
            case _:
                return (total + term) % modulus, modulus - 1, True

    states, rows = explored((0, 1 % modulus, True), range(len(task.symbols)), step)
    answers = [None if one is None or one[2] else str((one[0] + one[1]) % modulus) for one in states]
    return machine_asked(task.symbols, rows, answers)
