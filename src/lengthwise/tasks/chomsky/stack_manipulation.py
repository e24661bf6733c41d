"""Following pushes and pops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.chomsky.shared import DELETANG
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task

_POP, _PUSH0 = 2, 3


@tasks.register("stack_manipulation")
@dataclass(frozen=True)
class StackManipulation(Task):
    """Read a stack of bits from the bottom, follow pushes and pops, and write what is left from the top.

    `0 1 1 0 push1 pop pop` → `1 1 0`. A pop of an empty stack does nothing, and an empty stack is an empty answer. Of
    the symbols, 1 to length - 1 are the stack, each number as likely, and the rest are instructions (a prompt of one
    symbol is a stack alone); bits and instructions are uniform. Deterministic context-free.
    """

    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "pop", "push0", "push1")

    def sample(self, size: int, draws: Draws) -> Samples:
        given = draws.integers(1, max(size, 2), 1)
        bits = draws.integers(0, 2, size)
        instructions = draws.integers(_POP, _PUSH0 + 2, size)
        places = np.arange(size)
        prompts = np.where(places < given, bits, instructions)
        # A given bit is a push as well; what lies at or above `height` is left over from earlier pushes.
        stack, height, rows = np.zeros_like(prompts), np.zeros(len(draws), dtype=np.int64), np.arange(len(draws))
        pops, pushed = prompts == _POP, prompts % _PUSH0
        for place in range(size):
            pop = pops[:, place]
            # Where the symbol is a pop, this writes above the stack, unseen; the height never passes `place`.
            stack[rows, height] = pushed[:, place]
            height = np.where(pop, np.maximum(height - 1, 0), height + 1)
        below = height[:, None] - 1 - places
        answers = np.where(below >= 0, np.take_along_axis(stack, np.maximum(below, 0), axis=1), NOTHING)
        return Samples(prompts, answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        given = next((place for place, symbol in enumerate(prompt) if symbol not in ("0", "1")), len(prompt))
        stack = list(prompt[:given])
        for instruction in prompt[given:]:
            if instruction not in self.symbols[_POP:]:
                raise UsageError(f"the prompt holds {instruction!r} where an instruction is due: pop, push0 or push1")
            if instruction == "pop":
                stack = stack[:-1]
            else:
                stack.append(instruction.removeprefix("push"))
        return stack[::-1]
