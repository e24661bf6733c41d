"""A task from a file of items: one JSON object a line, with an input and its answer."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.registry import nearest
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, SPECIALS, Samples
from lengthwise.tasks.task import Axis, Task

RULES = {"input length": "tokens in the input", "answer length": "tokens in the answer"}


@tasks.register("jsonl")
@dataclass(frozen=True)
class JsonLines(Task):
    """Give the answer that a file of items holds for the input.

    The line `{"input": "3 1 2", "answer": "1 2 3"}` is the item `3 1 2` → `1 2 3`. Text that holds white space is split
    there, other text is split into characters, and a list is taken as it is. `size` is the name of a column of whole
    numbers, or "input length" or "answer length". A share `held_out` of the inputs, chosen by a digest of each, is kept
    for testing; at a size where that leaves nothing to train on or nothing to test on, all items serve both.
    """

    path: str
    size: str = "input length"
    held_out: float = 0.1
    split: Literal["all", "train", "test"] = "all"

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise UsageError(f"held_out is a share of the items, at least 0 and below 1, not {self.held_out}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._items.symbols

    @property
    def axes(self) -> tuple[Axis, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  # the file decides
        sizes = self._items.groups
        return (Axis(self.size, RULES.get(self.size, f"what the column {self.size!r} counts"), min(sizes), max(sizes)),)

    def has(self, size: int) -> bool:
        return size in self._items.groups

    def part(self, role: Literal["train", "test"]) -> Self:
        return dataclasses.replace(self, split=role)

    def shared_sizes(self) -> list[int]:
        """The sizes at which training and testing see the same items, because one of them would have none."""
        held = {size: self._held(group.rows) for size, group in self._items.groups.items()}
        return [size for size, mask in held.items() if mask.all() or not mask.any()]

    def warnings(self) -> list[str]:
        """What a user should know before relying on this file, a sentence each."""
        said = []
        if shared := self.shared_sizes():
            sizes = ", ".join(map(str, shared[:8])) + (f" and {len(shared) - 8} more" if len(shared) > 8 else "")
            said.append(f"{self.path}: no item is held out at size {sizes}, so what is tested there was trained on")
        if self._items.mixed:
            said.append(
                f"{self.path}: text is split at white space in some items, into characters in others; lists are safe"
            )
        return said

    def sample(self, size: int, draws: Draws) -> Samples:
        pool, group = self._pools[size], self._items.groups[size]
        rows = pool[draws.integers(0, len(pool), 1)[:, 0]]
        inputs, answers = self._items.inputs, self._items.answers
        return Samples(inputs.filled(rows, group.input_width), answers.filled(rows, group.answer_width))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        row = self._items.row_of(prompt)
        if row is None:
            raise UsageError(f"{self.path} has no input `{' '.join(prompt)}`, so its answer is not known")
        return self._items.spelled(self._items.answers.row(row))

    @functools.cached_property
    def _items(self) -> _Items:
        """Read at first use, so that a spec can be rebuilt where the file is not at hand; from then on it is fixed."""
        try:
            stat = os.stat(self.path)
            return _load(self.path, self.size, (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size))
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}") from None

    @functools.cached_property
    def _pools(self) -> dict[int, Ints]:
        """size → the rows this part draws from."""
        pools = {size: group.rows for size, group in self._items.groups.items()}
        if self.split != "all":
            for size in pools.keys() - set(self.shared_sizes()):
                pools[size] = pools[size][self._held(pools[size]) == (self.split == "test")]
        return pools

    def _held(self, rows: Ints) -> NDArray[np.bool_]:
        """Which of the rows are held out: those whose digest lies in the first share of all digests."""
        return self._items.digests[rows] < np.uint64(int(self.held_out * 2.0**64))


@dataclass(frozen=True, eq=False)
class _Ragged:
    """Rows of different lengths, end to end: row i is flat[starts[i]:starts[i + 1]]."""

    flat: NDArray[np.int32]
    starts: Ints

    def row(self, index: int) -> NDArray[np.int32]:
        return self.flat[self.starts[index] : self.starts[index + 1]]

    def filled(self, rows: Ints, width: int) -> Ints:
        """These rows side by side, [rows, width], filled at the right with NOTHING."""
        columns = np.arange(width)
        places = self.starts[rows, None] + columns
        inside = places < self.starts[rows + 1, None]
        return np.where(inside, self.flat[np.where(inside, places, 0)], NOTHING).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Group:
    """The items of one size. The widths are those of the whole file, so that both parts are laid out alike."""

    rows: Ints
    input_width: int
    answer_width: int


@dataclass(frozen=True, eq=False)
class _Items:
    """A file in memory: four bytes a token, and some 40 an item."""

    symbols: tuple[str, ...]
    inputs: _Ragged
    answers: _Ragged
    groups: dict[int, _Group]
    digests: NDArray[np.uint64]  # of the inputs
    order: Ints  # the rows by digest
    mixed: bool

    def spelled(self, tokens: NDArray[np.int32]) -> tuple[str, ...]:
        return tuple(self.symbols[token] for token in tokens)

    def row_of(self, prompt: Sequence[str]) -> int | None:
        """The first row with this input; among equal digests the tokens themselves decide."""
        digest = np.uint64(_digest(list(prompt)))
        first, last = (np.searchsorted(self.digests, digest, side, sorter=self.order) for side in ("left", "right"))
        return next(
            (row for row in self.order[first:last] if self.spelled(self.inputs.row(row)) == tuple(prompt)), None
        )


@functools.lru_cache(maxsize=8)
def _load(path: str, rule: str, stamp: tuple[int, ...]) -> _Items:  # noqa: ARG001  # the stamp changes with the file
    reader = _Reader(rule)
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                if text := line.decode("utf-8-sig" if number == 1 else "utf-8").strip():
                    reader.take(text, number)
            except UnicodeDecodeError:
                raise UsageError(f"{path}, line {number}: this is not UTF-8 text") from None
            except UsageError as error:
                raise UsageError(f"{path}, line {number}: {error}") from None
    if not reader.lines:
        raise UsageError(f'{path} is empty; each line holds an item such as {{"input": "3 1 2", "answer": "1 2 3"}}')
    items = reader.items()
    _check_answers(items, path, reader.lines)
    return items


class _Reader:
    """Takes a file line by line. Tokens are numbered as they come, and in sorted order at the end."""

    def __init__(self, rule: str) -> None:
        self.rule, self.numbers, self.ways = rule, dict[str, int](), set[str]()
        self.flat = {"input": array("i"), "answer": array("i")}
        self.starts = {"input": array("q", [0]), "answer": array("q", [0])}
        self.sizes, self.lines, self.digests = array("q"), array("q"), array("Q")

    def take(self, text: str, line: int) -> None:
        try:
            item = json.loads(text)
        except ValueError as error:
            raise UsageError(f"this is not JSON ({error})") from None
        if not isinstance(item, dict):
            raise UsageError(f'an item is an object such as {{"input": …, "answer": …}}, not {text[:40]}')
        tokens = {key: self._tokens(item, key) for key in self.flat}
        if not tokens["answer"]:
            raise UsageError("the answer is empty")
        self.sizes.append(self._size(item, tokens))
        self.lines.append(line)
        self.digests.append(_digest(tokens["input"]))
        for key, words in tokens.items():
            self.flat[key].extend(self.numbers.setdefault(word, len(self.numbers)) for word in words)
            self.starts[key].append(len(self.flat[key]))

    def _tokens(self, item: dict[str, Any], key: str) -> list[str]:
        if key not in item:
            raise UsageError(f"the key {key!r} is missing; it has {', '.join(item) or 'none'}")
        value = item[key]
        if isinstance(value, str):
            spaced = re.search(r"\s", value)
            if spaced or len(value) > 1:  # a single character reads the same both ways
                self.ways.add("words" if spaced else "characters")
            words = value.split() if spaced else list(value)
        elif isinstance(value, list):
            words = [str(word) if type(word) is int else word for word in value]
        else:
            raise UsageError(f"the {key} is text or a list of tokens, not {json.dumps(value)[:40]}")
        for word in words:
            if isinstance(word, str) and word in self.numbers:
                continue  # it was looked at when it first came
            if not isinstance(word, str) or not word:
                raise UsageError(
                    f"a token of the {key} is non-empty text or a whole number, not {json.dumps(word)[:40]}"
                )
            if word in SPECIALS:
                raise UsageError(f"the {key} holds {word}, which is reserved for the layout")
        return words

    def _size(self, item: dict[str, Any], tokens: dict[str, list[str]]) -> int:
        if self.rule in RULES:
            size = len(tokens[self.rule.removesuffix(" length")])
        elif self.rule in item:
            size = item[self.rule]
        else:
            near = nearest(self.rule, [*item, *RULES])
            raise UsageError(f"there is no column {self.rule!r} to take the size from; {near}it has {', '.join(item)}")
        if type(size) is not int or not 0 < size < 2**31:
            raise UsageError(f"the size ({self.rule}) is a positive whole number, not {json.dumps(size)[:40]}")
        return size

    def items(self) -> _Items:
        symbols = sorted(self.numbers)
        ranks = np.empty(len(symbols), dtype=np.int32)
        ranks[[self.numbers[symbol] for symbol in symbols]] = np.arange(len(symbols))
        inputs, answers = (
            _Ragged(ranks[np.array(self.flat[key], dtype=np.int32)], np.array(self.starts[key], dtype=np.int64))
            for key in ("input", "answer")
        )
        sizes = np.array(self.sizes)
        order = np.argsort(sizes, kind="stable")
        values, firsts = np.unique(sizes[order], return_index=True)
        widths = np.diff(inputs.starts), np.diff(answers.starts)
        groups = {
            int(size): _Group(rows, int(widths[0][rows].max()), int(widths[1][rows].max()))
            for size, rows in zip(values, np.split(order, firsts[1:]), strict=True)
        }
        digests = np.array(self.digests, dtype=np.uint64)
        mixed = len(self.ways) > 1
        return _Items(tuple(symbols), inputs, answers, groups, digests, np.argsort(digests, kind="stable"), mixed)


def _digest(tokens: list[str]) -> int:
    """64 bits that depend on the tokens alone, whatever the platform and the rest of the file."""
    return int.from_bytes(hashlib.blake2b(json.dumps(tokens).encode(), digest_size=8).digest(), "little")


def _check_answers(items: _Items, path: str, lines: Sequence[int]) -> None:
    """One input has one answer; only inputs that share their digest with another are looked at."""
    digests = items.digests[items.order]
    same = digests[1:] == digests[:-1]
    repeated = items.order[np.append(same, False) | np.append(False, same)]
    seen: dict[bytes, int] = {}
    for row in np.sort(repeated):
        first = seen.setdefault(items.inputs.row(row).tobytes(), row)
        if not np.array_equal(items.answers.row(first), items.answers.row(row)):
            said, before = (" ".join(items.spelled(items.answers.row(at))) for at in (row, first))
            where = f"{path}, line {lines[row]}"
            raise UsageError(
                f"{where}: the answer is `{said}`, but line {lines[first]} answers the same with `{before}`"
            )
