"""Languages that need counters or a stack: brackets of one kind, of two kinds shuffled, of several kinds to a given
depth, and blocks of equal length."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Floats, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.facts import Facts, huang
from lengthwise.tasks.languages.dfa import Walks
from lengthwise.tasks.languages.next_symbol import END, NextSymbol, label
from lengthwise.tasks.task import Axis

# A C-RASP program that compares counts of prefixes and uses no position exists for all that were measured.
_CRASP = (True, True)


class _BracketLanguage(NextSymbol):
    """Words of brackets that are closed in the end, so of even length."""

    axes = (Axis("length", "brackets in the word", smallest=2),)

    def has(self, size: int) -> bool:
        return size >= 2 and size % 2 == 0


@tasks.register("dyck_1")
@dataclass(frozen=True)
class DyckOne(_BracketLanguage):
    """Tag every prefix of a balanced word of one kind of bracket with the symbols that may come next.

    `( ( ) )` → `{(,$} {(,)} {(,)} {(,)} {(,$}`. Words are uniform among those of their length, which is even; nothing
    bounds their depth.
    """

    facts = huang("TC0, not AC0", (100, 100, 100), (100, 100, 100), crasp=_CRASP)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("(", ")", "{(,$}", "{(,)}")

    def sample(self, size: int, draws: Draws) -> Samples:
        steps = balanced(np.full(len(draws), size // 2), size, draws)
        return Samples((steps < 0).astype(np.int64), np.where(heights(steps) > 0, 3, 2))

    def chance(self, size: int) -> Chance:
        """A uniform word of n pairs returns to the ground 3n / (n + 2) times on average; the empty prefix is there
        too, and another tag stands inside."""
        pairs = size // 2
        ground = (1 + 3 * pairs / (pairs + 2)) / (size + 1)
        return Chance(0.0, max(ground, 1 - ground))

    def legal(self, word: Sequence[str]) -> Iterator[str]:
        for stack in stacks(word, {"(": ")"}):
            yield "" if stack is None else "()" if stack else "($"


@tasks.register("shuffle_2")
@dataclass(frozen=True)
class ShuffleTwo(_BracketLanguage):
    """Tag every prefix of two shuffled balanced words, of ( ) and of [ ], with what may come next.

    `( [ ) ]` → `{(,[,$} {(,),[} {(,),[,]} {(,[,]} {(,[,$}`. Words are uniform among those of their length, which is
    even.
    """

    facts = huang("TC0, not AC0", (85.9, 82.2, 50.4), (81.2, 79.8, 42.7), crasp=_CRASP)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("(", ")", "[", "]", "{(,[,$}", "{(,),[}", "{(,[,]}", "{(,),[,]}")

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
                raise UsageError(f"{bracket!r} is not one of the brackets ( ) [ ]")
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


class EqualBlocks(NextSymbol):
    """n times the first letter, n times the second, and so on, with n at least 1. One word a length."""

    letters: ClassVar[str]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The letters, the tags `{a}` to the last letter's and `{$}`, and the tag inside the first block."""
        return (*self.letters, *map(label, self.letters), label(END), label(self.letters[:2]))

    def has(self, size: int) -> bool:
        return size >= 1 and size % len(self.letters) == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        kinds = len(self.letters)
        prompt = np.repeat(np.arange(kinds), size // kinds)
        # After the first block the next letter is certain; inside it, another a or the first b.
        following = np.append(kinds + prompt, 2 * kinds)
        following[1 : size // kinds + 1] = 2 * kinds + 1
        return Samples(np.tile(prompt, (len(draws), 1)), np.tile(following, (len(draws), 1)))

    def chance(self, size: int) -> Chance:
        """Of the one word, whose first two prefixes have different tags."""
        tags = self.draw(size, seed=0, items=[0]).answers[0]
        return Chance(0.0, float(np.bincount(tags.astype(np.int64)).max() / len(tags)))

    def legal(self, word: Sequence[str]) -> Iterator[list[str]]:
        first, *others = self.letters
        yield [first]
        for end, letter in enumerate(word, start=1):
            if letter not in self.letters:
                raise UsageError(f"{letter!r} is not one of the letters {' '.join(self.letters)}")
            counts = [word[:end].count(letter) for letter in self.letters]
            if list(word[:end]) != sorted(word[:end]) or not _begins(counts):
                yield []
                return
            if counts[0] == end:
                yield [first, others[0]]
            else:
                unfinished = [letter for letter, count in zip(self.letters, counts, strict=True) if count < counts[0]]
                yield [unfinished[0]] if unfinished else [END]


def _begins(counts: list[int]) -> bool:
    """Whether sorted letters with these counts begin a word: blocks as long as the first, one shorter, then none."""
    short = next((i for i, count in enumerate(counts) if count != counts[0]), len(counts) - 1)
    return counts[short] <= counts[0] and not any(counts[short + 1 :])


@tasks.register("anbn")
@dataclass(frozen=True)
class TwoBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n with the symbols that may come next.

    `a a b b` → `{a} {a,b} {a,b} {b} {$}`.
    """

    letters = "ab"
    axes = (Axis("length", "letters of the word", smallest=2),)
    facts = huang("AC0", (100, 99.4, 92.3), (100, 100, 100), crasp=_CRASP)


@tasks.register("anbncn")
@dataclass(frozen=True)
class ThreeBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n c^n with the symbols that may come next.

    `a a b b c c` → `{a} {a,b} {a,b} {b} {c} {c} {$}`.
    """

    letters = "abc"
    axes = (Axis("length", "letters of the word", smallest=3),)
    facts = huang("AC0", (100, 91.2, 87.4), (100, 100, 100), crasp=_CRASP)


@tasks.register("anbncndn")
@dataclass(frozen=True)
class FourBlocks(EqualBlocks):
    """Tag every prefix of a word a^n b^n c^n d^n with the symbols that may come next.

    `a b c d` → `{a} {a,b} {c} {d} {$}`.
    """

    letters = "abcd"
    axes = (Axis("length", "letters of the word", smallest=4),)
    facts = huang("AC0", (100, 86.4, 75.2), (100, 100, 100), crasp=_CRASP)


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
            raise UsageError(f"kinds and depth must be at least 1, not {self.kinds} and {self.depth}")

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
    facts = Facts(circuit_class="AC0", references=(Reference("yao2021", "Dyck_{k,D}"),))


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


def balanced(pairs: Ints, width: int, draws: Draws) -> Ints:
    """A uniform balanced bracketing of `pairs[i]` pairs for every item, +1 to open and -1 to close, 0 after its end.

    `pairs` is [items] and `width` at least twice its largest entry. By the cycle lemma: of the rotations of a row of n
    openings and n + 1 closings exactly one has its first negative prefix sum at the very end, so rotating a uniform row
    there and dropping that last closing gives every bracketing equally often. O(width log width) an item.
    """
    place = np.arange(width + 1)
    total = 2 * pairs[:, None] + 1
    steps = np.where(place < pairs[:, None], 1, -1)
    # Places beyond the row are kept behind it by a key above all others.
    order = np.argsort(np.where(place < total, draws.uniform(width + 1), 1.0), axis=1, kind="stable")
    steps = np.where(place < total, np.take_along_axis(steps, order, axis=1), 0)
    turn = np.argmin(steps.cumsum(axis=1), axis=1)[:, None] + 1  # the first lowest point ends the rotated row
    rotated = np.take_along_axis(steps, (place + turn) % total, axis=1)
    return np.where(place < total - 1, rotated, 0)[:, :width]


def heights(steps: Ints) -> Ints:
    """How many brackets are open after every prefix of a row of +1 and -1, the empty prefix first."""
    return np.pad(steps.cumsum(axis=1), ((0, 0), (1, 0)))


def stacks(word: Sequence[str], closing: Mapping[str, str]) -> Iterator[list[str] | None]:
    """The opening brackets not yet closed after every prefix; None, and then no more, once a closing one is wrong."""
    stack: list[str] = []
    yield stack
    for bracket in word:
        if bracket in closing:
            stack.append(bracket)
        elif bracket not in closing.values():
            raise UsageError(
                f"{bracket!r} is not one of the brackets {' '.join(a + ' ' + b for a, b in closing.items())}"
            )
        elif not stack or closing[stack.pop()] != bracket:
            yield None
            return
        yield stack
