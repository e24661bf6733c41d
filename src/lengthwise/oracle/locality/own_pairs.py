"""A JSONL of `{"state": …, "next": …}` pairs, read in one pass and in bounded memory however long it is.

All lines are checked, and every window of the widths asked for is entered as it comes. Of the distinct states of a size
at most a number are kept whole for what needs whole states, those with the smallest digests: a sample that does not
depend on the order of the lines. Digests of all states and their next states tell of a state with two next states.
"""

from __future__ import annotations

import copy
import heapq
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.steps import Steps, is_end, kept_steps
from lengthwise.oracle.locality.windows import Numbering
from lengthwise.reading import read_lines
from lengthwise.tasks.formulations.between import (
    Side,
    appends,
    finished_labels,
    is_guess,
    labels_between,
    written,
)
from lengthwise.tasks.formulations.formulation import StepMove
from lengthwise.tasks.formulations.pair_source import PAIR, pair_of, size_of, state_digest
from lengthwise.tasks.jsonl import read_alike

KEPT = 1_000  # distinct states of a size that are kept whole
WIDTHS = (3, 5, 7)
ENTRIES = 1_000_000  # windows of one width that are kept
TELL_EVERY = 10_000  # lines between two calls of the progress function
explain(
    {
        "pairs.read": "lines read",
        "pairs.lines": "{lines:,} lines with {distinct:,} different states, of which {kept:,} were kept whole",
        "pairs.clash": "one window of {r} columns does not settle a step: lines {one} and {other} clash at column "
        "{column} of the latter",
        "pairs.full": "there are more than {most:,} different windows of {r} columns, so one window was not examined "
        "further",
        "pairs.settled": "one window of {r} columns settles every step of the file, with {windows:,} windows",
        "pairs.compared": "labels are found by comparing a state with the next",
        "pairs.no_end": "no line says where to stop, so stopping is not judged; a finished state is its own next "
        "state, and {left:,} states of the file have no next state in it",
    }
)


@dataclass
class Stream:
    """The labels of the windows of one width, over all lines: whether one window settles every step of the file."""

    r: int
    numbering: Numbering
    side: Side = "left"
    labels: dict[int, str] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)  # of each window the first with it
    clash: tuple[int, int, int] | None = None  # two lines and the position in the second
    full: bool = False

    def take(self, move: StepMove, line: int) -> None:
        """Enter the windows of a line; after a clash, or when there are too many, nothing more is entered."""
        if self.clash or self.full:
            return
        labels, lines = self.labels, self.lines
        for place, (anchor, label) in enumerate(zip(self.numbering.anchors(move.state), move.labels, strict=True)):
            if label is None:
                continue
            known = labels.get(anchor)
            if known is None:
                labels[anchor], lines[anchor] = label, line
            elif known != label:
                self.clash = lines[anchor], line, place
                return
        self.full = len(labels) > ENTRIES


@dataclass(frozen=True)
class Pairs:
    """What a file of pairs holds."""

    path: str
    lines: int
    distinct: int
    steps: Steps
    other: Steps | None
    sizes: tuple[int, ...]
    tokens_by_size: dict[int, int]
    streams: tuple[Stream, ...]
    left: int = 0  # next states that are no line's state

    def notes(self) -> tuple[str, ...]:
        """What to know about the file, one sentence each."""
        kept = sum(1 for size in self.sizes for _ in self.steps.moves(size))
        notes = [sentence("pairs.lines", {"lines": self.lines, "distinct": self.distinct, "kept": kept})]
        for r in sorted({stream.r for stream in self.streams}):
            # Of two guesses of the labels the one that is settled counts.
            stream = min((s for s in self.streams if s.r == r), key=lambda s: (s.clash is not None, s.full))
            key = "pairs.clash" if stream.clash else "pairs.full" if stream.full else "pairs.settled"
            one, other, place = stream.clash or (0, 0, 0)
            values = {"r": r, "one": one, "other": other, "column": place + 1}
            notes.append(sentence(key, {**values, "most": ENTRIES, "windows": len(stream.labels)}))
        notes.append(sentence("pairs.compared"))
        if not any(is_end(move) for size in self.sizes for move in self.steps.moves(size)):
            notes.append(sentence("pairs.no_end", {"left": self.left}))
        return tuple(notes)


def load_pairs(path: str, keep: int = KEPT, progress: Callable[[str, int, int], None] | None = None) -> Pairs:
    """Read a file of pairs. The size of a state is its number of columns, or the number under "size"."""
    try:
        (reader,) = read_alike([path], lambda _: _PairReader(path, keep, progress))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    if not reader.lines:
        raise UsageError(f"{path} is empty; each line holds a pair such as {PAIR}")
    return reader.pairs()


class _PairReader:
    def __init__(self, path: str, keep: int, progress: Callable[[str, int, int], None] | None) -> None:
        self.path, self.keep, self.lines, self.progress = path, keep, 0, progress
        self.states, self.nexts, self.numbers = array("Q"), array("Q"), array("q")
        self.streams = [Stream(r, Numbering(r)) for r in WIDTHS]
        self.guessed, self.appending = False, False
        self._others = False  # whether a step did anything but append
        self.kept: dict[int, list[tuple[int, StepMove]]] = {}  # size → a heap of minus the digest and the move
        self.known: set[int] = set()
        self.columns: dict[tuple[str, ...], int] = {}  # the least size that has a column

    def take(self, text: str, line: int) -> None:
        if self.progress is not None and line % TELL_EVERY == 0:
            self.progress(sentence("pairs.read"), line, 0)
        state, after, item = pair_of(text)
        size = size_of(item, state)
        digest, after_digest = state_digest(state), state_digest(after)
        self.lines += 1
        self.states.append(digest)
        self.nexts.append(after_digest)
        self.numbers.append(line)
        for column in set(state):
            if self.columns.get(column, size + 1) > size:
                self.columns[column] = size
        if digest in self.known:  # its windows were entered; another next state shows in the digests
            return
        self._others |= after != state and not appends(state, after)
        self.appending = not self._others and (self.appending or appends(state, after))
        move = other = StepMove(state, after, labels_between(state, after), ())
        if is_guess(state, after):
            if not self.guessed:  # up to here both guesses were the same
                self.guessed = True
                self.streams += [replace(stream, side="right") for stream in copy.deepcopy(self.streams)]
            other = replace(move, labels=labels_between(state, after, "right"))
        for stream in self.streams:
            stream.take(move if stream.side == "left" else other, line)
        heap = self.kept.setdefault(size, [])
        if len(heap) < self.keep:
            self.known.add(digest)
            heapq.heappush(heap, (-digest, move))
        elif digest < -heap[0][0]:
            self.known.add(digest)
            self.known.discard(-heapq.heapreplace(heap, (-digest, move))[0])

    def pairs(self) -> Pairs:
        digests = np.array(self.states)
        order = np.argsort(digests, kind="stable")
        same = digests[order][1:] == digests[order][:-1]
        differ = same & (np.array(self.nexts)[order][1:] != np.array(self.nexts)[order][:-1])
        if differ.any():
            first = int(np.flatnonzero(differ)[0])
            self._refuse(int(self.numbers[order[first]]), int(self.numbers[order[first + 1]]))
        sizes = tuple(sorted(self.kept))
        kept = [(size, move) for size in sizes for _, move in sorted(self.kept[size], key=lambda pair: -pair[0])]
        if self.appending:  # what is asked of a finished state is then to end the text, and nothing at other positions
            kept = [
                (size, replace(m, labels=finished_labels(m.state, appending=True)) if is_end(m) else m)
                for size, m in kept
            ]
        other = None
        if self.guessed:
            turned = [(size, replace(m, labels=labels_between(m.state, m.after, "right"))) for size, m in kept]
            other = kept_steps(self.path, turned)
        steps, distinct = kept_steps(self.path, kept), int(len(digests) - same.sum())
        streams, left = tuple(self.streams), len(np.setdiff1d(np.array(self.nexts), digests))
        return Pairs(self.path, self.lines, distinct, steps, other, sizes, self._new_tokens(), streams, left)

    def _new_tokens(self) -> dict[int, int]:
        least: dict[str, int] = {}
        for column, size in self.columns.items():
            for token in column:
                least[token] = min(size, least.get(token, size))
        counts = dict.fromkeys(sorted({*self.columns.values(), *self.kept}), 0)
        for size in least.values():
            counts[size] += 1
        return counts

    def _refuse(self, one: int, other: int) -> None:
        """Two lines with the same state (or, once in 2^64, only the same digest) and different next states."""
        lines = [line for number, line in read_lines(self.path) if number in (one, other)]
        (state, after, _), (again, other_after, _) = map(pair_of, lines)
        if state == again:
            raise UsageError(
                f"{self.path}: the state `{written(state)}` goes to `{written(after)}` in line {min(one, other)} and "
                f"to `{written(other_after)}` in line {max(one, other)}; a step has one next state"
            )
