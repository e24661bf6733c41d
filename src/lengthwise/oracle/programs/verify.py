"""Whether a program solves a task: every short prompt and some long ones, against the task's own solver."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.programs.interpreter import run_tokens
from lengthwise.oracle.programs.measures import depth, locality, needs, period, size
from lengthwise.oracle.programs.prompts import Item, all_items, drawn_items, longest_prompt
from lengthwise.oracle.programs.syntax import Program
from lengthwise.records import Assumption, Check, Claim, Reference
from lengthwise.tasks.task import Task

HUANG = Reference("huang2025", "C-RASP[periodic, local] and its limit transformers")
_CELLS = 400_000  # positions evaluated at once, which bounds the memory of a program with many names
_CHUNK = 2_000  # strings tried between two looks at the clock
_SAMPLED_SIZES = (8, 16, 32, 64)


@dataclass(frozen=True)
class Mismatch:
    """Where a program is wrong: after `text`, `wanted` is right and the program says `said`."""

    prompt: tuple[str, ...]
    text: tuple[str, ...]
    wanted: tuple[str, ...]
    said: tuple[str, ...]

    def __str__(self) -> str:
        said = f"{' and '.join(self.said)} come next" if self.said else "nothing comes next"
        return f"after `{' '.join(self.text)}` the program says that {said}; right is {' and '.join(self.wanted)}"


@dataclass(frozen=True)
class Verified:
    """What was checked.

    All prompts of up to `checked_to` symbols were (0: not even those of the first length), which `exhaustive` says in
    one word; beyond that `sampled` drawn ones of up to `sampled_to` symbols. `items` counts both.
    """

    program: Program
    checked_to: int
    items: int
    exhaustive: bool
    mismatch: Mismatch | None
    sampled: int = 0
    sampled_to: int = 0

    def claim(self) -> Claim:
        right = self.mismatch is None
        return Claim(
            "C-RASP program",
            right if self.items or self.mismatch else None,
            "",
            "certified" if self.exhaustive or not right else "measured",
            "refuted" if not right else "holds" if self.items else "unknown",
            assumptions=(
                Assumption(f"the program is right on all prompts of up to {symbols(self.checked_to)}", self._checked),
                Assumption("the program goes on being right on longer prompts", "assumed" if right else "violated"),
                Assumption("the encoding is none, or learned positions with random offsets", "assumed"),
            ),
            reference=HUANG,
            evidence=self.plain(),
        )

    @property
    def _checked(self) -> Check:
        return "violated" if self.mismatch else "checked" if self.exhaustive else "assumed"

    def explain(self) -> list[str]:
        far = locality(self.program)
        uses = [f"period {period(self.program)}"] if period(self.program) > 1 else []
        uses += [f"local operations up to {max(far.each)} back"] if any(far.each) else []
        sentences = [
            f"The program has {size(self.program)} operations, counts nested {depth(self.program)} deep and uses "
            + (f"{' and '.join(uses)}." if uses else "no position."),
        ]
        if self.mismatch:
            return [*sentences, f"It is wrong: {self.mismatch}."]
        if self.exhaustive:
            sentences.append(f"It is right on every prompt of up to {symbols(self.checked_to)}.")
        if self.sampled:
            sentences.append(f"It is right on {self.sampled} drawn prompts of up to {symbols(self.sampled_to)}.")
        return [*sentences, "That it goes on being right on longer prompts is assumed."]

    def plain(self) -> dict[str, Any]:
        wrong = self.mismatch
        return {
            "checked_to": self.checked_to,
            "items": self.items,
            "exhaustive": self.exhaustive,
            "sampled": self.sampled,
            "sampled_to": self.sampled_to,
            "mismatch": wrong and {"text": list(wrong.text), "wanted": list(wrong.wanted), "said": list(wrong.said)},
            "needs": needs(self.program),
            "period": period(self.program),
            "locality": locality(self.program).total,
            "depth": depth(self.program),
            "size": size(self.program),
        }


def symbols(count: int) -> str:
    return "1 symbol" if count == 1 else f"{count} symbols"


def verify_program(
    program: Program, task: Task, *, longest: int | None = None, budget_seconds: float = 0.4
) -> Verified:
    """Compare a program with a task's solver at every scored position.

    All prompts of 1, 2, ... symbols (to `longest`, if given) are tried for about two thirds of the budget; a length
    that is not finished does not count as checked. The rest of the time goes to prompts as the task draws them. Time
    is that of the processor, so that a busy machine checks as much.
    """
    if not program.outputs:
        raise UsageError('the program has no output; a line such as next["a"] := ... says when a may come next')
    start = time.process_time()
    checked_to, items, mismatch = _exhaust(program, task, longest, start + budget_seconds * 2 / 3)
    sampled = sampled_to = 0
    if mismatch is None:
        sampled, sampled_to, mismatch = _sample(program, task, start + budget_seconds)
    return Verified(program, checked_to, items + sampled, checked_to > 0, mismatch, sampled, sampled_to)


def _exhaust(program: Program, task: Task, longest: int | None, deadline: float) -> tuple[int, int, Mismatch | None]:
    """How far all prompts were checked, how many there were, and the first that is wrong."""
    checked_to = items = 0
    finished: list[Item] | None = None
    end = min((length for length in (longest, longest_prompt(task)) if length is not None), default=None)
    for length in itertools.count(1) if end is None else range(1, end + 1):
        began = time.process_time()
        found, wrong = _one_length(program, all_items(task, length, finished), deadline)
        if wrong or found is None:
            return checked_to, items, wrong
        growth = len(found) / max(len(finished), 1) if finished else len(task.symbols)
        finished = found
        items += len(found)
        checked_to = length if items else 0
        # A length that could not be finished in time is not begun.
        if time.process_time() + growth * (time.process_time() - began) > deadline:
            break
    return checked_to, items, None


def _one_length(
    program: Program, tries: Iterable[Item | None], deadline: float
) -> tuple[list[Item] | None, Mismatch | None]:
    """The items of a length and the first that is wrong; no list when the time is over."""
    found: list[Item] = []
    waiting: list[Item] = []
    for number, item in enumerate(tries, start=1):
        if item is not None:
            waiting.append(item)
        if number % _CHUNK == 0:
            if time.process_time() > deadline:
                return None, None
            if wrong := first_mismatch(program, waiting):
                return None, wrong
            found, waiting = found + waiting, []
    return found + waiting, first_mismatch(program, waiting)


def _sample(program: Program, task: Task, deadline: float) -> tuple[int, int, Mismatch | None]:
    """How many drawn prompts were compared, the longest of them, and one that is wrong; at least one size is tried."""
    sampled = longest = 0
    nearest = [task.sizes(near, near + 16)[:1] or task.sizes(1, near)[-1:] for near in _SAMPLED_SIZES]
    for drawn in dict.fromkeys(itertools.chain.from_iterable(nearest)):
        items = drawn_items(task, drawn, 24)
        if wrong := first_mismatch(program, items):
            return sampled, longest, wrong
        sampled, longest = sampled + len(items), max(longest, *(len(item.prompt) for item in items))
        if time.process_time() > deadline:
            break
    return sampled, longest, None


def first_mismatch(program: Program, items: Sequence[Item]) -> Mismatch | None:
    """The first item, and in it the first position, at which the program is wrong."""
    if not items:
        return None
    width = max(len(item.text) for item in items)
    step = max(1, _CELLS // width)
    for start in range(0, len(items), step):
        if wrong := _compare(program, items[start : start + step], width):
            return wrong
    return None


def _compare(program: Program, items: Sequence[Item], width: int) -> Mismatch | None:
    index: dict[str, int] = {}
    sets: dict[frozenset[str], int] = {}
    tokens = np.full((len(items), width), -1)
    wanted = np.full((len(items), width), -1)
    for row, item in enumerate(items):
        tokens[row, : len(item.text)] = [index.setdefault(symbol, len(index)) for symbol in item.text]
        numbers = [sets.setdefault(legal, len(sets)) for legal in item.wanted]
        wanted[row, item.first : item.first + len(numbers)] = numbers
    said = run_tokens(program, tokens, tuple(index)).following
    wrong = np.isin(wanted, [number for legal, number in sets.items() if not legal <= said.keys()])
    for symbol, here in said.items():
        right = np.array([symbol in legal for legal in sets] + [False])  # the last for positions not asked
        wrong |= here != right[wanted]
    wrong &= wanted >= 0
    if not wrong.any():
        return None
    row, place = np.argwhere(wrong)[0]
    item = items[row]
    return Mismatch(
        item.prompt,
        item.text[: place + 1],
        tuple(sorted(item.wanted[place - item.first])),
        tuple(symbol for symbol, here in said.items() if here[row, place]),
    )
