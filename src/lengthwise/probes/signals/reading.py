"""The forward passes behind the signals: answers that the model writes itself, and what it computes on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.batches import positions_of
from lengthwise.models.forward import run
from lengthwise.models.network import Network
from lengthwise.models.placed import home
from lengthwise.models.transformer import Transformer
from lengthwise.probes.probe import Context
from lengthwise.probes.sparsity.rows import row_numbers
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.python import ModuleAnswers
from lengthwise.subjects.run import NetworkAnswers, continue_greedily, measured_batches
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.batch import EOS, Batch, lengths_of
from lengthwise.tasks.task import Task


@torch.no_grad()
def measure_signals(subject: Subject, context: Context, items: int) -> dict[int, dict[str, float]]:
    """The signals at each size of the context, on the first test items of its seed."""
    return {
        size: _at_size(subject, model, task, size, items, context.seed)
        for size, task, model in _by_size(subject, context)
    }


@torch.no_grad()
def measure_confidences(subject: Subject, context: Context, items: int) -> dict[int, NDArray[np.float64]]:
    """The probability that the subject gives its own answer, for each of the same items."""
    found = {}
    for size, task, model in _by_size(subject, context):
        parts = []
        for batch, seeds in measured_batches(model, task, size, range(items), context.seed):
            inputs, asked, at = _as_written(model, task, batch, seeds)
            logits = model(*(one.to(home(model)) for one in (inputs, at, asked)))
            parts.append(_certainty(logits.double().cpu(), asked.numpy())[1])
        found[size] = np.concatenate(parts)
    return found


def _by_size(subject: Subject, context: Context) -> Iterator[tuple[int, Task, Network]]:
    """The sizes of a context, each with the task and the network that is asked."""
    assert context.task is not None
    task, sizes = context.task.part("test"), sorted(set(context.sizes))
    answers = subject.capability("answers")
    for number, size in enumerate(sizes, start=1):
        if isinstance(answers, NetworkAnswers):
            yield size, task, answers.model
        elif isinstance(answers, ModuleAnswers):
            with answers.network(task, size) as network:
                yield size, task, network
        else:
            raise UsageError(f"{subject.name} gives answers without logits, from which no signal can be read")
        context.progress(f"signals at size {size}", number, len(sizes))


def _at_size(subject: Subject, model: Network, task: Task, size: int, items: int, seed: int) -> dict[str, float]:
    anatomy = subject.capability("anatomy") if subject.offers("anatomy") else None
    margins, confidences, entropies, norms = [], [], [], []
    for batch, seeds in measured_batches(model, task, size, range(items), seed):
        inputs, asked, at = _as_written(model, task, batch, seeds)
        if anatomy is None:
            logits = model(*(one.to(home(model)) for one in (inputs, at, asked)))
        else:
            trace = run(anatomy, inputs, at)
            here = asked.to(trace.output.device)
            logits = trace.output[here]
            for block in trace.blocks:
                entropy, even, _ = row_numbers(block.attention_logits, block.attention_weights, asked)
                entropies.append((entropy / even)[even > 0])
            norms.append(trace.blocks[-1].after_mlp[here].norm(dim=-1))
        if task.readout != "numbers":
            margin, confidence = _certainty(logits.double().cpu(), asked.numpy())
            margins.append(margin)
            confidences.append(confidence)
    found: dict[str, float] = {}
    if margins:
        found["margin"] = float(np.median(np.concatenate(margins)))
        found["confidence"] = float(np.median(np.concatenate(confidences)))
    if norms:
        spread = torch.cat(entropies)
        found["entropy"] = float(spread.mean()) if len(spread) else 0.0
        found["norm"] = float(torch.cat(norms).mean())
    return found


def _certainty(logits: Tensor, asked: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each row of `asked` [items, places] the least margin of its logits [asked places, outputs], and the
    probability of its likeliest tokens together."""
    rows, best = asked.nonzero()[0], logits.topk(2, dim=-1).values
    margins, logs = np.full(len(asked), np.inf), np.zeros(len(asked))
    np.minimum.at(margins, rows, (best[:, 0] - best[:, 1]).numpy())
    np.add.at(logs, rows, (best[:, 0] - logits.logsumexp(dim=-1)).numpy())
    return margins, np.exp(logs)


def _as_written(model: Network, task: Task, batch: Batch, seeds: Seeds) -> tuple[Tensor, Tensor, Tensor]:
    """A batch with the answers that the model writes in the place of the true ones: its inputs, where a token is asked
    for, and the positions. An answer is at most as long as the longest true answer of its size."""
    at = positions_of(model, task, batch.inputs, seeds)
    if task.readout != "answer" or not model.architecture.causal:
        return torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored), at
    starts = batch.scored.argmax(axis=1) + 1  # behind <sep>
    known = [row[:start].tolist() for row, start in zip(batch.inputs, starts, strict=True)]
    limits = np.minimum(starts + int((lengths_of(batch) - starts).max()), batch.inputs.shape[1])
    if isinstance(model, Transformer):
        rows = continue_greedily(model, known, limits, at)
    else:
        rows = list(_continued(model, known, limits, at))
    inputs, asked = np.zeros_like(batch.inputs), np.zeros_like(batch.scored)
    for row, (written, start) in enumerate(zip(rows, starts, strict=True)):
        read = written[:-1] if len(written) > start and written[-1] <= EOS else written
        inputs[row, : len(read)] = read
        asked[row, start - 1 : len(read)] = True
    return torch.from_numpy(inputs), torch.from_numpy(asked), at


def _continued(model: Network, known: list[list[int]], limits: Ints, at: Tensor) -> Iterator[list[int]]:
    """The same as `continue_greedily`, for a network without a cache."""
    for row, limit in zip(known, limits.tolist(), strict=True):
        read = torch.tensor([row], device=home(model))
        written = model.generate(read, limit - len(row), at)[0].tolist() if limit > len(row) else []
        ends = next((place + 1 for place, token in enumerate(written) if token <= EOS), len(written))
        yield [*row, *written[:ends]]
