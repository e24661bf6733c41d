"""Arithmetic modulo a small number, with brackets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.expressions import SIGNS, draw_expressions, evaluate
from lengthwise.tasks.chomsky.shared import DELETANG, at_least, numerals
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task


@tasks.register("modular_arithmetic_brackets")
@dataclass(frozen=True)
class ModularArithmeticBrackets(Task):
    """Reduce a fully bracketed expression of digits modulo `modulus`.

    `( ( 1 - 3 ) * - 4 )` → `3`, as -2 times -4 is 8. Every operator stands in brackets of its own and a minus sign may
    precede a digit; `expressions` has the grammar, which gives items of every length. As trained in the original, the
    operators are `+ - *`; without `multiplication` they are `+ -`. Deterministic context-free. With multiplication the
    value of a Boolean formula can be asked for (1-a for not, a*b for and), without it only the sign of each digit has
    to be found.
    """

    modulus: int = 5
    multiplication: bool = True
    facts = Facts(circuit_class="NC1-complete (without multiplication: TC0, not AC0)", references=(DELETANG,))

    def __post_init__(self) -> None:
        at_least(2, "modulus", self.modulus)

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
        return Chance(
            1 / self.modulus, 1 / self.modulus
        )  # one uniform digit, added or taken away, makes the sum uniform
