"""What a model writes on its own, token by token, each the one it scores best.

Up to its first mistake a model that writes freely has read the true answer, so it writes what it would have written
with the true answer given. Items without a mistake need no decoding, and the others begin with their first mistake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.models.transformer import Cache, Transformer
from lengthwise.probes.ladder.level_items import LevelItems, Texts
from lengthwise.probes.ladder.taught import Taught
from lengthwise.seeds import Ints
from lengthwise.tasks.batch import EOS, PAD
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class Written:
    """An answer as it was written, without its `<eos>`; `ended` says whether that was written. A `<pad>`, `<bos>` or
    `<sep>` in an answer is its last token, as nothing behind it could make it right again."""

    tokens: Texts
    ended: bool


@dataclass(frozen=True)
class Judgement:
    """`valid`: the one right trace. `solved`: it ends at the goal by moves that the rules allow, and stops there."""

    valid: bool
    solved: bool
    why: str


def write_answers(model: Transformer, items: LevelItems, taught: Taught, at: Tensor, most: int) -> list[Written]:
    """What the model writes for each of these items, which `taught` has read. An answer is ended when it has `most`
    tokens, and where the positions `at` [1, places] end."""
    rows = [row[asked].tolist() for row, asked in zip(taught.best, taught.scored, strict=True)]
    if items.task.readout == "tags":  # labels are not fed back
        return [_written(items.task, [*row, EOS]) for row in rows]
    begins, mistakes = taught.scored.argmax(axis=1), taught.first_mistakes
    answers = [
        row if mistake < 0 else row[: mistake - begin + 1]
        for row, begin, mistake in zip(rows, begins, mistakes, strict=True)
    ]
    going = [row for row, tokens in enumerate(answers) if tokens[-1] > EOS]
    if going:
        prompts = [items.batch.inputs[row, : begins[row] + 1].tolist() for row in going]
        limits = np.array([min(len(prompt) + most, at.shape[1] + 1) for prompt in prompts])
        known = [prompt + answers[row] for prompt, row in zip(prompts, going, strict=True)]
        for row, prompt, whole in zip(going, prompts, continue_greedily(model, known, limits, at), strict=True):
            answers[row] = whole[len(prompt) :]
    return [_written(items.task, tokens) for tokens in answers]


@torch.no_grad()
def continue_greedily(model: Transformer, known: list[list[int]], limits: Ints, at: Tensor) -> list[list[int]]:
    """Each row of tokens with what the model writes behind it, up to a special token or to its limit of tokens.

    The rows go through one cache together, a column at a time from the end of the shortest on; where a row is still
    known, its own token is read and not what the model would write. Rows that have ended are taken out.
    """
    lengths = np.array([len(row) for row in known])
    text = np.full((len(known), int(max(limits.max(), lengths.max()))), PAD)
    for row, tokens in zip(text, known, strict=True):
        row[: len(tokens)] = tokens
    ends, going = np.maximum(lengths, limits), np.flatnonzero(lengths < limits)
    cache, column = Cache(), int(lengths.min())
    read = text[going, :column]
    while len(going):
        logits = model(torch.from_numpy(read), at=at[:, :column], cache=cache)[:, -1]
        free = lengths[going] <= column
        text[going, column] = np.where(free, logits.argmax(dim=-1).numpy(), text[going, column])
        column += 1
        ended = free & (text[going, column - 1] <= EOS)
        ends[going[ended]] = column
        stays = ~ended & (column < limits[going])
        if not stays.all():
            kept, going = torch.from_numpy(np.flatnonzero(stays)), going[stays]
            cache.keys = [keys[kept] for keys in cache.keys]
            cache.values = [values[kept] for values in cache.values]
        read = text[going, column - 1 : column]
    return [row[:end].tolist() for row, end in zip(text, ends, strict=True)]


def judge(task: Task, prompt: Texts, truth: Texts, written: Written) -> Judgement:
    """What a written answer is worth: by the rules of a search problem, for other tasks by the true answer alone."""
    if not isinstance(task, SearchTask):
        same = written.ended and written.tokens == truth
        return Judgement(same, same, "" if same else "the answer is another one")
    found = task.verify(prompt, written.tokens)
    solved = written.ended and task.solves(prompt, written.tokens)
    why = found.wrong or ("" if written.ended else "it does not end behind the goal")
    return Judgement(found.valid, solved, why)


def _written(task: Task, tokens: list[int]) -> Written:
    ended = tokens[-1] == EOS
    vocabulary = task.vocabulary
    return Written(tuple(vocabulary[token] for token in (tokens[:-1] if ended else tokens)), ended)
