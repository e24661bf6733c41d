"""What a model would write at each place with the true answer given, and what it writes on its own: token by token, the
one it scores best.

Up to its first mistake a model that writes freely has read the true answer, so it writes what it would have written
with the true answer given. Items without a mistake need no decoding, and the others begin with their first mistake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.models.placed import home
from lengthwise.models.transformer import Transformer
from lengthwise.probes.ladder.level_items import LevelItems, Texts
from lengthwise.seeds import Floats, Ints
from lengthwise.subjects.run import continue_greedily, rows_at_once
from lengthwise.tasks.batch import EOS, PAD, Batch, lengths_of, rows_of, trimmed
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.tasks.task import Task

_ROWS = 16  # rows of about the same length that are read together


@dataclass(frozen=True, eq=False)
class Taught:
    """All [items, tokens] and of meaning where `scored`: the token the model scores best, whether it is the true one,
    its probability, and the cross-entropy of the true one."""

    scored: NDArray[np.bool_]
    best: Ints
    hits: NDArray[np.bool_]
    confidence: Floats
    losses: Floats

    def first(self, count: int, width: int) -> Taught:
        """The first items alone, as wide as these are."""
        return Taught(*(values[:count, :width] for values in vars(self).values()))

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which items have no mistake, [items]: those that greedy decoding writes exactly."""
        return np.asarray((self.hits | ~self.scored).all(axis=1))

    @property
    def errors(self) -> Floats:
        """The share of wrong tokens of each item, [items]."""
        return (~self.hits & self.scored).sum(axis=1) / self.scored.sum(axis=1)

    @property
    def first_mistakes(self) -> Ints:
        """The place at which each item is first asked for a token and gives a wrong one; -1 where there is none."""
        wrong = ~self.hits & self.scored
        return np.where(wrong.any(axis=1), wrong.argmax(axis=1), -1)


@torch.no_grad()
def read_items(model: Transformer, batch: Batch, at: Tensor) -> Taught:
    """Read all rows, those of about the same length together. `at` [1, places] are positions for the longest row."""
    best = np.full(batch.scored.shape, PAD)
    confidence, losses = np.zeros(batch.scored.shape), np.zeros(batch.scored.shape)
    order = np.argsort(lengths_of(batch), kind="stable")
    step = min(_ROWS, rows_at_once(model, batch.scored.shape[1]))
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        part = trimmed(rows_of(batch, rows))
        width = part.scored.shape[1]
        read = (torch.from_numpy(part.inputs), at[:, :width], torch.from_numpy(part.scored))
        logits = model(*(one.to(home(model)) for one in read)).cpu()
        scores = logits.double().log_softmax(dim=-1)
        truth = torch.from_numpy(part.targets[part.scored])
        row, column = np.nonzero(part.scored)
        where = rows[row], column
        best[where] = logits.argmax(dim=-1).numpy()
        confidence[where] = scores.amax(dim=-1).exp().numpy()
        losses[where] = -scores.gather(1, truth[:, None])[:, 0].numpy()
    return Taught(batch.scored, best, (best == batch.targets) & batch.scored, confidence, losses)


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
