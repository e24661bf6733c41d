"""The law of the next letter after the last k letters, as seen in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.letters import first_letters
from lengthwise.tasks.retrieval.chain import check_chain, follower_counts, seen_before
from lengthwise.tasks.task import Axis, Task


@tasks.register("kgram_law")
@dataclass(frozen=True)
class KgramLaw(Task):
    """Give how often each letter followed the last k letters earlier in the prompt, as shares of 1.

    `a b c a b a a b c b a b` → `1/3 0 2/3` for k = 2: `a b` was followed by `c`, `a` and `c`. No sampler is published:
    here every prompt comes from a random chain of its own, so that the shares differ between prompts at any size, and
    ends with k letters that occurred before. The smallest size is k + 1. An answer counts as right if every share is
    within 0.1.
    """

    k: int = 2
    letters: int = 3
    readout = "numbers"
    tolerance = 0.1
    axes = (Axis("length", "symbols in the prompt", smallest=3),)
    facts = Facts(references=(Reference("izzo2026", "experiments, in-context k-gram"),))

    def __post_init__(self) -> None:
        check_chain(self.k, self.letters)
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.k + 1),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return first_letters(self.letters)

    @property
    def outputs(self) -> int:
        return self.letters

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = seen_before(size, self.k, self.letters, draws)
        counts = follower_counts(prompts, self.k, self.letters)
        return Samples(prompts, counts / counts.sum(axis=1, keepdims=True))

    def solve(self, prompt: Sequence[str]) -> Sequence[float]:
        if not set(prompt) <= set(self.symbols):
            raise UsageError(f"a prompt is made of the letters a to {self.symbols[-1]}, not {' '.join(prompt)!r}")
        context = list(prompt[-self.k :])
        ends = range(self.k, len(prompt))
        after = [prompt[end] for end in ends if list(prompt[end - self.k : end]) == context]
        if not after:
            raise UsageError(f"the last {self.k} letters of {' '.join(prompt)!r} do not occur before")
        return [after.count(letter) / len(after) for letter in self.symbols]
