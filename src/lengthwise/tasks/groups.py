"""Word problems of finite groups: what a product of elements comes to, after every factor."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import check_symbols, numerals
from lengthwise.tasks.batch import Readout, Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Task
from lengthwise.tasks.words import Words

_MOST_POINTS, _MOST_CYCLIC = 5, 120


@tasks.register("word_problem")
@dataclass(frozen=True)
class WordProblem(Task):
    """Multiply elements of a finite group, and say the product after each of them.

    `213 132 213` → `213 231 321` in S3: an element is a permutation of 1, 2, 3, written as the row of what 1, 2 and 3
    go to, and a product applies its last factor first. `group` is S3 to S5 (all permutations), A3 to A5 (the even ones)
    or Z2 to Z120 (addition modulo that number, elements 0, 1, …). The factors are uniform. Regular; complete for NC1 in
    A5 and S5, which no chain of commutative steps makes up, and below it in all others.
    """

    group: str = "S3"

    readout: ClassVar[Readout] = "tags"
    words = Words(
        "Multiply elements of the group `group`. A permutation is written as the row of what 1, 2, 3 and so on go to, "
        "and a product applies its last factor first; elements of a group Z are added modulo its size. After every "
        "element, write the product of all elements so far."
    )

    def __post_init__(self) -> None:
        kind, count = self._read()
        if not (kind == "Z" and 2 <= count <= _MOST_CYCLIC) and not (kind in "SA" and 3 <= count <= _MOST_POINTS):
            raise UsageError(f"a group must be S3 to S5, A3 to A5 or Z2 to Z{_MOST_CYCLIC}, not {self.group!r}")

    @property
    def facts(self) -> Facts:  # pyright: ignore[reportIncompatibleVariableOverride]
        hard = self.group in ("A5", "S5")
        return Facts("NC1-complete" if hard else "ACC0, not AC0", references=(Reference("barrington1989"),))

    @property
    def symbols(self) -> tuple[str, ...]:
        return _elements(*self._read())

    def sample(self, size: int, draws: Draws) -> Samples:
        table = _table(*self._read())
        factors = draws.integers(0, len(table), size)
        products = factors.copy()
        for place in range(1, size):
            products[:, place] = table[products[:, place - 1], factors[:, place]]
        return Samples(factors, products)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        check_symbols(prompt, self.symbols, f"only elements of {self.group}")
        return tuple(itertools.accumulate(prompt, self._product))

    def chance(self, size: int) -> Chance:
        """After every factor all elements are as likely, whatever stood before."""
        share = 1 / len(self.symbols)
        return Chance(share**size, share)

    def _read(self) -> tuple[str, int]:
        match = re.fullmatch(r"([SAZ])(\d{1,3})", self.group)
        return (match[1], int(match[2])) if match else ("", 0)

    def _product(self, first: str, last: str) -> str:
        kind, count = self._read()
        if kind == "Z":
            return str((int(first) + int(last)) % count)
        return "".join(first[int(point) - 1] for point in last)


@functools.lru_cache(maxsize=16)
def _elements(kind: str, count: int) -> tuple[str, ...]:
    """The elements of a group, its unit first."""
    if kind == "Z":
        return numerals(count)
    rows = itertools.permutations(range(1, count + 1))
    return tuple("".join(map(str, row)) for row in rows if kind == "S" or _crossings(row) % 2 == 0)


@functools.lru_cache(maxsize=16)
def _table(kind: str, count: int) -> Ints:
    """The number of the product of elements i and j, [elements, elements]."""
    if kind == "Z":
        return np.add.outer(np.arange(count), np.arange(count)) % count
    rows = np.array([[int(point) - 1 for point in element] for element in _elements(kind, count)])
    products = rows[:, rows]  # [i, j, points]: what i makes of what j makes of a point
    powers = count ** np.arange(count)
    order = np.argsort(rows @ powers)
    return order[np.searchsorted((rows @ powers)[order], products @ powers)]


def _crossings(row: Sequence[int]) -> int:
    return sum(first > last for first, last in itertools.combinations(row, 2))
