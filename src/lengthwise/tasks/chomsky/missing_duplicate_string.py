"""Filling the hole in a string written twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, numerals, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task

_HOLE = 2


@tasks.register("missing_duplicate_string")
@dataclass(frozen=True)
class MissingDuplicateString(Task):
    """Name the one bit that is missing from a bit string written twice.

    `0 1 1 0 0 _ 1 0` → `1`. Bits and hole are uniform. The original fills an odd length with an empty symbol at the end
    and answers a length of one with 1; here only even lengths exist. Context-sensitive.
    """

    axes = (Axis("length", "symbols in the prompt, an even number", smallest=2),)
    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*numerals(2), "_")

    def has(self, size: int) -> bool:
        return super().has(size) and size % 2 == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        bits = draws.integers(0, 2, size // 2)
        prompts = np.concatenate([bits, bits], axis=1)
        hole = draws.integers(0, size, 1)
        answers = np.take_along_axis(prompts, hole, axis=1)
        np.put_along_axis(prompts, hole, _HOLE, axis=1)
        return Samples(prompts, answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        half = len(prompt) // 2
        pairs = list(zip(prompt[:half], prompt[half:], strict=False))
        broken = [pair for pair in pairs if pair[0] != pair[1]]
        if len(prompt) % 2 or len(broken) != 1 or "_" not in broken[0] or list(prompt).count("_") != 1:
            raise UsageError("the prompt is not a bit string written twice with one _ in place of a bit")
        return [str(read([symbol for symbol in broken[0] if symbol != "_"], 2)[0])]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)
