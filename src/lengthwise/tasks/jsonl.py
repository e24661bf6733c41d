"""A task from a file of items, one JSON object per line with an input and its answer, and the reader of such files."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import re
from array import array
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.reading import line_text, lines_in, open_file, parse_json, stamp_of
from lengthwise.registry import nearest
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, SPECIALS, Samples
from lengthwise.tasks.chance import Chance, chance_between, chance_of_sample
from lengthwise.tasks.task import Axis, Task

LENGTHS = {"input length": "tokens in the input", "answer length": "tokens in the answer"}

Split = Callable[[str], list[str]]  # a text into its tokens


@tasks.register("jsonl")
@dataclass(frozen=True)
class JsonLines(Task):
    """Give the answer that a file of items holds for the input.

    The line `{"input": "3 1 2", "answer": "1 2 3"}` is the item `3 1 2` → `1 2 3`. Every text of the file is split at
    white space if any of them holds some, and into characters if none does; a list is taken as it is. `size` is the
    name of a column of whole numbers, or "input length" or "answer length". A share `held_out` of the inputs, chosen by
    a digest of each, is kept for testing; at a size where that leaves nothing to train on or nothing to test on, all
    items serve both.
    """

    path: str
    size: str = "input length"
    held_out: float = 0.1
    split: Literal["all", "train", "test"] = "all"

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise UsageError(f"held_out must be a share of the items, at least 0 and below 1, not {self.held_out}")

    @property
    def symbols(self) -> tuple[str, ...]:
        return self._items.symbols

    @property
    def axes(self) -> tuple[Axis, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  # the file decides
        sizes = self._items.groups
        return (
            Axis(self.size, LENGTHS.get(self.size, f"what the column {self.size!r} counts"), min(sizes), max(sizes)),
        )

    def has(self, size: int) -> bool:
        return size in self._items.groups

    def part(self, role: Literal["train", "test"]) -> Self:
        return dataclasses.replace(self, split=role)

    def shared_sizes(self) -> list[int]:
        """The sizes at which training and testing see the same items, because one of them would have none."""
        held = {size: self._held(group.rows) for size, group in self._items.groups.items()}
        return [size for size, mask in held.items() if mask.all() or not mask.any()]

    def warnings(self) -> list[str]:
        shared = self.shared_sizes()
        if not shared:
            return []
        sizes = ", ".join(map(str, shared[:8])) + (f" and {len(shared) - 8} more" if len(shared) > 8 else "")
        return [f"{self.path}: no item is held out at size {sizes}, so test items of that size were also trained on"]

    def sample(self, size: int, draws: Draws) -> Samples:
        pool = self._pools[size]
        return self._samples(size, pool[draws.integers(0, len(pool), 1)[:, 0]])

    def first(self, most: int) -> dict[int, Samples]:
        """size → those of the first items of the file that have it, each once and in their order."""
        groups = self._items.groups.items()
        return {size: self._samples(size, rows) for size, own in groups if len(rows := own.rows[own.rows < most])}

    def _samples(self, size: int, rows: Ints) -> Samples:
        inputs, answers, group = self._items.inputs, self._items.answers, self._items.groups[size]
        return Samples(inputs.filled(rows, group.input_width), answers.filled(rows, group.answer_width))

    def chance(self, size: int) -> Chance:
        """The guess that is best on the items for training, scored on those held out; where none is held out, the guess
        of one half of the items scored on the other."""
        held, width = self._held(self._items.groups[size].rows), self._items.groups[size].answer_width
        answers = self._items.answers.filled(self._items.groups[size].rows, width)
        if held.all() or not held.any():
            return chance_of_sample(answers, self.readout)
        return chance_between(answers[~held], answers[held], self.readout)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        row = self._items.row_of(prompt)
        if row is None:
            raise UsageError(f"{self.path} has no input `{' '.join(prompt)}`, so its answer is not known")
        return self._items.spelled(self._items.answers.row(row))

    @functools.cached_property
    def _items(self) -> Items:
        """Read at first use, so that a spec can be rebuilt where the file is not at hand; from then on it is fixed."""
        return load(self.path, self.size, stamp_of(self.path))

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
class Ragged:
    """Rows of different lengths, end to end: row i is flat[starts[i]:starts[i + 1]]."""

    flat: NDArray[np.int32]
    starts: Ints

    def row(self, index: int) -> NDArray[np.int32]:
        return self.flat[self.starts[index] : self.starts[index + 1]]

    def filled(self, rows: Ints, width: int) -> Ints:
        """These rows side by side, [rows, width], filled at the right with NOTHING."""
        places = self.starts[rows, None] + np.arange(width)
        inside = places < self.starts[rows + 1, None]
        return np.where(inside, self.flat[np.where(inside, places, 0)], NOTHING).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Group:
    """The items of one size. The widths are those of the whole file, so that both parts are laid out alike."""

    rows: Ints
    input_width: int
    answer_width: int


@dataclass(frozen=True, eq=False)
class Items:
    """A file in memory: four bytes per token, and some 40 per item."""

    symbols: tuple[str, ...]
    inputs: Ragged
    answers: Ragged
    groups: dict[int, Group]
    digests: NDArray[np.uint64]  # of the inputs
    order: Ints  # the rows by digest

    def spelled(self, tokens: NDArray[np.int32]) -> tuple[str, ...]:
        return tuple(self.symbols[token] for token in tokens)

    def row_of(self, prompt: Sequence[str]) -> int | None:
        """The first row with this input; among equal digests the tokens themselves decide."""
        digest = np.uint64(_digest(list(prompt)))
        first, last = (np.searchsorted(self.digests, digest, side, sorter=self.order) for side in ("left", "right"))
        rows = self.order[first:last]
        return next((row for row in rows if self.spelled(self.inputs.row(row)) == tuple(prompt)), None)


@functools.lru_cache(maxsize=8)
def load(path: str, rule: str, stamp: tuple[int, ...]) -> Items:  # noqa: ARG001  # the stamp changes with the file
    """A file's items, with all texts split in the same way."""
    (reader,) = read_alike([path], lambda split: _JsonlReader(rule, split))
    if not reader.lines:
        raise UsageError(f'{path} is empty; each line holds an item such as {{"input": "3 1 2", "answer": "1 2 3"}}')
    items = reader.items()
    _check_answers(items, path, reader.lines)
    return items


class LineReader(Protocol):
    """Takes the lines of a file, one after the other, without the empty ones."""

    def take(self, text: str, line: int) -> None: ...


R = TypeVar("R", bound=LineReader)


def read_alike(paths: Sequence[str], reader_with: Callable[[Split], R]) -> list[R]:
    """A reader for each file that has taken all its lines; a mistake it complains of is told with file and line.

    One rule for all texts of all files: characters, until one holds white space; then the files are read again and
    split there. `tokens_of` is where a reader finds that out.
    """
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open_file(path)) for path in paths]
        try:
            return [_read(file, path, reader_with(list)) for file, path in zip(files, paths, strict=True)]
        except _WhiteSpaceFound:  # a mistake before it would have been one for words too, so it was right to report it
            for file in files:
                file.seek(0)
            return [_read(file, path, reader_with(str.split)) for file, path in zip(files, paths, strict=True)]


def _read(file: BinaryIO, path: str, reader: R) -> R:
    for number, line in lines_in(file, path):
        if not (text := line_text(line, number, path).strip()):
            continue
        try:
            reader.take(text, number)
        except UsageError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
    return reader


class _WhiteSpaceFound(Exception):
    """A text that is to be split into characters holds white space."""


def object_of(text: str, example: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        item = parse_json(text)
    except ValueError as error:
        raise UsageError(f"this is not JSON ({error})") from None
    if not isinstance(item, dict):
        raise UsageError(f"an item must be an object such as {example}, not {text[:40]}")
    return item


def tokens_of(value: Any, key: str, split: Split, known: Container[str] = ()) -> list[str]:
    """The tokens of a text, split by the rule of its file, or of a list; those in `known` were looked at before."""
    if isinstance(value, str):
        if split is list and re.search(r"\s", value):
            raise _WhiteSpaceFound
        words = split(value)
    elif isinstance(value, list):
        words = [str(word) if type(word) is int else word for word in value]
    else:
        raise UsageError(f"the {key} must be text or a list of tokens, not {json.dumps(value)[:40]}")
    for word in words:
        if isinstance(word, str) and word in known:
            continue
        if not isinstance(word, str) or not word:
            shown = json.dumps(word)[:40]
            raise UsageError(f"a token of the {key} must be non-empty text or a whole number, not {shown}")
        if word in SPECIALS:
            raise UsageError(f"the {key} holds {word}, which is reserved for the layout")
    return words


class _JsonlReader:
    """Takes a file line by line. Tokens are numbered as they come, and in sorted order at the end."""

    def __init__(self, rule: str, split: Split) -> None:
        self.rule, self.split, self.numbers = rule, split, dict[str, int]()
        self.flat = {"input": array("i"), "answer": array("i")}
        self.starts = {"input": array("q", [0]), "answer": array("q", [0])}
        self.sizes, self.lines, self.digests = array("q"), array("q"), array("Q")

    def take(self, text: str, line: int) -> None:
        item = object_of(text, '{"input": …, "answer": …}')
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
        return tokens_of(item[key], key, self.split, self.numbers)

    def _size(self, item: dict[str, Any], tokens: dict[str, list[str]]) -> int:
        if self.rule in LENGTHS:
            size = len(tokens[self.rule.removesuffix(" length")])
        elif self.rule in item:
            size = item[self.rule]
        else:
            near = nearest(self.rule, [*item, *LENGTHS])
            raise UsageError(f"there is no column {self.rule!r} to take the size from; {near}it has {', '.join(item)}")
        if type(size) is not int or not 0 < size < 2**31:
            raise UsageError(f"the size ({self.rule}) must be a positive whole number, not {json.dumps(size)[:40]}")
        return size

    def items(self) -> Items:
        symbols = sorted(self.numbers)
        ranks = np.empty(len(symbols), dtype=np.int32)
        ranks[[self.numbers[symbol] for symbol in symbols]] = np.arange(len(symbols))
        inputs, answers = (Ragged(ranks[np.array(self.flat[key])], np.array(self.starts[key])) for key in self.flat)
        sizes = np.array(self.sizes)
        order = np.argsort(sizes, kind="stable")
        values, firsts = np.unique(sizes[order], return_index=True)
        widths = np.diff(inputs.starts), np.diff(answers.starts)
        groups = {
            int(size): Group(rows, int(widths[0][rows].max()), int(widths[1][rows].max()))
            for size, rows in zip(values, np.split(order, firsts[1:]), strict=True)
        }
        digests = np.array(self.digests, dtype=np.uint64)
        return Items(tuple(symbols), inputs, answers, groups, digests, np.argsort(digests, kind="stable"))


def _digest(tokens: list[str]) -> int:
    """64 bits that depend on the tokens alone, whatever the platform and the rest of the file."""
    return int.from_bytes(hashlib.blake2b(json.dumps(tokens).encode(), digest_size=8).digest(), "little")


def _check_answers(items: Items, path: str, lines: Sequence[int]) -> None:
    """One input has one answer; only inputs that share their digest with another are looked at."""
    digests = items.digests[items.order]
    same = digests[1:] == digests[:-1]
    repeated = items.order[np.append(same, False) | np.append(False, same)]
    seen: dict[bytes, int] = {}
    for row in np.sort(repeated):
        first = seen.setdefault(items.inputs.row(row).tobytes(), row)
        if not np.array_equal(items.answers.row(first), items.answers.row(row)):
            said, other = (f"`{' '.join(items.spelled(items.answers.row(at)))}`" for at in (row, first))
            where, before = f"{path}, line {lines[row]}", f"line {lines[first]}"
            raise UsageError(f"{where}: the answer is {said}, but {before} answers the same with {other}")
