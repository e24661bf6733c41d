"""Bimachines of the shipped formulations whose step is one.

What a step does is written down here a second time, as automata; `compare` checks that both are the same. `finished`
adds the finished states, whose labels leave them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.bimachine import Bimachine, bimachine
from lengthwise.oracle.locality.steps import Steps
from lengthwise.tasks.formulations.arithmetic import (
    OPERATORS,
    ArithmeticFlat,
    ArithmeticFlatLeftmost,
    ArithmeticParenthesised,
)
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.digits import AdditionColumns, divided
from lengthwise.tasks.formulations.formulation import EMPTY, Formulation, column, symbol
from lengthwise.tasks.formulations.layouts import DROP, KEEP
from lengthwise.tasks.formulations.strings import ParityColumns, ParityLeftmost, xor

NOTHING = ("nothing", lambda state, _: state)  # a scanner that remembers nothing

# A product is written "*", a sum or difference "+" in the names of states.


def flat(task: ArithmeticFlat, finished: bool) -> Bimachine:
    """Left: the last number and the operator before it, or the last operator and whether it may be ready."""

    def output(before: tuple[str, ...], letter: str, after: tuple[str, ...]) -> str:
        return _flat_output(task, before, letter, after)

    return bimachine(task.tokens, (("start",), _flat_left), (("end",), _flat_right), output, _alternating(finished))


def flat_leftmost(task: ArithmeticFlatLeftmost, finished: bool) -> Bimachine:
    """As `flat`, with the number of operators read (up to three) and whether the first is a product. If the first
    operator is a product, or a sum that no product follows, it is the leftmost that is ready; otherwise the second is,
    a product after a sum. So the leftmost part lies within the first two operators."""

    def left(state: tuple[Any, ...], letter: str) -> tuple[Any, ...]:
        inner, operators, first = state
        if letter in OPERATORS:
            first = _kind(letter) if operators == 0 else first
            operators = min(3, operators + 1)
        return _flat_left(inner, letter), operators, first

    def output(before: tuple[Any, ...], letter: str, after: tuple[str, ...]) -> str:
        inner, operators, first = before
        label = _flat_output(task, inner, letter, after)
        if label == KEEP:
            return KEEP
        if letter in OPERATORS:
            chosen = operators == 0 or (operators == 1 and first == "+" and letter == "*")
        else:
            chosen = operators <= 1 or (operators == 2 and first == "+" and inner[0] == "*")
        return label if chosen else KEEP

    start = (("start",), 0, "")
    return bimachine(task.tokens, (start, left), (("end",), _flat_right), output, _alternating(finished))


def _kind(operator: str) -> str:
    return "*" if operator == "*" else "+"


def _flat_left(state: tuple[str, ...], letter: str) -> tuple[str, ...]:
    """("start",), ("number", value, operator before or ""), or (operator, "ready" | "waiting" | "not")."""
    if letter not in OPERATORS:
        return ("number", letter, state[0] if state[0] in ("*", "+") else "")
    before = state[2] if state[0] == "number" else ""
    if letter == "*":
        return ("*", "not" if before == "*" else "ready")
    return ("+", "not" if before else "waiting")  # the first sum waits for the operator after it


def _flat_right(state: tuple[str, ...], letter: str) -> tuple[str, ...]:
    """("end",), ("number", value, operator after or ""), or (operator, operator after or "")."""
    if letter not in OPERATORS:
        return ("number", letter, state[0] if state[0] in ("*", "+") else "")
    return (_kind(letter), state[2] if state[0] == "number" else "")


def _flat_output(task: ArithmeticFlat, before: tuple[str, ...], letter: str, after: tuple[str, ...]) -> str:
    if letter in OPERATORS:
        if before[0] != "number" or after[0] != "number":
            return KEEP  # not an expression
        first, follows = before[2], after[2]
        ready = first != "*" if letter == "*" else (not first and follows != "*")
        return task.reduced(before[1], letter, after[1]) if ready else KEEP
    left_ready = before[0] in ("*", "+") and (before[1] == "ready" or (before[1] == "waiting" and after[0] != "*"))
    right_ready = (after[0] == "*" and before[0] != "*") or (
        after[0] == "+" and before[0] == "start" and after[1] != "*"
    )
    return DROP if left_ready or right_ready else KEEP


def _alternating(finished: bool) -> tuple[str, Any, Any]:
    """Numbers and operators in turn, and unless finished at least one operator."""

    def step(state: str, letter: str) -> str:
        if letter in OPERATORS:
            return "operator" if state in ("one number", "expression") else "wrong"
        return {"start": "one number", "operator": "expression"}.get(state, "wrong")

    return "start", step, lambda state: state == "expression" or (finished and state == "one number")


def parenthesised(task: ArithmeticParenthesised, finished: bool) -> Bimachine:  # noqa: ARG001
    """Left and right: how much of `( number operator number )` stands there, with the number next to the operator. The
    states are not a regular language. The domain is a larger one: all words in which `( number operator number` is
    always followed by `)` and `number operator number )` is always preceded by `(`, as it is in every state."""

    def left(state: tuple[str, str], letter: str) -> tuple[str, str]:
        longer = state[0] + _sort(letter)
        seen = "(" if letter == "(" else longer if longer in ("(n", "(no", "(non") else ""
        return seen, letter if seen == "(n" else ""

    def right(state: tuple[str, str], letter: str) -> tuple[str, str]:
        longer = _sort(letter) + state[0]
        seen = ")" if letter == ")" else longer if longer in ("n)", "on)", "non)") else ""
        return seen, letter if seen == "n)" else ""

    def output(before: tuple[str, str], letter: str, after: tuple[str, str]) -> str:
        # Beyond the parentheses anything may stand.
        head, tail = "" if letter == "(" else before[0], "" if letter == ")" else after[0]
        if head + _sort(letter) + tail != "(non)":
            return KEEP
        return task.reduced(before[1], letter, after[1]) if letter in OPERATORS else DROP

    domain = ("", _local, lambda state: state not in ("wrong", "(non"))
    return bimachine(task.tokens, (("", ""), left), (("", ""), right), output, domain, exact=False)


def _sort(letter: str) -> str:
    return letter if letter in ("(", ")") else "o" if letter in OPERATORS else "n"


def _local(state: str, letter: str) -> str:
    """How much of `( n o n` or `n o n` stands there, or that the word is wrong."""
    sort = _sort(letter)
    if state == "wrong" or (state == "(non" and sort != ")") or (state == "non" and sort == ")"):
        return "wrong"
    if sort == "(":
        return "("
    if sort == "n":
        return {"(": "(n", "(no": "(non", "no": "non"}.get(state, "n")
    if sort == "o":
        return {"(n": "(no", "n": "no", "non": "no"}.get(state, "")
    return ""


def machine_of(formulation: Formulation, finished: bool = False) -> Bimachine | None:
    """The bimachine of a formulation, None where its step is not known to be one."""
    make = _MACHINES.get(type(formulation))
    return make and make(formulation, finished)


@dataclass(frozen=True)
class MachineCheck:
    """A bimachine compared with the step it is said to be: how many states, up to which size."""

    states: int
    up_to: int


def compare(machine: Bimachine, steps: Steps, sizes: Iterable[int]) -> MachineCheck:
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
    return MachineCheck(states, up_to)


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

    accepted = ("empty", "0", "1") if finished else ("empty",)
    scope = ("start", domain, lambda state: state in accepted)
    return bimachine(task.symbols, ("start", left), NOTHING, output, scope)


def addition_columns(task: AdditionColumns, finished: bool) -> Bimachine:
    """Left: the last carry written, or that an empty place was passed. The domain: right sums, none, and zeros last."""

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

    scope = (("start", "none"), domain, lambda state: state[1] == "zeros" and (state[0] == "empty" or finished))
    return bimachine(task.symbols, ("start", left), NOTHING, output, scope)


def parity_leftmost(task: ParityLeftmost, finished: bool) -> Bimachine:  # noqa: ARG001  # one bit is a state in any case
    """Left: how many bits there are, up to two. Right: the next bit. The domain: all words but the empty one."""

    def output(before: int, letter: str, after: str) -> str:
        if before == 0 and after:
            return xor(letter, after)
        return DROP if before == 1 else KEEP

    left, right = (0, lambda state, _: min(2, state + 1)), ("", lambda _, letter: letter)
    return bimachine(task.tokens, left, right, output, (0, lambda *_: 1, lambda state: state == 1))


_MACHINES: dict[type[Formulation], Callable[[Any, bool], Bimachine]] = {
    ParityColumns: parity_columns,
    AdditionColumns: addition_columns,
    ParityLeftmost: parity_leftmost,
    ArithmeticFlat: flat,
    ArithmeticFlatLeftmost: flat_leftmost,
    ArithmeticParenthesised: parenthesised,
}
