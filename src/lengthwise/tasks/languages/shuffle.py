"""Two kinds of brackets, each balanced for itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Floats
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.languages.counters import balanced, counter_facts, heights
from lengthwise.tasks.languages.next_symbol import NextSymbol
from lengthwise.tasks.task import Axis


@tasks.register("shuffle_2")
@dataclass(frozen=True)
class ShuffleTwo(NextSymbol):
    """Tag every prefix of two shuffled balanced words, of ( ) and of [ ], with what may come next.

    `( [ ) ]` → `{(,[,$} {(,),[} {(,),[,]} {(,[,]} {(,[,$}`. Words are uniform among those of their length, which is
    even.
    """

    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "brackets in the word", smallest=2),)
    facts = counter_facts(circuit_class="TC0, not AC0", offset=(85.9, 82.2, 50.4), none=(81.2, 79.8, 42.7))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("(", ")", "[", "]", "{(,[,$}", "{(,),[}", "{(,[,]}", "{(,),[,]}")

    def has(self, size: int) -> bool:
        return size >= 2 and size % 2 == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        """How many pairs are round, which places they take, and two balanced words for the places: all uniform."""
        round_pairs = np.searchsorted(_shares(size // 2), draws.uniform(1)[:, 0], side="right")
        ranks = draws.permutation(size)
        is_round = ranks < 2 * round_pairs[:, None]
        steps = [balanced(pairs, size, draws) for pairs in (round_pairs, size // 2 - round_pairs)]
        # The n-th place of a kind takes the n-th bracket of that kind's word.
        own = [
            np.where(taken, np.take_along_axis(word, np.maximum(taken.cumsum(axis=1) - 1, 0), axis=1), 0)
            for taken, word in zip((is_round, ~is_round), steps, strict=True)
        ]
        prompts = np.where(is_round, 0, 2) + (own[0] + own[1] < 0)
        return Samples(prompts, 4 + (heights(own[0]) > 0) + 2 * (heights(own[1]) > 0))

    def chance(self, size: int) -> Chance:
        """No tag stands both outside of all brackets and inside one."""
        return super().chance(size).knowing(0.0)

    def legal(self, word: Sequence[str]) -> Iterator[list[str]]:
        still = {")": 0, "]": 0}
        yield ["(", "[", "$"]
        for bracket in word:
            if bracket not in ("(", ")", "[", "]"):
                raise UsageError(f"{bracket!r} is none of the brackets ( ) [ ]")
            kind = ")" if bracket in "()" else "]"
            still[kind] += 1 if bracket in "([" else -1
            if still[kind] < 0:
                yield []
                return
            legal = ["(", *(")" * (still[")"] > 0)), "[", *("]" * (still["]"] > 0))]
            yield legal if any(still.values()) else [*legal, "$"]


def _shares(pairs: int) -> Floats:
    """The share of words with at most i round pairs, for i below `pairs`: there are C(2n, 2i) Cat(i) Cat(n - i)."""
    logs = [
        -math.lgamma(i + 1) - math.lgamma(i + 2) - math.lgamma(pairs - i + 1) - math.lgamma(pairs - i + 2)
        for i in range(pairs + 1)
    ]
    weights = np.exp(np.array(logs) - max(logs)).cumsum()
    return weights[:-1] / weights[-1]
