"""From symbols to what a model reads: `Samples` as a task draws them, `Batch` as a model sees them.

A task speaks in indices into its own symbols; here the special tokens are added and the positions to be predicted are
marked. Rows shorter than the others are filled at the right with `NOTHING`; a causal model never looks there, so no
attention mask is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

Readout = Literal["answer", "tags", "numbers"]

SPECIALS = ("<pad>", "<bos>", "<sep>", "<eos>")
PAD, BOS, SEP, EOS = range(4)
NOTHING = -1


@dataclass(frozen=True)
class Samples:
    """Items of one size: `prompts` and `answers` as indices into the task's symbols, [items, width].

    The widths depend on the size alone. `answers` are real numbers when the task's readout is "numbers".
    """

    prompts: Ints
    answers: Ints | Floats


@dataclass(frozen=True)
class Batch:
    """Sequences as a model sees them: `targets[i, t]` is asked for at `inputs[i, t]` wherever `scored[i, t]`.

    For the readout "numbers" `targets` is [items, outputs] and belongs to the one scored position of each row.
    """

    inputs: Ints
    targets: Ints | Floats
    scored: NDArray[np.bool_]


def pack(samples: Samples, readout: Readout, causal: bool = True) -> Batch:
    """Lay samples out for a model.

    answer   `<bos> prompt <sep> answer <eos>`, asked for from `<sep>` on. An encoder reads `<pad>` in place of the
             answer and is asked for it there.
    tags     `<bos> prompt`; the last `width` positions are asked for one label each, which is not fed back.
    numbers  `<bos> prompt <sep>`; `<sep>` is asked for a vector.
    """
    items, width = samples.prompts.shape
    if readout == "tags":
        inputs = _row_tokens(items, BOS, samples.prompts)
        before = ((0, 0), (inputs.shape[1] - samples.answers.shape[1], 0))  # PAD is 0
        return Batch(inputs, np.pad(_tokens(samples.answers), before), np.pad(samples.answers != NOTHING, before))
    if readout == "numbers":
        inputs = _row_tokens(items, BOS, samples.prompts, SEP)
        if (samples.prompts == NOTHING).any():
            _refuse_encoder(causal)
            inputs, _ = _close_up(inputs, inputs == SEP)
        return Batch(inputs, np.asarray(samples.answers, dtype=np.float64), inputs == SEP)
    whole = _row_tokens(items, BOS, samples.prompts, SEP, samples.answers, EOS)
    marks = np.zeros(whole.shape, dtype=bool)
    marks[:, width + 2 :] = True
    ragged = (samples.prompts == NOTHING).any() or (samples.answers == NOTHING).any()
    if ragged:
        whole, marks = _close_up(whole, marks)
    if causal:
        return Batch(whole[:, :-1], whole[:, 1:], marks[:, 1:] & (whole[:, 1:] != PAD))
    if ragged:
        _refuse_encoder(causal)
    return Batch(np.where(marks, PAD, whole), whole, marks)


def ids_by_place(prompts: Ints, ids: Ints, answer: int) -> Ints:
    """Ids of a task whose answer is its prompt in another order: place j of the answer has the id j, from 1 on, and the
    prompt's symbols have `ids` [width], the ids of the answer places where they are written."""
    places = np.arange(1, answer + 1)
    row = np.concatenate([ids, np.where(places <= prompts.shape[1], places, 0)])
    return np.tile(row, (len(prompts), 1))


def ids_by_significance(prompts: Ints, sign: int, answer: int, longest: Literal["sum", "product"]) -> Ints:
    """Ids of numbers that are written from the lowest digit up with one `sign` between them: significance, from 1 on.
    The answer has one digit more than the longer number, or as many as both together. The sign shares the id of its
    last digit, so that a model sees where the answer ends."""
    width = prompts.shape[1]
    first = (prompts == sign).argmax(axis=1)[:, None]
    second = width - 1 - first
    digits = first + second if longest == "product" else np.maximum(first, second) + 1
    places, written = np.arange(width), np.arange(1, answer + 1)
    within = np.where(places < first, places + 1, places - first)
    within = np.where(places == first, -digits, within)
    return np.hstack([within, np.where(written <= digits, written, 0)])


def lengths_of(batch: Batch) -> Ints:
    """The tokens of each row up to the last that is asked for."""
    return batch.scored.shape[1] - batch.scored[:, ::-1].argmax(axis=1)


def rows_of(batch: Batch, rows: Ints | slice) -> Batch:
    """Some of the rows."""
    return Batch(batch.inputs[rows], batch.targets[rows], batch.scored[rows])


def trimmed(batch: Batch) -> Batch:
    """Without the columns behind the longest row, which a causal model never looks at."""
    width = int(lengths_of(batch).max())
    return Batch(batch.inputs[:, :width], batch.targets[:, :width], batch.scored[:, :width])


def stacked(parts: Sequence[Batch]) -> Batch:
    """Batches of different widths as one, filled up at the right; not for the readout "numbers"."""
    width = max(part.inputs.shape[1] for part in parts)

    def joined(name: str) -> NDArray:
        rows = [getattr(part, name) for part in parts]
        return np.concatenate([np.pad(some, ((0, 0), (0, width - some.shape[1]))) for some in rows])  # PAD is 0

    return Batch(joined("inputs"), joined("targets"), joined("scored"))


def _tokens(symbols: NDArray) -> Ints:
    """Indices into the task's symbols → token ids (`NOTHING` becomes `<pad>`)."""
    return np.where(symbols == NOTHING, PAD, symbols + len(SPECIALS)).astype(np.int64)


def _row_tokens(items: int, *parts: int | NDArray) -> Ints:
    columns = [np.full((items, 1), part) if isinstance(part, int) else _tokens(part) for part in parts]
    return np.concatenate(columns, axis=1).astype(np.int64)


def _refuse_encoder(causal: bool) -> None:
    if not causal:
        raise UsageError(
            "an encoder needs sequences of equal length at each size, and items of this task differ in length"
        )


def _close_up(whole: Ints, marks: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
    """Move the `<pad>` gaps inside rows to their right end, keeping the order of everything else."""
    order = np.argsort(whole == PAD, axis=1, kind="stable")
    return np.take_along_axis(whole, order, axis=1), np.take_along_axis(marks, order, axis=1)
