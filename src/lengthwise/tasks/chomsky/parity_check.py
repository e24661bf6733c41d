"""The parity of a bit string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, numerals, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task


@tasks.register("parity_check")
@dataclass(frozen=True)
class ParityCheck(Task):
    """Say whether a bit string holds an even (0) or an odd (1) number of ones.

    `1 0 1 0 1 0 0` → `1`; `0 1 1 1 1` → `0`. The bits are uniform, so the number of ones is close to half the length;
    a task that draws the number of ones uniformly is a different one. Regular.
    """

    facts = Facts(
        circuit_class="ACC0, not AC0",
        crasp={"learned+offset": False, "none": False},
        references=(DELETANG,),
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(2)

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts.sum(axis=1, keepdims=True) % 2)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        odd = False
        for bit in read(prompt, 2):
            odd ^= bit == 1
        return ["1" if odd else "0"]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)
