"""What the network of a run answers to a prompt, and the items that it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lengthwise.errors import UsageError
from lengthwise.models.batches import positions_of
from lengthwise.models.network import Network
from lengthwise.models.placed import home
from lengthwise.seeds import Seeds
from lengthwise.subjects.run import NetworkAnswers
from lengthwise.tasks.batch import BOS, EOS, NOTHING, PAD, SEP, SPECIALS
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class Failure:
    """A test item that was answered wrongly: its number at this size, and symbols with spaces between."""

    number: int
    prompt: str
    truth: str
    answer: str


@torch.no_grad()
def answer_of(model: Network, task: Task, prompt: Sequence[str], seed: int) -> tuple[str, ...]:
    """The answer to a prompt, written greedily; for tags one label per symbol, for numbers the numbers."""
    symbols = {symbol: number + len(SPECIALS) for number, symbol in enumerate(task.symbols)}
    if unknown := [symbol for symbol in prompt if symbol not in symbols]:
        some = " ".join(task.symbols[:12]) + (" …" if len(task.symbols) > 12 else "")
        raise UsageError(f"the task {name_of(task)} has no symbol {unknown[0]!r}; it has {some}")
    tokens = [BOS, *(symbols[symbol] for symbol in prompt), *([] if task.readout == "tags" else [SEP])]
    there = home(model)
    inputs = torch.tensor([tokens], device=there)
    if task.readout == "answer":
        most = 4 * len(prompt) + 64
        if not model.position.beyond_training:
            most = max(1, min(most, model.shape.rows - len(tokens) + 1))
        whole = np.array([[*tokens, *[PAD] * (most - 1)]])
        at = positions_of(model, task, whole, Seeds(seed)).to(there)
        written = model.generate(inputs, most, at)[0].tolist()
        ended = written.index(EOS) if EOS in written else len(written)
        return tuple(task.vocabulary[token] for token in written[:ended])
    output = model(inputs, at=positions_of(model, task, np.array([tokens]), Seeds(seed)).to(there))[0]
    if task.readout == "numbers":
        return tuple(f"{number:.4g}" for number in output[-1].tolist())
    labels = tuple(task.vocabulary[token] for token in output.argmax(dim=-1).tolist())
    return labels[-len(task.solve(prompt)) :]


def failures_of(model: Network, task: Task, size: int, count: int, items: int, seed: int) -> list[Failure]:
    """The first wrong items among the first `items` test items at a size."""
    task = task.part("test")
    wrong = np.flatnonzero(~NetworkAnswers(model).mark(task, size, range(items), seed).items)[:count]
    drawn, found = task.draw(size, seed, wrong, role="test"), []
    for number, prompt, truth in zip(wrong.tolist(), drawn.prompts, drawn.answers, strict=True):
        asked = task.spelled(prompt)
        right = [f"{x:.4g}" for x in truth] if task.readout == "numbers" else task.spelled(truth[truth != NOTHING])
        answer = answer_of(model, task, asked, seed)
        found.append(Failure(number, " ".join(asked), " ".join(right), " ".join(answer)))
    return found
