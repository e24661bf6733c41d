"""Bracketed expressions modulo a small number: drawn and evaluated for a whole batch, and read one at a time.

The grammar, by the number n of symbols (d a digit):

    n = 1  d        n = 2  -d        n = 3  (d)        n = 4  (-d)
    n ≥ 5  (E∘F), where E has 1 to n-4 symbols, each number as likely, F has the rest, and ∘ is a uniform operator

so an expression exists at every n ≥ 1, and brackets leave no question of precedence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.chomsky.shared import numerals

SIGNS = ("+", "-", "(", ")")  # the symbols that follow the digits in every task of this grammar; `*` comes next
_PLUS, _MINUS, _OPEN, _CLOSE, _TIMES = range(5)
_OPERATORS = np.array([_PLUS, _MINUS, _TIMES])


def draw_expressions(draws: Draws, size: int, modulus: int, multiplication: bool) -> tuple[Ints, Ints]:
    """Expressions of `size` symbols, [items, size], and their values, [items]; `+` has the index `modulus`.

    The places are visited from the left: `spans[i, p]` is the length of the expression of item i that starts at p (0
    if none does), and writing it sets the spans of its parts, which start further right. Every place has random numbers
    of its own and uses each at most once. O(items x size) with a loop over the places.
    """
    digits = draws.integers(0, modulus, size)
    operators = modulus + _OPERATORS[draws.integers(0, 3 if multiplication else 2, size)]
    cuts = draws.uniform(size)
    written, spans = digits.copy(), np.zeros_like(digits)
    middles = np.zeros_like(digits)  # where the operator of the expression that starts here stands
    spans[:, 0] = size
    for start in range(size - 1):  # the last place holds a digit, which is there already, or a bracket
        span = spans[:, start]
        (rows,) = np.nonzero(span == 2)
        written[rows, start], spans[rows, start + 1] = modulus + _MINUS, 1
        (rows,) = np.nonzero(span >= 3)
        written[rows, start], written[rows, start + span[rows] - 1] = modulus + _OPEN, modulus + _CLOSE
        spans[rows, start + 1] = span[rows] - 2
        (rows,) = np.nonzero(span >= 5)
        left = 1 + (cuts[rows, start] * (span[rows] - 4)).astype(np.int64)
        middle = start + 1 + left
        written[rows, middle], middles[rows, start] = operators[rows, middle], middle
        spans[rows, start + 1], spans[rows, middle + 1] = left, span[rows] - 3 - left
    return written, _values(written, spans, middles, modulus)


def _values(written: Ints, spans: Ints, middles: Ints, modulus: int) -> Ints:
    """The values of the whole expressions, [items]; from the right, so that the parts are known before the whole."""
    values = written.copy()
    for start in reversed(range(written.shape[1] - 1)):
        span = spans[:, start]
        (rows,) = np.nonzero(span == 2)
        values[rows, start] = -values[rows, start + 1] % modulus
        (rows,) = np.nonzero((span == 3) | (span == 4))
        values[rows, start] = values[rows, start + 1]
        (rows,) = np.nonzero(span >= 5)
        middle = middles[rows, start]
        left, right, operator = values[rows, start + 1], values[rows, middle + 1], written[rows, middle] - modulus
        combined = np.select([operator == _PLUS, operator == _MINUS], [left + right, left - right], left * right)
        values[rows, start] = combined % modulus
    return values[:, 0]


def evaluate(symbols: Sequence[str], modulus: int, unknown: int | None = None) -> int:
    """The value of one expression read symbol by symbol, `unknown` standing for `x` when it is given. O(length)."""
    digits = {numeral: number for number, numeral in enumerate(numerals(modulus))}
    if unknown is not None:
        digits["x"] = unknown
    frames: list[list[int | str]] = [[]]  # what is open: one list of numbers and operators a bracket
    for symbol in symbols:
        if symbol == "(":
            frames.append([])
        elif symbol == ")" and len(frames) > 1:
            inner = frames.pop()
            frames[-1].append(_reduced(inner, modulus))
        elif symbol in ("+", "-", "*"):
            frames[-1].append(symbol)
        elif symbol in digits:
            frames[-1].append(digits[symbol])
        else:
            raise UsageError(f"the symbol {symbol!r} has no place in this expression")
    if len(frames) > 1:
        raise UsageError("a bracket of the expression is never closed")
    return _reduced(frames[0], modulus)


def _reduced(parts: list[int | str], modulus: int) -> int:
    """One operand, or two with an operator between them; an operand may carry a minus sign."""
    left, parts = _operand(parts)
    if not parts:
        return left % modulus
    operator, (right, rest) = parts[0], _operand(parts[1:])
    if rest or operator not in ("+", "-", "*"):
        raise UsageError("an expression joins exactly two operands in a pair of brackets")
    return {"+": left + right, "-": left - right, "*": left * right}[str(operator)] % modulus


def _operand(parts: list[int | str]) -> tuple[int, list[int | str]]:
    sign = -1 if parts[:1] == ["-"] else 1
    parts = parts[1:] if sign < 0 else parts
    if not parts or not isinstance(parts[0], int):
        raise UsageError("an operand is missing in the expression")
    return sign * parts[0], parts[1:]
