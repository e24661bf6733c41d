"""What followed the last symbol when it occurred before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.letters import check_letters, first_letters
from lengthwise.tasks.task import Axis, Task


@tasks.register("induction")
@dataclass(frozen=True)
class Induction(Task):
    """Say which symbol followed the last one when it occurred before.

    `d a c b a` → `c`. The last symbol occurs exactly once before, anywhere but right before the end, where it would be
    its own answer; that place is uniform, and the other symbols are uniform and independent among the other letters.
    The smallest size is 3, as in `a b a`.
    """

    letters: int = 26
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(circuit_class="AC0", references=(Reference("olsson2022", "induction heads"),))

    def __post_init__(self) -> None:
        check_letters(self.letters)

    @property
    def symbols(self) -> tuple[str, ...]:
        return first_letters(self.letters)

    def sample(self, size: int, draws: Draws) -> Samples:
        last = draws.integers(0, self.letters, 1)
        before = draws.integers(0, size - 2, 1)
        others = draws.integers(1, self.letters, size)  # steps from the last symbol, so never the symbol itself
        places = np.arange(size)
        prompts = np.where((places == before) | (places == size - 1), last, (last + others) % self.letters)
        return Samples(prompts, np.take_along_axis(prompts, before + 1, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not prompt or not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt is made of the letters a to {self.symbols[-1]}, not {' '.join(prompt)!r}")
        *earlier, last = prompt
        if earlier.count(last) != 1:
            raise UsageError(f"the last symbol occurs exactly once before, which is not so in {' '.join(prompt)!r}")
        return (prompt[earlier.index(last) + 1],)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Renaming the letters maps the items onto themselves, so every letter is as likely."""
        return Chance(1 / self.letters, 1 / self.letters)
