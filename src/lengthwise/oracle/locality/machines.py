"""Bimachines of the shipped formulations whose step is one.

What a step does is written down here a second time, as automata; that both are the same is checked by `compare`.
`finished` adds the finished states, whose labels leave them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.bimachine import Bimachine, bimachine
from lengthwise.oracle.locality.machines_arithmetic import flat, flat_leftmost, parenthesised
from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.tasks.formulations.addition import AdditionColumns, divided
from lengthwise.tasks.formulations.arithmetic import ArithmeticFlat, ArithmeticFlatLeftmost, ArithmeticParenthesised
from lengthwise.tasks.formulations.formulation import EMPTY, Formulation, column, symbol
from lengthwise.tasks.formulations.parity import ParityColumns, ParityLeftmost, xor
from lengthwise.tasks.formulations.rewriting import DROP, KEEP

NOTHING = ("nothing", lambda state, _: state)  # a scanner that remembers nothing


def machine_of(formulation: Formulation, finished: bool = False) -> Bimachine | None:
    """The bimachine of a formulation, None where its step is not known to be one."""
    make = _MACHINES.get(type(formulation))
    return None if make is None else make(formulation, finished)


@dataclass(frozen=True)
class Comparison:
    """A bimachine beside the step it is said to be: how many states were compared, up to which size."""

    states: int
    up_to: int
    exhaustive: bool


def compare(machine: Bimachine, steps: Steps, sizes: Iterable[int]) -> Comparison:
    """Compare a bimachine with steps, state by state; the first difference is an error, as a proof would be void."""
    states = up_to = 0
    for size in sizes:
        up_to = max(up_to, size)
        for move in steps.moves(size):
            states += 1
            word = [symbol(column) for column in move.state]
            if not machine.accepts(word):
                raise UsageError(f"{steps.name}: the bimachine's domain lacks the state `{written(move.state)}`")
            if machine.labels(word) != move.labels:
                raise UsageError(f"{steps.name}: the bimachine labels `{written(move.state)}` differently")
    return Comparison(states, up_to, steps.exhaustive)


def parity_columns(task: ParityColumns, finished: bool) -> Bimachine:
    """Left: the last parity written, or that an empty place was passed. The domain: parities are right, then none."""

    def left(state: str, letter: str) -> str:
        _, parity = column(letter)
        return "passed" if state == "passed" or parity == EMPTY else parity

    def output(state: str, letter: str, _: str) -> str:
        bit, parity = column(letter)
        if parity != EMPTY or state == "passed":
            return letter
        return symbol((bit, bit if state == "start" else xor(state, bit)))

    def domain(state: str, letter: str) -> str:
        bit, parity = column(letter)
        if state == "wrong" or (state == "empty" and parity != EMPTY):
            return "wrong"
        if parity == EMPTY:
            return "empty"
        return parity if parity == (bit if state == "start" else xor(state, bit)) else "wrong"

    def accepts(state: str) -> bool:
        return state == "empty" or (finished and state in ("0", "1"))

    return bimachine(task.symbols, ("start", left), NOTHING, output, ("start", domain, accepts))


def addition_columns(task: AdditionColumns, finished: bool) -> Bimachine:
    """Left: the last carry written, or that an empty place was passed. The domain: sums are right, then none, and the
    last column adds zeros."""

    def left(state: str, letter: str) -> str:
        carry = column(letter)[3]
        return "passed" if state == "passed" or carry == EMPTY else carry

    def summed(carry: str, letter: str) -> str:
        a, b = column(letter)[:2]
        return symbol((a, b, *divided(int(a) + int(b) + (0 if carry == "start" else int(carry)), task.base)))

    def output(state: str, letter: str, _: str) -> str:
        return letter if state == "passed" or column(letter)[2] != EMPTY else summed(state, letter)

    def domain(state: tuple[str, str], letter: str) -> tuple[str, str]:
        """What was written last, and what can be said of the columns read: none, one, or whether the last is zeros."""
        before, length = state
        a, b, digit, carry = column(letter)
        if before == "wrong" or (before == "empty" and digit != EMPTY):
            return "wrong", ""
        if digit != EMPTY and summed(before, letter) != letter:
            return "wrong", ""
        end = "one" if length == "none" else "zeros" if a == b == "0" else "digits"
        return ("empty" if digit == EMPTY else carry), end

    def accepts(state: tuple[str, str]) -> bool:
        return state[1] == "zeros" and (state[0] == "empty" or finished)

    return bimachine(task.symbols, ("start", left), NOTHING, output, (("start", "none"), domain, accepts))


def parity_leftmost(task: ParityLeftmost, finished: bool) -> Bimachine:  # noqa: ARG001  # one bit is a state in any case
    """Left: how many bits there are, up to two. Right: the next bit. The domain: all words but the empty one."""

    def output(before: int, letter: str, after: str) -> str:
        if before == 0 and after:
            return xor(letter, after)
        return DROP if before == 1 else KEEP

    return bimachine(
        task.tokens,
        (0, lambda state, letter: min(2, state + 1)),  # noqa: ARG005
        ("", lambda state, letter: letter),  # noqa: ARG005
        output,
        (0, lambda state, letter: 1, lambda state: state == 1),  # noqa: ARG005
    )


_MACHINES: dict[type[Formulation], Callable[[Any, bool], Bimachine]] = {
    ParityColumns: parity_columns,
    AdditionColumns: addition_columns,
    ParityLeftmost: parity_leftmost,
    ArithmeticFlat: flat,
    ArithmeticFlatLeftmost: flat_leftmost,
    ArithmeticParenthesised: parenthesised,
}
