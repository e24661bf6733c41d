"""Limit transformers that answer the tasks of Izzo, Nichani and Lee as a model reads them: `<bos> prompt <sep>`.

Each is an example of `examples.py` that also leaves the two marks out of account and, where it uses positions, finds
the phase of the first symbol from `<bos>`, so that its answer is the same wherever the positions begin. What it
computes is proved in docs/explanation/limit.md (statement 13); `verify_witness` compares it with the task's own solver.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.oracle.limit.transformer import Layer, LimitHead, LimitTransformer, Mlp, matrix, vector
from lengthwise.oracle.programs.prompts import BOS, SEP
from lengthwise.tasks.izzo import KgramLaw, ModPTask, SimpleTask
from lengthwise.tasks.task import Task

ROUNDING = 1e-9
_PROMPTS = 2_000  # short prompts that are all tried
_SIZES, _DRAWN = (8, 16, 32, 64), 12


@dataclass(frozen=True)
class Witness:
    """`build(offset)` is the transformer whose positions begin at an offset; it is within `error` of the target at
    every length. `positions`: whether it uses them. `layers`, `period` and `locality` are those of the transformer."""

    build: Callable[[int], LimitTransformer]
    error: float
    positions: bool
    layers: int
    period: int = 1
    locality: int = 0
    units: int = 0  # of its MLP


@dataclass(frozen=True)
class WitnessTrial:
    """All prompts of up to `checked_to` symbols and `sampled` drawn ones of up to `sampled_to`; the largest difference
    from the task's own solver, and a prompt that has it if it is above the error."""

    checked_to: int
    prompts: int
    sampled: int
    sampled_to: int
    difference: float
    wrong: tuple[str, ...] | None = None


def witness_for(task: Task) -> Witness | None:
    """The witness of a task with its settings; None where there is none here."""
    match task:
        case SimpleTask():
            pieces = wave_pieces(task.omega, task.tolerance / 2)
            error = task.omega**2 / (2 * pieces**2)
            return Witness(lambda _: marked_wave(task.omega, pieces), error, False, 1, units=pieces + 1)
        case ModPTask():
            build = lambda offset: marked_share(task.period, task.residue, offset)  # noqa: E731
            return Witness(build, 0.0, True, 2, task.period, units=task.period)
        case KgramLaw():
            return Witness(lambda _: marked_followers(task.symbols, task.k), 0.0, True, 2, locality=task.k)
    return None


def wave_pieces(omega: float, error: float) -> int:
    """Pieces of a line between equally spaced points of sin(omega t), |t| <= 1, that is within the error of it: the
    curvature is at most omega² and a piece has length 2/K, so K pieces err by at most omega²/(2 K²)."""
    return max(1, math.ceil(abs(omega) / math.sqrt(2 * error)))


def marked_wave(omega: float, pieces: int) -> LimitTransformer:
    """sin(omega (zeros - ones) / (zeros + ones)) by attention to the bits alone and a piecewise linear MLP. The
    coordinates: +1 for a zero and -1 for a one; is a bit; constant 1; the mean; the answer."""
    embeddings = [[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 0, 0], [-1, 1, 1, 0, 0]]
    match, value = np.zeros((5, 5), dtype=int), np.zeros((5, 5), dtype=int)
    match[1, 2] = value[3, 0] = 1
    knots = -1 + 2 * np.arange(pieces + 1) / pieces
    slopes = np.diff(np.sin(omega * knots)) * pieces / 2
    inner, outer = np.zeros((pieces + 1, 5)), np.zeros((5, pieces + 1))
    inner[1:, 3] = 1.0
    offset = np.concatenate([[1.0], -knots[:-1]])  # the first unit is constant
    outer[4] = np.concatenate([[np.sin(-omega)], slopes[:1], np.diff(slopes)])
    mlp = Mlp(matrix(inner, "inner"), vector(offset, "offset"), matrix(outer, "outer"))
    head = LimitHead(matrix(match, "match"), vector([0], "local"), matrix(value, "value"))
    return _limit((BOS, SEP, "0", "1"), embeddings, [[0] * 5], [Layer((head,), mlp)], [[0, 0, 0, 0, 1]])


def marked_share(period: int, residue: int, start: int = 0) -> LimitTransformer:
    """The share of ones at the places residue modulo period behind `<bos>`, which stands at the position `start`. Layer
    1 copies the phase of `<bos>` to every place, and its MLP compares phases; layer 2 attends to bits of the class."""
    phase, copied = slice(0, period), slice(period, 2 * period)
    bos, constant, chosen, bit, one, answer = range(2 * period, 2 * period + 6)
    width = 2 * period + 6
    embeddings = np.zeros((4, width), dtype=int)
    embeddings[:, constant], embeddings[0, bos], embeddings[2:, bit], embeddings[3, one] = 1, 1, 1, 1
    positions = np.roll(np.eye(period, width, dtype=int), -start, axis=0)
    looks, copies, seeks, reads = (np.zeros((width, width), dtype=int) for _ in range(4))
    looks[bos, constant] = 1
    copies[copied, phase] = np.eye(period, dtype=int)
    seeks[[chosen, bit], constant] = 1
    reads[answer, one] = 1
    inner, outer = np.zeros((period, width), dtype=int), np.zeros((width, period), dtype=int)
    for first in range(period):  # a unit per phase of `<bos>`: is the own phase residue + 1 behind it?
        inner[first, (first + residue + 1) % period] = inner[first, period + first] = outer[chosen, first] = 1
    mlp = Mlp(matrix(inner, "inner"), vector([-1] * period, "offset"), matrix(outer, "outer"))
    local = vector([0], "local")
    first = Layer((LimitHead(matrix(looks, "match"), local, matrix(copies, "value")),), mlp)
    second = Layer((LimitHead(matrix(seeks, "match"), local, matrix(reads, "value")),))
    return _limit((BOS, SEP, "0", "1"), embeddings, positions, [first, second], np.eye(1, width, answer, dtype=int))


def marked_followers(letters: tuple[str, ...], k: int) -> LimitTransformer:
    """How often each letter followed the last k: k heads of layer 1 copy the letters 1 to k places back, layer 2
    attends to the places whose copies equal those of `<sep>`, except `<sep>` itself, and reads their letters."""
    many = len(letters)
    own, answer = slice(0, many), slice((k + 1) * many, (k + 2) * many)
    mark, constant = (k + 2) * many, (k + 2) * many + 1
    width, eye = (k + 2) * many + 2, np.eye(many, dtype=int)
    embeddings = np.zeros((many + 2, width), dtype=int)
    embeddings[2:, own] = eye
    embeddings[:, constant], embeddings[1, mark] = 1, 1
    seeks, reads = np.zeros((width, width), dtype=int), np.zeros((width, width), dtype=int)
    heads = []
    for back in range(1, k + 1):
        block, copies = slice(back * many, (back + 1) * many), np.zeros((width, width), dtype=int)
        copies[block, own], seeks[block, block] = eye, eye
        zero = matrix(np.zeros((width, width), dtype=int), "match")
        heads.append(LimitHead(zero, vector([*[0] * back, 1], "local"), matrix(copies, "value")))
    seeks[mark, constant] = -1
    reads[answer, own] = eye
    second = LimitHead(matrix(seeks, "match"), vector([0], "local"), matrix(reads, "value"))
    readout = np.eye(many, width, (k + 1) * many, dtype=int)
    layers = [Layer(tuple(heads)), Layer((second,))]
    return _limit((BOS, SEP, *letters), embeddings, [[0] * width], layers, readout)


def _limit(
    symbols: tuple[str, ...], embeddings: Any, positions: Any, layers: list[Layer], readout: Any
) -> LimitTransformer:
    arrays = matrix(embeddings, "embeddings"), matrix(positions, "positions"), matrix(readout, "readout")
    return LimitTransformer(symbols, arrays[0], arrays[1], tuple(layers), arrays[2])


def verify_witness(witness: Witness, task: Task) -> WitnessTrial:
    """Compare a witness with the task's own solver on all short prompts and on drawn ones, at every offset of its
    period, in floating point."""
    offsets = range(witness.period if witness.positions else 1)
    models = [witness.build(offset).in_floats() for offset in offsets]
    checked_to = prompts = sampled = sampled_to = 0
    difference, wrong = 0.0, None
    for length in itertools.count(1):
        if prompts + len(task.symbols) ** length > _PROMPTS:
            break
        words = [word for word in itertools.product(task.symbols, repeat=length) if _is_prompt(task, word)]
        worst, word = _largest(models, task, words)
        if worst > difference:
            difference, wrong = worst, word
        checked_to, prompts = length, prompts + len(words)
    for size in itertools.chain.from_iterable(task.sizes(near, near + 8)[:1] for near in _SIZES):
        drawn = task.draw(size, seed=0, items=np.arange(_DRAWN), role="verify").prompts
        words = [task.spelled(row) for row in drawn]
        worst, word = _largest(models, task, words)
        if worst > difference:
            difference, wrong = worst, word
        sampled, sampled_to = sampled + len(words), max(sampled_to, len(words[0]))
    bad = difference > witness.error + ROUNDING
    return WitnessTrial(checked_to, prompts, sampled, sampled_to, difference, wrong if bad else None)


def _is_prompt(task: Task, word: tuple[str, ...]) -> bool:
    try:
        task.solve(word)
    except (ValueError, ZeroDivisionError, LookupError):  # a UsageError is a ValueError
        return False
    return True


def _largest(
    models: Iterable[LimitTransformer], task: Task, words: list[tuple[str, ...]]
) -> tuple[float, tuple[str, ...] | None]:
    """The largest difference on words of one length, and a word that has it."""
    if not words:
        return 0.0, None
    wanted = np.array([task.solve(word) for word in words], dtype=float)
    found = [np.abs(answers - wanted).max(axis=1) for answers in _answers(models, words)]
    worst = np.max(found, axis=0)
    return float(worst.max()), words[int(worst.argmax())]


def _answers(models: Iterable[LimitTransformer], words: list[tuple[str, ...]]) -> Iterator[Any]:
    for model in models:
        yield model.answers(np.concatenate([model.read((BOS, *word, SEP)) for word in words]))
