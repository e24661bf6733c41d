"""Looking up the value of a key."""

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
from lengthwise.tasks.task import Axis, Task


@tasks.register("associative_recall")
@dataclass(frozen=True)
class AssociativeRecall(Task):
    """Say which value was paired with the key that is asked for at the end.

    `k3 v1 k7 v0 k4 v1 k7` → `v0`. The keys of a prompt are distinct, the values are uniform and independent, and every
    pair is as likely to be asked for. The alphabets do not grow with the size, so a longer prompt holds no unseen
    symbol; the number of keys bounds the number of pairs.
    """

    keys: int = 150
    values: int = 26
    axes = (Axis("pairs", "key-value pairs in the prompt", largest=150),)
    facts = Facts(circuit_class="AC0", references=(Reference("ba2016", "associative retrieval task"),))

    def __post_init__(self) -> None:
        if self.keys < 1 or self.values < 2:
            raise UsageError(f"recall needs at least one key and two values, not {self.keys} and {self.values}")
        object.__setattr__(self, "axes", (Axis("pairs", "key-value pairs in the prompt", largest=self.keys),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*(f"k{number}" for number in range(self.keys)), *(f"v{number}" for number in range(self.values)))

    def sample(self, size: int, draws: Draws) -> Samples:
        keys = draws.subset(self.keys, size)
        values = self.keys + draws.integers(0, self.values, size)
        asked = draws.integers(0, size, 1)
        pairs = np.stack([keys, values], axis=2).reshape(len(draws), 2 * size)
        prompts = np.concatenate([pairs, np.take_along_axis(keys, asked, axis=1)], axis=1)
        return Samples(prompts, np.take_along_axis(values, asked, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        known = set(self.symbols)
        if len(prompt) % 2 == 0 or not set(prompt) <= known or any(symbol[0] != "k" for symbol in prompt[::2]):
            raise UsageError(f"a prompt is pairs of a key and a value, then a key, not {' '.join(prompt)!r}")
        if any(symbol[0] != "v" for symbol in prompt[1::2]):
            raise UsageError(f"every key is followed by a value, which is not so in {' '.join(prompt)!r}")
        *keys, asked = prompt[::2]
        if len(set(keys)) < len(keys):
            raise UsageError(f"the keys of a prompt are distinct, and {' '.join(prompt)!r} repeats one")
        if asked not in keys:
            raise UsageError(f"{asked} is asked for, and no pair of {' '.join(prompt)!r} has this key")
        return (dict(zip(keys, prompt[1::2], strict=True))[asked],)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """The value asked for is uniform."""
        return Chance(1 / self.values, 1 / self.values)
