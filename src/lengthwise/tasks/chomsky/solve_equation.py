"""Linear equations modulo a small number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.expressions import SIGNS, draw_expressions, evaluate
from lengthwise.tasks.chomsky.shared import DELETANG, at_least, numerals
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task


@tasks.register("solve_equation")
@dataclass(frozen=True)
class SolveEquation(Task):
    """Find the digit x that solves an equation of sums and differences modulo `modulus`.

    `( ( 1 - x ) + 2 ) = 4` → `4`, as 1 - 4 + 2 is 4 modulo 5. The left side is an expression of
    `modular_arithmetic_brackets` without multiplication, in which x replaces one digit: the first at or after a uniform
    place, going around. x occurs once and counts +1 or -1, so exactly one digit solves the equation. Deterministic
    context-free. The original gives prompts of fewer than three symbols a dummy answer; here they do not exist.
    """

    modulus: int = 5
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    def __post_init__(self) -> None:
        at_least(2, "modulus", self.modulus)

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
