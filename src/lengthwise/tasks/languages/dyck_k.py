"""Balanced brackets of several kinds, to a given depth."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.languages.counters import stacks
from lengthwise.tasks.languages.next_symbol import END, NextSymbol, label
from lengthwise.tasks.languages.uniform import Walks
from lengthwise.tasks.task import Axis

YAO = Reference("yao2021", "Dyck_{k,D}")


@tasks.register("dyck_k")
@dataclass(frozen=True)
class DyckK(NextSymbol):
    """Tag every prefix of a balanced word of several kinds of brackets with what may come next.

    `[ ( ) ]` → `{(,[,$} {(,[,]} {(,),[} {(,[,]} {(,[,$}`. Words are uniform among those of their length that are at
    most `depth` deep. That bounds the words only: at full depth an opening bracket is still legal, so that what is
    asked stays the same when the depth grows. `bounded_dyck_k` is the language that forbids it. With `exact`, every
    word goes as deep as `depth`, which a measurement along the depth wants.
    """

    axes: ClassVar[tuple[Axis, ...]] = (
        Axis("length", "brackets in the word", smallest=2),
        Axis("depth", "brackets open at once, at most"),
    )
    bounded: ClassVar[bool] = False
    facts = Facts(circuit_class="TC0, not AC0")
    kinds: int = 2
    depth: int = 4
    exact: bool = False

    def __post_init__(self) -> None:
        if self.kinds < 1 or self.depth < 1:
            raise UsageError(f"kinds and depth are at least 1, not {self.kinds} and {self.depth}")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The opening and the closing bracket of each kind."""
        usual = [("(", ")"), ("[", "]"), ("<", ">")]
        return [*usual, *((f"({kind}", f"){kind}") for kind in range(4, self.kinds + 1))][: self.kinds]

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._symbols

    @functools.cached_property
    def _symbols(self) -> tuple[str, ...]:
        """The brackets, kind by kind; the tag at depth 0; the tag inside each kind; the tag inside it at full depth."""
        brackets = [bracket for pair in self.pairs for bracket in pair]
        inside = [self._legal([left], full=False) for left, _ in self.pairs]
        full = [self._legal([left], full=True) for left, _ in self.pairs] if self.bounded else []
        return (*brackets, *map(label, [self._legal([], full=False), *inside, *full]))

    def has(self, size: int) -> bool:
        return size % 2 == 0 and size >= 2 * (self.depth if self.exact else 1)

    def sample(self, size: int, draws: Draws) -> Samples:
        closing, states = self._walks.words(np.zeros(len(draws), dtype=np.int64), draws.uniform(size))
        height = states % (self.depth + 1)
        inner = _innermost(closing, height, draws.integers(0, self.kinds, size // 2))
        # An opening bracket is of the kind that is innermost after it, a closing one of the kind innermost before it.
        kind = np.where(closing == 1, inner[:, :-1], inner[:, 1:])
        outside = 2 * self.kinds
        full = self.kinds if self.bounded else 0
        inside = outside + 1 + inner + np.where(height == self.depth, full, 0)
        return Samples(2 * kind + closing, np.where(height > 0, inside, outside))

    def chance(self, size: int) -> Chance:
        """Counted on the heights. No tag stands both outside of all brackets and inside one; inside, and at full depth
        where that has tags of its own, every kind of bracket is as likely to be the innermost."""
        height = np.append(np.tile(np.arange(self.depth + 1), 2), -1)
        places = np.where(height <= 0, height, np.where(self.bounded & (height == self.depth), 2, 1))
        _, (outside, *inside) = self._walks.visits(0, size, places)
        return Chance(0.0, float(max(outside, *(share / self.kinds for share in inside))))

    def legal(self, word: Sequence[str]) -> Iterator[list[str]]:
        for stack in stacks(word, dict(self.pairs)):
            if stack is None or (self.bounded and len(stack) > self.depth):
                yield []
                return
            yield self._legal(stack, full=self.bounded and len(stack) == self.depth)

    def _legal(self, stack: Sequence[str], full: bool) -> list[str]:
        symbols: list[str] = []
        for left, right in self.pairs:
            symbols += ([] if full else [left]) + ([right] if stack and stack[-1] == left else [])
        return symbols if stack else [*symbols, END]

    @functools.cached_property
    def _walks(self) -> Walks:
        """Words of one kind; the kinds are independent of them and of one another, so the whole is uniform.

        A state is a height, plus depth + 1 once the full depth was reached; the last state is for words that are wrong.
        """
        top, dead = self.depth, 2 * (self.depth + 1)
        rows = []
        for state in range(dead):
            height = state % (top + 1)
            opened = dead if height == top else state + 1 if height + 1 < top else 2 * top + 1
            rows.append((opened, state - 1 if height else dead))
        return Walks([*rows, (dead, dead)], [top + 1] if self.exact else [0, top + 1])


@tasks.register("bounded_dyck_k")
@dataclass(frozen=True)
class BoundedDyckK(DyckK):
    """Tag every prefix of a balanced word of bounded depth with the symbols that may come next.

    With `depth=1`: `[ ]` → `{(,[,$} {]} {(,[,$}`. As `dyck_k`, but no bracket may be opened at full depth: every depth
    is another language, and a regular one.
    """

    axes: ClassVar[tuple[Axis, ...]] = (Axis("length", "brackets in the word", smallest=2),)
    bounded: ClassVar[bool] = True
    facts = Facts(circuit_class="AC0", references=(YAO,))


def _innermost(closing: Ints, height: Ints, kinds: Ints) -> Ints:
    """The kind of the innermost open bracket after every prefix, when the i-th pair has the kind `kinds[:, i]`.

    Prefixes of one height, taken in order, lie inside one pair until the next one that ends with an opening bracket; so
    sorting the prefixes by height and counting those openings numbers the pairs.
    """
    opened = np.pad(1 - closing, ((0, 0), (1, 0)))
    order = np.argsort(height, axis=1, kind="stable")
    pair = np.take_along_axis(opened, order, axis=1).cumsum(axis=1) - 1
    inner = np.empty_like(height)
    np.put_along_axis(inner, order, np.take_along_axis(kinds, np.maximum(pair, 0), axis=1), axis=1)
    return inner
