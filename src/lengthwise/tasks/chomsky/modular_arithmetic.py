"""Arithmetic modulo a small number, without brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, at_least, numerals, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task

OPERATORS = ("+", "-", "*")
_MINUS, _TIMES = 1, 2
_TABLE = 100  # the largest modulus of which a square table is multiplied at every step


@tasks.register("modular_arithmetic")
@dataclass(frozen=True)
class ModularArithmetic(Task):
    """Reduce a sum, difference and product of digits modulo `modulus`; products come first.

    `1 + 2 * 3` → `2`; `1 - 1 - 1` → `4`. Digits and operators alternate, so the length is odd; the original shortens
    an even length by one, here such sizes do not exist. Digits and operators are uniform. Regular: a machine needs to
    remember the sum so far and the current product.
    """

    modulus: int = 5
    axes = (Axis("length", "symbols in the prompt, an odd number"),)
    facts = Facts(circuit_class="ACC0, not AC0", references=(DELETANG,))

    def __post_init__(self) -> None:
        at_least(2, "modulus", self.modulus)

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
        for column in range(size // 2):
            operator, digit = operators[:, column], digits[:, column + 1]
            total = np.where(operator == _TIMES, total, total + term)
            # Reduced at every step, so that long products stay exact.
            term = (
                np.where(operator == _TIMES, term * digit, np.where(operator == _MINUS, -digit, digit)) % self.modulus
            )
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
