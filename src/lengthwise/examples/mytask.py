from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Draws
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.task import Axis, Task


@dataclass(frozen=True)
class LastFirst(Task):
    """Write the last symbol of a string, then the first.

    `a c b` → `b a`.
    """

    letters: int = 4
    axes = (Axis("length", "letters in the string"),)

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("abcdefghijklmnopqrstuvwxyz"[: self.letters])

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.letters, size)
        return Samples(prompts, np.stack([prompts[:, -1], prompts[:, 0]], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [prompt[-1], prompt[0]]
