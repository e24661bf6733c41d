"""Whether a bit string changes its symbol an even number of times."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.chomsky.shared import DELETANG, numerals, read
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task


@tasks.register("even_pairs")
@dataclass(frozen=True)
class EvenPairs(Task):
    """Say whether `01` and `10` together occur an even (0) or an odd (1) number of times in a bit string.

    `0 0 1 1 1 0` → `0` (one `01`, one `10`); `0 1 0 1 0 0 1` → `1` (three `01`, two `10`). Every occurrence is a change
    of symbol, so the answer is 0 exactly when the first symbol equals the last. The bits are uniform. Regular.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(2)

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts[:, :1] ^ prompts[:, -1:])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        bits = read(prompt, 2)
        changes = sum(left != right for left, right in itertools.pairwise(bits))
        return [str(changes % 2)]

    def chance(self, size: int) -> Chance:
        return Chance(1.0, 1.0) if size == 1 else Chance(0.5, 0.5)
