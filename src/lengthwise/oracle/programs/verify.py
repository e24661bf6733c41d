"""Whether a program solves a task: every short prompt and some long ones, against the task's own solver."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.programs.interpreter import run_tokens
from lengthwise.oracle.programs.prompts import Item, all_items, drawn_items, longest_prompt
from lengthwise.oracle.programs.syntax import Program, depth, locality, needs, period, size
from lengthwise.records import Assumption, Check, Claim, Reference
from lengthwise.tasks.task import Task

HUANG = Reference("huang2025", "C-RASP[periodic, local] and its limit transformers")
_CELLS = 400_000  # positions evaluated at once, which bounds the memory of a program with many names
_CHUNK = 2_000  # strings tried between two checks of the clock
_SAMPLED_SIZES = (8, 16, 32, 64)
explain(
    {
        "program.solves": "C-RASP program",
        "program.checked": "the program is right on all prompts of up to {prompt}",
        "program.longer": "the program stays right on longer prompts",
        "program.encoding": "the encoding is none, or learned positions with random offsets",
        "program.size": "The program has {size} operations and counts nested {depth} deep, and uses {uses}.",
        "program.period": "period {period}",
        "program.local": "local operations up to {far} back",
        "program.no_position": "no position",
        "program.wrong": "It is wrong: {mismatch}.",
        "program.right": "It is right on every prompt of up to {prompt}.",
        "program.sampled": "It is right on {sampled} drawn prompts of up to {prompt}.",
        "program.assumed": "That it stays right on longer prompts is assumed.",
        "program.mismatch": "after `{text}` the program says that {said} may come next; right is {wanted}",
        "program.symbol": "1 symbol",
        "program.symbols": "{count} symbols",
        "program.nothing": "nothing",
    }
)


@dataclass(frozen=True)
class Mismatch:
    """Where a program is wrong: after `text`, `wanted` is right and the program says `said`."""

    prompt: tuple[str, ...]
    text: tuple[str, ...]
    wanted: tuple[str, ...]
    said: tuple[str, ...]

    def __str__(self) -> str:
        said = " and ".join(self.said) or sentence("program.nothing")
        values = {"text": " ".join(self.text), "said": said, "wanted": " and ".join(self.wanted)}
        return sentence("program.mismatch", values)


@dataclass(frozen=True)
class Verified:
    """What was checked: all prompts of up to `checked_to` symbols (`exhaustive` if that is above 0), and beyond that
    `sampled` drawn ones of up to `sampled_to` symbols. `items` counts both."""

    program: Program
    checked_to: int
    items: int
    exhaustive: bool
    mismatch: Mismatch | None
    sampled: int = 0
    sampled_to: int = 0

    def claim(self) -> Claim:
        right = self.mismatch is None
        checked: Check = "violated" if not right else "checked" if self.exhaustive else "assumed"
        prompt = {"prompt": symbols(self.checked_to)}
        given = (
            Assumption("program.checked", checked, prompt),
            Assumption("program.longer", "assumed" if right else "violated"),
            Assumption("program.encoding"),
        )
        kind = "certified" if self.exhaustive or not right else "measured"
        value, status = (False, "refuted") if not right else (True, "holds") if self.items else (None, "unknown")
        return Claim("program.solves", value, "", kind, status, None, given, HUANG, self.plain())

    def explain(self) -> list[str]:
        far, turns = locality(self.program), period(self.program)
        uses = [sentence("program.period", {"period": turns})] if turns > 1 else []
        uses += [sentence("program.local", {"far": max(far.each)})] if any(far.each) else []
        used = " and ".join(uses) or sentence("program.no_position")
        found = [sentence("program.size", {"size": size(self.program), "depth": depth(self.program), "uses": used})]
        if self.mismatch:
            return [*found, sentence("program.wrong", {"mismatch": self.mismatch})]
        if self.exhaustive:
            found.append(sentence("program.right", {"prompt": symbols(self.checked_to)}))
        if self.sampled:
            prompt = symbols(self.sampled_to)
            found.append(sentence("program.sampled", {"sampled": self.sampled, "prompt": prompt}))
        return [*found, sentence("program.assumed")]

    def plain(self) -> dict[str, Any]:
        wrong, checks = self.mismatch, ("checked_to", "items", "exhaustive", "sampled", "sampled_to")
        return {
            **{name: getattr(self, name) for name in checks},
            "mismatch": wrong and {name: list(getattr(wrong, name)) for name in ("text", "wanted", "said")},
            "needs": needs(self.program),
            "period": period(self.program),
            "locality": locality(self.program).total,
            "depth": depth(self.program),
            "size": size(self.program),
        }


def symbols(count: int) -> str:
    return sentence("program.symbol" if count == 1 else "program.symbols", {"count": count})


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
