"""Bimachines of arithmetic: flat with precedence, flat with only the leftmost part reduced, and in parentheses."""

from __future__ import annotations

from typing import Any

from lengthwise.oracle.locality.bimachine import Bimachine, bimachine
from lengthwise.tasks.formulations.arithmetic import (
    OPERATORS,
    ArithmeticFlat,
    ArithmeticFlatLeftmost,
    ArithmeticParenthesised,
)
from lengthwise.tasks.formulations.rewriting import DROP, KEEP

# A product is written "*", a sum or difference "+" in the names of states.


def flat(task: ArithmeticFlat, finished: bool) -> Bimachine:
    """Left: the last number and the operator before it, or the last operator and whether it may be ready."""

    def output(before: tuple[str, ...], letter: str, after: tuple[str, ...]) -> str:
        return _flat_output(task, before, letter, after)

    return bimachine(task.tokens, (("start",), _flat_left), (("end",), _flat_right), output, _alternating(finished))


def flat_leftmost(task: ArithmeticFlatLeftmost, finished: bool) -> Bimachine:
    """As `flat`, with the number of operators read (up to three) and whether the first is a product.

    If the first operator is a product, or a sum that no product follows, it is the leftmost that is ready; otherwise
    the second is, a product after a sum. So the leftmost part lies within the first two operators.
    """

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
    """Left and right: how much of `( number operator number )` stands there, with the number beside the operator.

    The states are not a regular language. The domain is a larger one: all words in which `( number operator number` is
    always followed by `)` and `number operator number )` is always preceded by `(`, as it is in every state.
    """

    def left(state: tuple[str, str], letter: str) -> tuple[str, str]:
        seen = {("(", "n"): "(n", ("(n", "o"): "(no", ("(no", "n"): "(non"}.get((state[0], _sort(letter)), "")
        seen = "(" if letter == "(" else seen
        return seen, letter if seen == "(n" else ""

    def right(state: tuple[str, str], letter: str) -> tuple[str, str]:
        seen = {(")", "n"): "n)", ("n)", "o"): "on)", ("on)", "n"): "non)"}.get((state[0], _sort(letter)), "")
        seen = ")" if letter == ")" else seen
        return seen, letter if seen == "n)" else ""

    def output(before: tuple[str, str], letter: str, after: tuple[str, str]) -> str:
        # Beyond the parentheses anything may stand.
        head, tail = "" if letter == "(" else before[0], "" if letter == ")" else after[0]
        if head + _sort(letter) + tail != "(non)":
            return KEEP
        return task.reduced(before[1], letter, after[1]) if letter in OPERATORS else DROP

    def accepts(state: str) -> bool:
        return state not in ("wrong", "(non")

    return bimachine(task.tokens, (("", ""), left), (("", ""), right), output, ("", _local, accepts), exact=False)


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
