"""Strings of bits and of small numbers: what they hold, where they lead, and the same symbols in another order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.records import Reference
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.alphabets import BitTask, numerals
from lengthwise.tasks.batch import NOTHING, Samples, ids_by_place
from lengthwise.tasks.chance import Chance, log_choose
from lengthwise.tasks.facts import Facts
from lengthwise.tasks.task import Axis, Task

DELETANG = Reference("deletang2023", "Table 2 and Appendix A")


def _check_least(setting: str, value: int) -> None:
    if value < 2:
        raise UsageError(f"{setting} must be at least 2, not {value}")


def read(prompt: Sequence[str], count: int) -> list[int]:
    """A prompt of numerals below `count` as numbers."""
    known = numerals(count)
    strange = next((symbol for symbol in prompt if symbol not in known), None)
    if strange is not None:
        raise UsageError(f"the prompt holds {strange!r}; its symbols are the numbers 0 to {count - 1}")
    if not prompt:
        raise UsageError("the prompt is empty; it holds at least one symbol")
    return [int(symbol) for symbol in prompt]


@dataclass(frozen=True)
class StringTask(Task):
    """A task on strings of uniform numbers below `alphabet`."""

    alphabet: int = 2

    def __post_init__(self) -> None:
        _check_least("alphabet", self.alphabet)

    @property
    def symbols(self) -> tuple[str, ...]:
        return numerals(self.alphabet)

    def chance(self, size: int) -> Chance:
        """All strings are equally likely, and so are all answers that hold the same symbols in another order."""
        return Chance(float(self.alphabet) ** -size, 1 / self.alphabet)


@dataclass(frozen=True)
class ModularTask(Task):
    """A task on numbers modulo `modulus`."""

    modulus: int = 5

    def __post_init__(self) -> None:
        _check_least("modulus", self.modulus)


@tasks.register("even_pairs")
@dataclass(frozen=True)
class EvenPairs(BitTask):
    """Say whether `01` and `10` together occur an even (0) or an odd (1) number of times in a bit string.

    `0 0 1 1 1 0` → `0` (one `01`, one `10`); `0 1 0 1 0 0 1` → `1` (three `01`, two `10`). Every occurrence is a change
    of symbol, so the answer is 0 exactly when the first symbol equals the last. The bits are uniform. Regular.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts[:, :1] ^ prompts[:, -1:])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        changes = sum(left != right for left, right in itertools.pairwise(read(prompt, 2)))
        return [str(changes % 2)]

    def chance(self, size: int) -> Chance:
        return Chance(1.0, 1.0) if size == 1 else Chance(0.5, 0.5)


@tasks.register("parity_check")
@dataclass(frozen=True)
class ParityCheck(BitTask):
    """Say whether a bit string holds an even (0) or an odd (1) number of ones.

    `1 0 1 0 1 0 0` → `1`; `0 1 1 1 1` → `0`. The bits are uniform, so the number of ones is close to half the length;
    a task that draws the number of ones uniformly is a different one. Regular.
    """

    facts = Facts("ACC0, not AC0", {"learned+offset": False, "none": False}, (DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 2, size)
        return Samples(prompts, prompts.sum(axis=1, keepdims=True) % 2)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [str(sum(read(prompt, 2)) % 2)]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)


@tasks.register("cycle_navigation")
@dataclass(frozen=True)
class CycleNavigation(ModularTask):
    """Say where a walk on a circle of `modulus` places ends that starts at 0 and steps by -1, 0 or 1.

    `1 -1 0 -1 -1` → `3`; `1 1 1 -1` → `2`. The steps are uniform. Regular.
    """

    facts = Facts(circuit_class="ACC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("-1", *numerals(self.modulus))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, 3, size)  # the steps -1, 0 and 1 are the first three symbols
        places = (prompts - 1).sum(axis=1, keepdims=True) % self.modulus
        return Samples(prompts, places + 1)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        place = 0
        for step in prompt:
            if step not in ("-1", "0", "1"):
                raise UsageError(f"the prompt holds {step!r}; a step is -1, 0 or 1")
            place = (place + int(step)) % self.modulus
        return [str(place)]

    def chance(self, size: int) -> Chance:
        """The distribution of the walk, step by step."""
        at = np.zeros(self.modulus)
        at[0] = 1.0
        for _ in range(size):
            at = (np.roll(at, 1) + at + np.roll(at, -1)) / 3
        return Chance(float(at.max()), float(at.max()))


@tasks.register("reverse_string")
@dataclass(frozen=True)
class ReverseString(StringTask):
    """Write a string of numbers below `alphabet` backwards.

    `0 1 1 0 1 0` → `0 1 0 1 1 0`. The symbols are uniform. Deterministic context-free.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, prompts[:, ::-1])

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [str(number) for number in reversed(read(prompt, self.alphabet))]

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return ids_by_place(prompts, np.arange(prompts.shape[1], 0, -1), answer)


@tasks.register("duplicate_string")
@dataclass(frozen=True)
class DuplicateString(StringTask):
    """Write a string of numbers below `alphabet` twice, without a separator.

    `1 0 1` → `1 0 1 1 0 1`. The symbols are uniform and repeat, so a place cannot be found again by its neighbours
    alone. Context-sensitive.
    """

    facts = Facts("AC0", {"learned+offset": False, "none": False}, (DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.concatenate([prompts, prompts], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return [str(number) for number in 2 * read(prompt, self.alphabet)]

    def ids(self, prompts: Ints, answer: int) -> Ints:
        """A symbol shares its id with both copies."""
        size = prompts.shape[1]
        found, places = ids_by_place(prompts, np.arange(1, size + 1), answer), np.arange(answer)
        found[:, size:] = np.where(places < 2 * size, places % size + 1, 0)
        return found


@tasks.register("odds_first")
@dataclass(frozen=True)
class OddsFirst(StringTask):
    """Write the symbols at the places 1, 3, 5, … of a string, then those at 2, 4, 6, …

    `0 0 1 1 0 1 0 1` → `0 1 0 0 0 1 1 1`; `1 1 0` → `1 0 1`. Places are counted from one, as the description and the
    examples of the original have it; its code counts from zero and so begins with the second symbol (it would answer
    `1 1 0` with `1 1 0`). The symbols are uniform numbers below `alphabet`. Context-sensitive.
    """

    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.concatenate([prompts[:, ::2], prompts[:, 1::2]], axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        numbered = list(enumerate(read(prompt, self.alphabet), start=1))
        return [str(number) for rest in (1, 0) for place, number in numbered if place % 2 == rest]

    def ids(self, prompts: Ints, answer: int) -> Ints:
        places = np.arange(prompts.shape[1])
        return ids_by_place(
            prompts, np.where(places % 2, places // 2 + (len(places) + 1) // 2, places // 2) + 1, answer
        )


@tasks.register("bucket_sort")
@dataclass(frozen=True)
class BucketSort(StringTask):
    """Write a string of numbers below `alphabet` in increasing order, repeats included.

    `1 0 2 0 4 1 1 2` → `0 0 1 1 1 2 2 4`. The symbols are uniform. Context-sensitive. `sort` is the task with distinct
    numbers.
    """

    alphabet: int = 5
    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    def sample(self, size: int, draws: Draws) -> Samples:
        prompts = draws.integers(0, self.alphabet, size)
        return Samples(prompts, np.sort(prompts, axis=1))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        numbers = read(prompt, self.alphabet)
        return [symbol for number, symbol in enumerate(self.symbols) for _ in range(numbers.count(number))]

    def chance(self, size: int) -> Chance:
        """The likeliest counts are as equal as can be. The i-th smallest symbol is at most v where at least i of the
        symbols are, a binomial event."""
        each, more = divmod(size, self.alphabet)
        equal = math.factorial(each) ** (self.alphabet - more) * math.factorial(each + 1) ** more
        ways = math.factorial(size) // equal
        low, count = np.arange(1, self.alphabet) / self.alphabet, np.arange(size + 1)[:, None]
        exactly = np.exp(log_choose(size, count) + count * np.log(low) + (size - count) * np.log1p(-low))
        at_most = np.pad(exactly[:0:-1].cumsum(axis=0), ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
        token = float(np.diff(at_most, axis=1).max(axis=1).mean())
        return Chance(ways / self.alphabet**size, min(1.0, token))


@tasks.register("missing_duplicate_string")
@dataclass(frozen=True)
class MissingDuplicateString(Task):
    """Name the one bit that is missing from a bit string written twice.

    `0 1 1 0 0 _ 1 0` → `1`. Bits and hole are uniform. The original fills an odd length with an empty symbol at the end
    and answers a length of one with 1; here only even lengths exist. Context-sensitive.
    """

    axes = (Axis("length", "symbols in the prompt, an even number", smallest=2),)
    facts = Facts(circuit_class="AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "_")

    def has(self, size: int) -> bool:
        return super().has(size) and size % 2 == 0

    def sample(self, size: int, draws: Draws) -> Samples:
        bits = draws.integers(0, 2, size // 2)
        prompts = np.concatenate([bits, bits], axis=1)
        hole = draws.integers(0, size, 1)
        answers = np.take_along_axis(prompts, hole, axis=1)
        np.put_along_axis(prompts, hole, self.symbols.index("_"), axis=1)
        return Samples(prompts, answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        half = len(prompt) // 2
        pairs = list(zip(prompt[:half], prompt[half:], strict=False))
        broken = [pair for pair in pairs if pair[0] != pair[1]]
        if len(prompt) % 2 or len(broken) != 1 or "_" not in broken[0] or list(prompt).count("_") != 1:
            raise UsageError("the prompt is not a bit string written twice with one _ in place of a bit")
        return [str(read([symbol for symbol in broken[0] if symbol != "_"], 2)[0])]

    def chance(self, size: int) -> Chance:  # noqa: ARG002
        return Chance(0.5, 0.5)


_POP, _PUSH0 = 2, 3


@tasks.register("stack_manipulation")
@dataclass(frozen=True)
class StackManipulation(Task):
    """Read a stack of bits from the bottom, follow pushes and pops, and write the rest from the top.

    `0 1 1 0 push1 pop pop` → `1 1 0`. A pop of an empty stack does nothing, and an empty stack is an empty answer. Of
    the symbols, 1 to length - 1 are the stack, each number as likely, and the rest are instructions (a prompt of one
    symbol is a stack alone); bits and instructions are uniform. Deterministic context-free.
    """

    facts = Facts(circuit_class="TC0, not AC0", references=(DELETANG,))

    @property
    def symbols(self) -> tuple[str, ...]:
        return ("0", "1", "pop", "push0", "push1")

    def sample(self, size: int, draws: Draws) -> Samples:
        given = draws.integers(1, max(size, 2), 1)
        bits = draws.integers(0, 2, size)
        instructions = draws.integers(_POP, _PUSH0 + 2, size)
        places = np.arange(size)
        prompts = np.where(places < given, bits, instructions)
        # A given bit is a push as well; what lies at or above `height` is left over from earlier pushes.
        stack, height, rows = np.zeros_like(prompts), np.zeros(len(draws), dtype=np.int64), np.arange(len(draws))
        pops, pushed = prompts == _POP, prompts % _PUSH0
        for place in range(size):
            pop = pops[:, place]
            # Where the symbol is a pop, this writes above the stack, unseen; the height never passes `place`.
            stack[rows, height] = pushed[:, place]
            height = np.where(pop, np.maximum(height - 1, 0), height + 1)
        below = height[:, None] - 1 - places
        answers = np.where(below >= 0, np.take_along_axis(stack, np.maximum(below, 0), axis=1), NOTHING)
        return Samples(prompts, answers)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        given = next((place for place, symbol in enumerate(prompt) if symbol not in ("0", "1")), len(prompt))
        stack = list(prompt[:given])
        for instruction in prompt[given:]:
            if instruction not in self.symbols[_POP:]:
                raise UsageError(f"the prompt holds {instruction!r} where an instruction is due: pop, push0 or push1")
            if instruction == "pop":
                stack = stack[:-1]
            else:
                stack.append(instruction.removeprefix("push"))
        return stack[::-1]
