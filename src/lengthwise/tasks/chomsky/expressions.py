"""Arithmetic modulo a small number: flat, with brackets, and as an equation to solve.

The grammar of bracketed expressions, by the number n of symbols (d a digit):

    n = 1  d        n = 2  -d        n = 3  (d)        n = 4  (-d)
    n ≥ 5  (E∘F), where E has 1 to n-4 symbols, each number as likely, F has the rest, and ∘ is a uniform operator

so an expression exists at every n ≥ 1, and brackets leave no question of precedence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.strings import DELETANG, ModularTask, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis

OPERATORS = ("+", "-", "*")
_TABLE = 100  # the largest modulus of which a square table is multiplied at every step


@tasks.register("modular_arithmetic")
@dataclass(frozen=True)
class ModularArithmetic(ModularTask):
    """Reduce a sum, difference and product of digits modulo `modulus`; products come first.

    `1 + 2 * 3` → `2`; `1 - 1 - 1` → `4`. Digits and operators alternate, so the length is odd; the original shortens
    an even length by one, here such sizes do not exist. Digits and operators are uniform. Regular: a machine needs to
    remember the sum so far and the current product.
    """

    axes = (Axis("length", "symbols in the prompt, an odd number"),)
    facts = Facts(circuit_class="ACC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(self.modulus), *OPERATORS)

    def has(self, size: int) -> bool:
        return super().has(size) and size % 2 == 1

    def sample(self, size: int, draws: Draws) -> Samples:
        digits = draws.integers(0, self.modulus, size // 2 + 1)
        operators = draws.integers(0, len(OPERATORS), size // 2)
        prompts = np.empty((len(draws), size), dtype=np.int64)
        prompts[:, ::2], prompts[:, 1::2] = digits, self.modulus + operators
        total, term = np.zeros(len(draws), dtype=np.int64), digits[:, 0]
        minus, times = OPERATORS.index("-"), OPERATORS.index("*")
        for column in range(size // 2):
            operator, digit = operators[:, column], digits[:, column + 1]
            total = np.where(operator == times, total, total + term)
            # Reduced at every step, so that long products stay exact.
            term = np.where(operator == times, term * digit, np.where(operator == minus, -digit, digit)) % self.modulus
        return Samples(prompts, ((total + term) % self.modulus)[:, None])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        digits, operators = read(prompt[::2], self.modulus), list(prompt[1::2])
        if len(digits) != len(operators) + 1 or not set(operators) <= set(OPERATORS):
            raise UsageError("the prompt is not digits with one of + - * between each two")
        starts = [0, *(place + 1 for place, operator in enumerate(operators) if operator != "*")]
        ends = [*starts[1:], len(digits)]
        signs = [-1 if start and operators[start - 1] == "-" else 1 for start in starts]
        terms = (sign * math.prod(digits[start:end]) for sign, start, end in zip(signs, starts, ends, strict=True))
        return [str(sum(terms) % self.modulus)]

    def chance(self, size: int) -> Chance:
        """The joint distribution of the sum so far and the current product, operator by operator."""
        if self.modulus > _TABLE:
            return super().chance(size)
        numbers = np.arange(self.modulus)
        times = np.zeros((self.modulus, self.modulus))  # from a product to the next, by a uniform digit
        np.add.at(times, (numbers[:, None], np.outer(numbers, numbers) % self.modulus), 1 / self.modulus)
        place = (numbers[:, None] + numbers).ravel() % self.modulus
        state = np.zeros((self.modulus, self.modulus))
        state[0] = 1 / self.modulus
        for _ in range(size // 2):
            added = np.bincount(place, state.ravel())
            state = state @ times / 3 + added[:, None] * 2 / (3 * self.modulus)  # minus a uniform digit is uniform
        best = float(np.bincount(place, state.ravel()).max())
        return Chance(best, best)


@tasks.register("modular_arithmetic_brackets")
@dataclass(frozen=True)
class ModularArithmeticBrackets(ModularTask):
    """Reduce a fully bracketed expression of digits modulo `modulus`.

    `( ( 1 - 3 ) * - 4 )` → `3`, as -2 times -4 is 8. Every operator stands in brackets of its own and a minus sign may
    precede a digit; `expressions` has the grammar, which gives items of every length. As trained in the original, the
    operators are `+ - *`; without `multiplication` they are `+ -`. Deterministic context-free. With multiplication the
    value of a Boolean formula can be asked for (1-a for not, a*b for and), without it only the sign of each digit has
    to be found.
    """

    multiplication: bool = True
    facts = Facts(circuit_class="NC1-complete (without multiplication: TC0, not AC0)", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(self.modulus), *SIGNS, *(("*",) if self.multiplication else ()))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts, values = draw_expressions(draws, size, self.modulus, self.multiplication)
        return Samples(prompts, values[:, None])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if "*" in prompt and not self.multiplication:
            raise UsageError("the prompt multiplies, and this task is set to have no multiplication")
        return [str(evaluate(prompt, self.modulus))]

    def chance(self, size: int) -> Chance:
        if self.multiplication:
            return super().chance(size)
        # One uniform digit, added or taken away, makes the sum uniform.
        return Chance(1 / self.modulus, 1 / self.modulus)


@tasks.register("solve_equation")
@dataclass(frozen=True)
class SolveEquation(ModularTask):
    """Find the digit x that solves an equation of sums and differences modulo `modulus`.

    `( ( 1 - x ) + 2 ) = 4` → `4`, as 1 - 4 + 2 is 4 modulo 5. The left side is an expression of
    `modular_arithmetic_brackets` without multiplication, in which x replaces one digit: the first at or after a uniform
    place, going around. x occurs once and counts +1 or -1, so exactly one digit solves the equation. Deterministic
    context-free. The original gives prompts of fewer than three symbols a dummy answer; here they do not exist.
    """

    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(self.modulus), *SIGNS, "x", "=")

    def sample(self, size: int, draws: Draws) -> Samples:
        width = size - 2
        expressions, values = draw_expressions(draws, width, self.modulus, multiplication=False)
        ahead = (np.arange(width) - draws.integers(0, width, 1)) % width
        place = np.where(expressions < self.modulus, ahead, width).argmin(axis=1)[:, None]
        answers = np.take_along_axis(expressions, place, axis=1)
        unknown, equals = self.modulus + len(SIGNS), self.modulus + len(SIGNS) + 1
        np.put_along_axis(expressions, place, unknown, axis=1)
        return Samples(np.column_stack([expressions, np.full(len(draws), equals), values]), answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        left, right = list(prompt[:-2]), list(prompt[-2:])
        if left.count("x") != 1 or "*" in left or right[:1] != ["="] or right[1:] == ["x"]:
            raise UsageError("the prompt is not an expression with one x and no product, then = and a digit")
        constant, one = (evaluate(left, self.modulus, unknown) for unknown in (0, 1))
        coefficient = one - constant  # 1 or -1 modulo the modulus, hence its own inverse
        return [str(coefficient * (evaluate(right[1:], self.modulus) - constant) % self.modulus)]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(1 / self.modulus, 1 / self.modulus)


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
