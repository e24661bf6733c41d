"""Closing the brackets that are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Samples
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task
from lengthwise.tasks.words import Words

_PAIRS = ("()", "[]", "{}", "<>")


@tasks.register("brackets")
@dataclass(frozen=True)
class CloseBrackets(Task):
    """Write the brackets that close all those still open, in order.

    `( [ ] { (` → `) } )`. Before every symbol a fair coin opens a bracket, of a uniform kind, or closes the last one
    that is open; where none is open one is opened, and at least one is open at the end.
    """

    kinds: int = 3
    axes = (Axis("length", "brackets in the prompt"),)
    facts = Facts(circuit_class="TC0, not AC0", references=(Reference("srivastava2022", "BIG-bench, dyck_languages"),))
    preset = {"depth": 2, "heads": 2, "rate": 1e-3, "steps": 3000}

    def __post_init__(self) -> None:
        if not 1 <= self.kinds <= len(_PAIRS):
            raise UsageError(f"the number of kinds of brackets must lie between 1 and {len(_PAIRS)}, not {self.kinds}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return (*(pair[0] for pair in _PAIRS[: self.kinds]), *(pair[1] for pair in _PAIRS[: self.kinds]))

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride]
        return Words(
            "Complete the row of brackets: write the closing brackets that are missing at its end, so that every "
            "bracket is closed in the right order.",
            form="Reply with the missing brackets only, separated by single spaces.",
        )

    def sample(self, size: int, draws: Draws) -> Samples:
        items = np.arange(len(draws))
        heads, kinds = draws.integers(0, 2, size), draws.integers(0, self.kinds, size)
        prompts, open_now = np.zeros((2, len(draws), size), dtype=np.int64)
        depth = np.zeros(len(draws), dtype=np.int64)
        for place in range(size):
            opens = (heads[:, place] == 1) | (depth == 0) | ((place == size - 1) & (depth == 1))
            top = np.maximum(depth - 1, 0)
            prompts[:, place] = np.where(opens, kinds[:, place], self.kinds + open_now[items, top])
            open_now[items, np.where(opens, depth, top)] = np.where(opens, kinds[:, place], open_now[items, top])
            depth += np.where(opens, 1, -1)
        below = depth[:, None] - 1 - np.arange(size)
        closing = self.kinds + np.take_along_axis(open_now, np.maximum(below, 0), axis=1)
        return Samples(prompts, np.where(below >= 0, closing, NOTHING))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        closes, waiting = {pair[0]: pair[1] for pair in _PAIRS[: self.kinds]}, []
        for bracket in prompt:
            if bracket in closes:
                waiting.append(closes[bracket])
            elif not waiting or waiting.pop() != bracket:
                raise UsageError(
                    f"the brackets of a prompt fit one another, unlike {bracket!r} in {' '.join(prompt)!r}"
                )
        if not waiting:
            raise UsageError(f"a prompt leaves a bracket open, unlike {' '.join(prompt)!r}")
        return waiting[::-1]
