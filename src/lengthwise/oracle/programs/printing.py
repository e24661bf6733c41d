"""A program as the text that `text.parse_program` reads."""

from __future__ import annotations

import itertools
import json

from lengthwise.oracle.programs.syntax import (
    And,
    Choice,
    Compare,
    Constant,
    Count,
    Difference,
    Expression,
    Letter,
    Line,
    Multiple,
    Name,
    Not,
    Or,
    Phase,
    Program,
    Sum,
    Truth,
)

# How tightly a form holds its parts together; a part that holds less tightly than its place asks is put in parentheses.
_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _ATOM = range(8)


def print_program(program: Program) -> str:
    """The program as text, one line a definition."""
    return "".join(f"{print_line(line)}\n" for line in program.lines)


def print_line(line: Line) -> str:
    target = f"next[{_quoted(line.name)}]" if line.output else line.name
    return f"{target} := {print_expression(line.expression)}"


def print_expression(expression: Expression) -> str:
    return _text(expression, _CHOICE)


def _text(expression: Expression, place: int) -> str:
    text, strength = _form(expression)
    return text if strength >= place else f"({text})"


def _form(expression: Expression) -> tuple[str, int]:
    """An expression's text and how tightly it holds together."""
    match expression:
        case Letter(symbol):
            return _quoted(symbol), _ATOM
        case Name(name):
            return name, _ATOM
        case Truth(value):
            return ("true" if value else "false"), _ATOM
        case Phase(modulus, residue):
            return f"position % {modulus} == {residue}", _ATOM
        case Not(part):
            return f"not {_text(part, _NOT)}", _NOT
        case And(parts):
            return " and ".join(_text(part, _NOT) for part in parts), _AND
        case Or(parts):
            return " or ".join(_text(part, _AND) for part in parts), _OR
        case Compare(relation, left, right):
            return f"{_text(left, _SUM)} {relation} {_text(right, _SUM)}", _COMPARE
        case Constant(value):
            # A negative number is an atom as text; before * it reads as its factor, so there it stands in parentheses.
            return str(value), _ATOM
        case Count(what, back):
            return f"count({_text(what, _CHOICE)}{'' if back is None else ', back ' + _steps(back)})", _ATOM
        case Sum(left, right):
            return f"{_text(left, _SUM)} + {_text(right, _PRODUCT)}", _SUM
        case Difference(left, right):
            return f"{_text(left, _SUM)} - {_text(right, _PRODUCT)}", _SUM
        case Multiple(factor, term):
            return f"{factor} * {_text(term, _PRODUCT)}", _PRODUCT
        case Choice(condition, yes, no):
            return f"if {_text(condition, _CHOICE)} then {_text(yes, _SUM)} else {_text(no, _SUM)}", _CHOICE


def _quoted(symbol: str) -> str:
    return json.dumps(symbol, ensure_ascii=False)


def _steps(back: tuple[int, ...]) -> str:
    """(0, 1, 2, 5) → `0..2, 5`."""
    runs = []
    for _, group in itertools.groupby(enumerate(back), key=lambda pair: pair[1] - pair[0]):
        steps = [step for _, step in group]
        runs.append(str(steps[0]) if len(steps) == 1 else f"{steps[0]}..{steps[-1]}")
    return ", ".join(runs)
