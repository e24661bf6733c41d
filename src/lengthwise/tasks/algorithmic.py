"""The eight algorithmic tasks of Huang et al. 2025, with their sampling choices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import BitTask, LetterTask, check_symbols, numerals
from lengthwise.tasks.batch import NOTHING, Samples, ids_by_place
from lengthwise.tasks.chance import Chance, log_choose
from lengthwise.tasks.facts import huang
from lengthwise.tasks.task import Axis, Task


@tasks.register("copy_repeat")
@dataclass(frozen=True)
class CopyRepeat(Task):
    """Write a string of two repeated symbols again.

    `a b b a` → `a b b a`. The symbols are uniform and independent. The last few symbols written occur at many places,
    so they do not tell where the copy stands.
    """

    preset = {"depth": 3, "rate": 1e-3, "steps": 3000}
    facts = huang("AC0", (100, 25.6, 0), (100, 28.0, 0), (100, 25.1, 0), crasp=(False, False), chance=0)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("a", "b")

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        check_symbols(prompt, self.symbols, "only a and b")
        return tuple(prompt)

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_place(prompts, np.arange(1, prompts.shape[1] + 1), answer)

    def chance(self, size: int) -> Chance:
        """All strings are equally likely."""
        return Chance(0.5**size, 0.5)


@dataclass(frozen=True)
class DistinctSymbols(Task):
    """A task on distinct numbers below `alphabet`, which does not grow with the size: a longer prompt holds no unseen
    symbol. The published results are for 150 symbols and sizes up to 150."""

    alphabet: int = 64

    def __post_init__(self) -> None:
        if self.alphabet < 1:
            raise UsageError(f"the alphabet must have at least one symbol, not {self.alphabet}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(self.alphabet)

    def has(self, size: int) -> bool:
        return 1 <= size <= self.alphabet

    def read(self, prompt: Sequence[str]) -> tuple[str, ...]:
        """The prompt, if its symbols are distinct and known."""
        if len(set(prompt)) < len(prompt):
            raise UsageError(f"a prompt's symbols are distinct, and {' '.join(prompt)!r} repeats one")
        check_symbols(prompt, self.symbols, f"numbers from 0 to {self.alphabet - 1}")
        return tuple(prompt)


@tasks.register("copy_unique")
@dataclass(frozen=True)
class CopyUnique(DistinctSymbols):
    """Write a string of distinct symbols again.

    `7 2 9 4` → `7 2 9 4`. As no symbol occurs twice, the symbol written last tells which one comes next. The alphabet
    bounds the size.
    """

    facts = huang("AC0", (100, 99.9, 98.7), (100, 18.0, 0), (100, 99.8, 99.3), crasp=(True, False), chance=0)

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, prompts)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return self.read(prompt)

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_place(prompts, np.arange(1, prompts.shape[1] + 1), answer)

    def chance(self, size: int) -> Chance:
        """All strings of distinct symbols are equally likely."""
        return Chance(1 / math.perm(self.alphabet, size), 1 / self.alphabet)


@tasks.register("sort")
@dataclass(frozen=True)
class Sort(DistinctSymbols):
    """Write distinct numbers in increasing order.

    `7 2 9 4` → `2 4 7 9`. The alphabet bounds the size.
    """

    preset = {"depth": 1, "heads": 2, "rate": 3e-3}
    facts = huang("TC0, not AC0", (100, 100, 99.4), (100, 99.8, 80.6), (100, 100, 99.6), crasp=(True, True), chance=0)

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.subset(self.alphabet, size)
        return Samples(prompts, np.sort(prompts, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return sorted(self.read(prompt), key=int)

    def chance(self, size: int) -> Chance:
        """All subsets are as likely. The i-th smallest, counted from 0, is v with probability
        C(v, i) C(alphabet - 1 - v, size - 1 - i) / C(alphabet, size)."""
        rank, value = np.arange(size)[:, None], np.arange(self.alphabet)
        ways = log_choose(value, rank) + log_choose(self.alphabet - 1 - value, size - 1 - rank)
        best = np.exp(ways.max(axis=1) - log_choose(self.alphabet, size))
        return Chance(1 / math.comb(self.alphabet, size), min(1.0, float(best.mean())))


@tasks.register("parity")
@dataclass(frozen=True)
class Parity(Task):
    """Say whether the number of ones is even (`e`) or odd (`o`).

    `1 0 1 1` → `o`. The number of ones is uniform from none to all of them.
    """

    facts = huang(
        "ACC0, not AC0", (100, 83.0, 62.1), (97.5, 74.5, 63.3), (100, 83.4, 64.2), crasp=(False, False), chance=52.3
    )

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "e", "o")

    def sample(self, size: int, draws: Draws) -> Samples:
        ones = draws.integers(0, size + 1, 1)
        prompts = (draws.permutation(size) < ones).astype(np.int64)
        return Samples(prompts, self.symbols.index("e") + ones % 2)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        check_symbols(prompt, ("0", "1"), "only 0 and 1")
        return ("o",) if prompt.count("1") % 2 else ("e",)

    def chance(self, size: int) -> Chance:
        """Of the size + 1 counts, size // 2 + 1 are even: never fewer than the odd ones."""
        even = (size // 2 + 1) / (size + 1)
        return Chance(even, even)


class _MajorityOfBits(BitTask):
    """A task on strings of bits without a tie, whose number of zeros is uniform over all such counts."""

    def untied(self, length: int, draws: Draws) -> tuple[Ints, Ints]:
        """Bits [items, length] and their majority [items, 1]."""
        zeros = draws.integers(0, length + length % 2, 1)
        if length % 2 == 0:
            zeros += zeros >= length // 2  # skip the tie
        bits = (draws.permutation(length) >= zeros).astype(np.int64)
        return bits, (2 * zeros < length).astype(np.int64)

    def majority(self, bits: Sequence[str]) -> str:
        """The more frequent of "0" and "1"."""
        self.check_bits(bits)
        if bits.count("0") == bits.count("1"):
            raise UsageError(f"there are as many zeros as ones in {' '.join(bits)!r}, so there is no majority")
        return max("0", "1", key=bits.count)


@tasks.register("binary_majority")
@dataclass(frozen=True)
class BinaryMajority(_MajorityOfBits):
    """Say which of two bits is the more frequent.

    `0 1 1 0 1` → `1`. The number of zeros is uniform over the counts that are no tie, so that clear and narrow
    majorities are equally frequent at every size.
    """

    preset = {"depth": 1, "width": 32, "heads": 1, "rate": 3e-3, "steps": 1000}
    facts = huang("TC0, not AC0", (100, 100, 100), (100, 100, 100), (100, 100, 99.9), crasp=(True, True), chance=49.8)

    def sample(self, size: int, draws: Draws) -> Samples:
        return Samples(*self.untied(size, draws))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return (self.majority(prompt),)

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """Swapping the two bits maps the items onto themselves, so both answers have probability one half."""
        return Chance(0.5, 0.5)


@tasks.register("interleaved_majority")
@dataclass(frozen=True)
class InterleavedMajority(_MajorityOfBits):
    """Say which bit is the more frequent in each of `period` interleaved sequences, in order.

    `0 1 1  0 1 0  1 1 1` → `0 1 1` for period 3: the sequences are `0 0 1`, `1 1 1` and `1 0 1`. Each is drawn as in
    binary majority. The size counts all the bits and is a multiple of the period.
    """

    period: int = 3
    facts = huang(
        "TC0, not AC0", (100, 96.8, 84.7), (96.2, 68.8, 39.5), (100, 97.3, 86.2), crasp=(True, False), chance=0
    )

    def __post_init__(self) -> None:
        if self.period < 1:
            raise UsageError(f"the period must be a positive number, not {self.period}")
        object.__setattr__(self, "axes", (Axis("length", "symbols in the prompt", smallest=self.period),))

    def has(self, size: int) -> bool:
        return size >= self.period and size % self.period == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        parts = [self.untied(size // self.period, draws) for _ in range(self.period)]
        prompts = np.stack([bits for bits, _ in parts], axis=2).reshape(len(draws), size)
        return Samples(prompts, np.concatenate([majority for _, majority in parts], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        if not self.has(len(prompt)):
            raise UsageError(f"a prompt must have a multiple of {self.period} bits, not {len(prompt)}")
        return [self.majority(prompt[start :: self.period]) for start in range(self.period)]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        """The sequences are independent and each answer has probability one half."""
        return Chance(0.5**self.period, 0.5)


_TRIES = 4  # strings drawn at once for every item of `majority`: most items find theirs among the first few


@tasks.register("majority")
@dataclass(frozen=True)
class Majority(LetterTask):
    """Say which letter is the most frequent.

    `c a b a` → `a`. The letters are uniform and independent; a string with several most frequent letters is drawn
    again. The winner of a short string is therefore often a letter that occurs twice.
    """

    letters: int = 26
    facts = huang(
        "TC0, not AC0", (100, 99.6, 97.8), (100, 99.9, 98.5), (100, 99.9, 99.0), crasp=(True, True), chance=4.1
    )

    def sample(self, size: int, draws: Draws) -> Samples:
        items = len(draws)
        prompts, winners = np.zeros((items, size), dtype=np.int64), np.zeros((items, 1), dtype=np.int64)
        waiting = np.arange(items)
        while len(waiting):
            tries = draws.integers(0, self.letters, _TRIES * size).reshape(items, _TRIES, size)[waiting]
            winner, unique = self._winners(tries)
            first, found = unique.argmax(axis=1), unique.any(axis=1)
            rows = np.arange(len(waiting))
            prompts[waiting[found]] = tries[rows, first][found]
            winners[waiting[found], 0] = winner[rows, first][found]
            waiting = waiting[~found]
        return Samples(prompts, winners)

    def _winners(self, strings: Ints) -> tuple[Ints, np.ndarray]:
        """The most frequent letter of each string along the last axis, and whether it is the only one."""
        *shape, size = strings.shape
        flat = strings.reshape(-1, size)
        places = flat + self.letters * np.arange(len(flat))[:, None]
        counts = np.bincount(places.ravel(), minlength=self.letters * len(flat)).reshape(*shape, self.letters)
        return counts.argmax(axis=-1), (counts == counts.max(axis=-1, keepdims=True)).sum(axis=-1) == 1

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        self.check_letters(prompt)
        (winner, most), *others = Counter(prompt).most_common(2)
        if others and others[0][1] == most:
            raise UsageError(f"there is no single most frequent letter in {' '.join(prompt)!r}")
        return (winner,)


@tasks.register("addition")
@dataclass(frozen=True)
class Addition(Task):
    """Add two binary numbers, written with the highest bit first.

    `1 1 0 + 1 1 =` → `1 0 0 1`. The size counts the whole prompt, with `+` and `=`. The length of the first operand is
    uniform and the second takes the rest; an operand starts with 1 unless it is a single bit. The sum has no leading
    zeros, so its length differs between items of one size.
    """

    axes = (Axis("length", "symbols in the prompt, with + and =", smallest=4),)
    facts = huang("AC0", (99.7, 26.8, 0), (99.5, 27.7, 0), (99.8, 25.8, 0), crasp=(False, False), chance=0)

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "+", "=")

    def sample(self, size: int, draws: Draws) -> Samples:
        plus = draws.integers(1, size - 2, 1)  # where the + stands is how long the first operand is
        prompts = draws.integers(0, 2, size)
        places = np.arange(size)
        leading = ((places == 0) & (plus > 1)) | ((places == plus + 1) & (plus < size - 3))
        prompts[leading] = 1
        prompts[places == plus] = self.symbols.index("+")
        prompts[:, -1] = self.symbols.index("=")
        first, second = _low_first(prompts, 0 * plus, plus), _low_first(prompts, plus + 1, 0 * plus + size - 1)
        return Samples(prompts, _high_first(carried(first + second)))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        text = "".join(prompt)
        first, plus, rest = text.partition("+")
        second, equals, end = rest.partition("=")
        if not (plus and equals) or end or not all(part and set(part) <= {"0", "1"} for part in (first, second)):
            raise UsageError(f"a prompt is written `bits + bits =`, not {' '.join(prompt)!r}")
        return tuple(f"{int(first, 2) + int(second, 2):b}")

    def ids(self, prompts: Ints, answer: int) -> Ints:  # noqa: ARG002
        raise UsageError(
            "addition writes the highest bit of a sum first, and its significance is known only once the sum is; "
            "binary_addition and addition_appended write the lowest digit first and give their tokens ids"
        )


def _low_first(prompts: Ints, start: Ints, stop: Ints) -> Ints:
    """The operand in [start, stop) of every row, lowest bit first, filled with zeros: [items, size - 2].

    An operand has at most size - 3 bits, as the other has one and the signs take two; the last column is for the carry.
    """
    places = stop - 1 - np.arange(prompts.shape[1] - 2)
    return np.where(places >= start, np.take_along_axis(prompts, np.maximum(places, 0), axis=1), 0)


def carried(sums: Ints) -> Ints:
    """Column sums, lowest first, as bits: each carry is handed on to the next column, exact for any number of them."""
    bits, carry = np.empty_like(sums), np.zeros(len(sums), dtype=np.int64)
    for place in range(sums.shape[1]):
        total = sums[:, place] + carry
        bits[:, place], carry = total & 1, total >> 1
    return bits


def _high_first(bits: Ints) -> Ints:
    """Lowest bit first → highest bit first, without leading zeros (zero itself keeps one), filled with NOTHING."""
    width = bits.shape[1]
    lengths = np.where(bits.any(axis=1), width - bits[:, ::-1].argmax(axis=1), 1)[:, None]
    places = lengths - 1 - np.arange(width)
    return np.where(places >= 0, np.take_along_axis(bits, np.maximum(places, 0), axis=1), NOTHING)
