"""Exact match by writing the answer token by token: the slow way, kept as the witness of the fast one."""

from __future__ import annotations

import numpy as np
import torch

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.batches import positions_of
from lengthwise.models.network import Network
from lengthwise.models.placed import home
from lengthwise.probes.probe import Context
from lengthwise.records import Claim
from lengthwise.seeds import Seeds
from lengthwise.subjects.run import NetworkAnswers, measured_batches
from lengthwise.subjects.subject import Subject
from lengthwise.subjects.symbols import MappedAnswers
from lengthwise.tasks.batch import Batch
from lengthwise.tasks.task import Task

explain({"curve.generated": "items on which greedy decoding agrees with the single forward pass"})


def agreement(subject: Subject, context: Context) -> Claim:
    """The share of the items of a curve that greedy decoding judges as the single forward pass does."""
    assert context.task is not None
    task, alike, asked = context.task.part("test"), 0, 0
    items = 200 if context.items is None else context.items
    answers = subject.capability("answers")
    if not isinstance(answers, MappedAnswers | NetworkAnswers):
        answers = NetworkAnswers(subject.capability("transformer"))
    for size in sorted(set(context.sizes)):
        at_once = answers.mark(task, size, range(items), context.seed).items
        if isinstance(answers, MappedAnswers):
            written = answers.written_right(task, size, range(items), context.seed)
        else:
            written = greedy_right(answers.model, task, size, items, context.seed)
        alike += int((at_once == written).sum())
        asked += items
    return Claim("curve.generated", alike / asked, "", "measured", evidence={"agree": alike, "items": asked})


def greedy_right(model: Network, task: Task, size: int, items: int, seed: int) -> np.ndarray:
    """Which of the items that `measure_size` looks at are answered exactly by greedy decoding, bool [items].

    The positions are those of the whole sequence, cut off at the token being written. O(answer length) forward passes.
    """
    if task.readout != "answer" or not model.architecture.causal:
        raise UsageError("greedy decoding needs a decoder and a task whose answer is written token by token")
    chunks = measured_batches(model, task, size, range(items), seed)
    return np.concatenate([_written_right(model, task, batch, seeds) for batch, seeds in chunks])


def _written_right(model: Network, task: Task, batch: Batch, seeds: Seeds) -> np.ndarray:
    there = home(model)
    at = positions_of(model, task, batch.inputs, seeds).to(there)
    begins = batch.scored.argmax(axis=1)  # the place of <sep>, the last token of the prompt
    right = np.zeros(len(begins), dtype=bool)
    for begin in np.unique(begins):
        rows = np.flatnonzero(begins == begin)
        longest = int(batch.scored[rows].sum(axis=1).max())
        prompts = torch.from_numpy(batch.inputs[rows, : begin + 1]).to(there)
        written = model.generate(prompts, longest, at if len(at) == 1 else at[rows]).cpu().numpy()
        wanted = batch.targets[rows, begin : begin + longest]
        asked = batch.scored[rows, begin : begin + longest]
        right[rows] = ((written == wanted) | ~asked).all(axis=1)
    return right
