"""The most frequent follower of the last k letters."""

from __future__ import annotations

from collections import Counter
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
from lengthwise.tasks.letters import first_letters
from lengthwise.tasks.retrieval.chain import check_chain, follower_counts, seen_before
from lengthwise.tasks.task import Axis, Task


@tasks.register("kgram")
@dataclass(frozen=True)
class Kgram(Task):
    """Say which letter most often followed the last k letters earlier in the prompt.

    `a b c a b a a b c b a b` → `c` for k = 2: `a b` was followed by `c`, `a` and `c`. Every prompt comes from a random
    chain of its own and ends with k letters that occurred before; it is drawn again while two letters are tied for the
    most frequent follower. The smallest size is k + 1, one letter repeated.
    """

    k: int = 2
    letters: int = 3
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(
        circuit_class="TC0, not AC0",
        references=(Reference("izzo2026", "experiments, in-context k-gram"),),
    )

    def __post_init__(self) -> None:
        check_chain(self.k, self.letters)
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.k + 1),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return first_letters(self.letters)

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts, winners = np.zeros((len(draws), size), dtype=np.int64), np.zeros((len(draws), 1), dtype=np.int64)
        waiting = np.ones(len(draws), dtype=bool)
        while waiting.any():
            tries = seen_before(size, self.k, self.letters, draws)
            counts = follower_counts(tries, self.k, self.letters)
            single = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
            found = waiting & single
            prompts[found], winners[found, 0] = tries[found], counts[found].argmax(axis=1)
            waiting &= ~single
        return Samples(prompts, winners)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt is made of the letters a to {self.symbols[-1]}, not {' '.join(prompt)!r}")
        text, context = "".join(prompt), "".join(prompt[-self.k :])
        counts = Counter(text[end] for end in range(self.k, len(text)) if text[:end].endswith(context))
        if not counts:
            raise UsageError(f"the last {self.k} letters of {' '.join(prompt)!r} do not occur before")
        (winner, most), *others = counts.most_common(2)
        if others and others[0][1] == most:
            raise UsageError(f"two letters are tied for the most frequent follower in {' '.join(prompt)!r}")
        return (winner,)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Renaming the letters maps the items onto themselves, so every letter is as likely."""
        return Chance(1 / self.letters, 1 / self.letters)
