"""A short word on which a one-layer limit transformer answers almost as on a long one, found by searching counts.

Beyond the last locality + 1 symbols, the answer of one layer depends on how often each symbol stands at each phase. The
short word z keeps the end of x, the phase of its last place, and which symbols occur at which phase at all: if one
vanished, or came in, another level of logits could become the largest. What remains is to choose the counts. Rounding
the histogram of the whole word would not do: where attention prefers rare symbols, the ratios *among those* count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.counts import Frame
from lengthwise.oracle.limit.margin import IZZO, SECONDARY
from lengthwise.oracle.limit.numbers import Array
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints

LISTED = 4000  # up to so many vectors of counts are all tried; beyond that, steps downhill from two starts
STEPS = 200


@dataclass(frozen=True)
class Simulation:
    """x, its short stand-in z, both answers and the largest difference of an entry; `listed`: all counts were tried."""

    word: tuple[str, ...]
    short: tuple[str, ...]
    answer: tuple[float, ...]
    short_answer: tuple[float, ...]
    difference: float
    method: str
    listed: bool

    def claim(self) -> Claim:
        return Claim(
            "difference on a shorter word",
            self.difference,
            "",
            "measured",
            assumptions=(Assumption("both answers were computed, in double precision", "checked"), SECONDARY),
            reference=Reference(IZZO, "simulation argument"),
            evidence={"length": len(self.word), "short_length": len(self.short), "method": self.method},
        )

    def explain(self) -> list[str]:
        first = " ".join(self.short[:60]) + (" ..." if len(self.short) > 60 else "")
        return [
            f"the word of {len(self.word)} symbols is answered by {_listed(self.answer)}",
            f"the word of {len(self.short)} symbols {first} by {_listed(self.short_answer)}",
            f"they differ by {self.difference:.4g} ({self.method})",
        ]

    def plain(self) -> dict[str, Any]:
        return {
            "length": len(self.word),
            "short": list(self.short),
            "answer": list(self.answer),
            "short_answer": list(self.short_answer),
            "difference": self.difference,
            "method": self.method,
            "all_counts_tried": self.listed,
        }


def simulate(model: LimitTransformer, word: Sequence[str], length: int) -> Simulation | None:
    """The best stand-in of this length that the search finds; None when no word of this length keeps end, phase and
    presence. When all counts were tried (`listed`), no such word of this length is better."""
    if len(model.layers) != 1:
        raise UsageError("counts decide the answer of one layer; for two layers use subsampling.subsample")
    x = model.read(word)[0]
    if not 1 <= length <= len(x) or (len(x) - length) % model.period:
        return None
    model = model.in_floats()
    frame = Frame(model, x, length)
    if not frame.possible:
        return None
    wanted = model.answers(x[None])[0]
    counts, listed = _search(model, frame, wanted)
    return _result(model, x, frame.words(counts[None])[0], wanted, listed)


def shortest_simulation(model: LimitTransformer, word: Sequence[str], error: float) -> Simulation:
    """The first length, going up, at which the search finds a stand-in within the error; x itself is the last."""
    if not error >= 0:
        raise UsageError(f"an error is 0 or more, not {error}")
    for length in range((len(word) - 1) % model.period + 1, len(word) + 1, model.period):
        found = simulate(model, word, length)
        if found is not None and found.difference <= error:
            return found
    x = model.read(word)[0]  # the search by steps need not find x itself
    return _result(model.in_floats(), x, x, model.in_floats().answers(x[None])[0], listed=False)


def _search(model: LimitTransformer, frame: Frame, wanted: Array) -> tuple[Ints, bool]:
    if frame.size() <= LISTED:
        counts = frame.all_counts()
        return counts[int(np.argmin(_errors(model, frame, counts, wanted)))], True
    best, least = frame.present, np.inf
    for start in _starts(model, frame):
        counts, error = start, _errors(model, frame, start[None], wanted)[0]
        for _ in range(STEPS):
            near = frame.neighbours(counts)
            errors = _errors(model, frame, near, wanted) if len(near) else np.array([np.inf])
            if errors.min() >= error:
                break
            counts, error = near[int(np.argmin(errors))], errors.min()
        if error < least:
            best, least = counts, error
    return best, False


def _starts(model: LimitTransformer, frame: Frame) -> Iterator[Ints]:
    """The shares of x; and its shares among what the last place attends to most, all else as rare as can be."""
    per_phase = frame.seen / np.maximum(frame.seen.sum(axis=1, keepdims=True), 1)
    yield frame.rounded(per_phase)
    last = frame.end[-1]
    query = model.embeddings[last] + model.positions[(len(frame.places) + len(frame.end) - 1) % model.period]
    keys = model.embeddings[None] + model.positions[:, None]
    for head in model.layers[0].heads:
        logits = np.where(frame.present > 0, keys @ (head.match @ query), -np.inf)
        favoured = frame.seen * (logits >= logits.max() - 1e-9)
        yield frame.rounded(favoured / np.maximum(favoured.sum(axis=1, keepdims=True), 1))


def _errors(model: LimitTransformer, frame: Frame, counts: Ints, wanted: Array) -> Array:
    return np.abs(model.answers(frame.words(counts)) - wanted).max(axis=1)


def _result(model: LimitTransformer, x: Ints, z: Ints, wanted: Array, listed: bool) -> Simulation:
    reply = model.answers(z[None])[0]
    long, short = (tuple(model.symbols[symbol] for symbol in row) for row in (x, z))
    method = "all counts tried" if listed else "search downhill: a better word may exist"
    answer, short_answer = (tuple(map(float, row)) for row in (wanted, reply))
    return Simulation(long, short, answer, short_answer, float(np.abs(wanted - reply).max()), method, listed)


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers)
