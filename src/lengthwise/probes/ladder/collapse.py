"""What becomes of different search states inside a model: do they stay apart, in how many directions, seen how sharply?

Looked at are the places where a push or a pop of the true trace ends: there a model that follows the search has to know
the stack, the moves in force. For a task without a stack they are all tokens of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.models.forward import run
from lengthwise.models.parts import Anatomy
from lengthwise.probes.ladder.level_items import LevelItems
from lengthwise.probes.ladder.levels import Inside
from lengthwise.probes.sparsity.rows import row_numbers
from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.search.search_task import SearchTask

SAME = 0.99  # the cosine from which on two states point the same way
_STILL = 1e-9  # states that differ by less than this share of their size do not differ


@dataclass(frozen=True, eq=False)
class Places:
    """Where to look: item and column of each place, and the pairs of places (by number, [pairs, 2]) of one trace that
    have the same token and different stacks."""

    items: Ints
    columns: Ints
    pairs: Ints


def places_of(items: LevelItems) -> Places:
    """The ends of pushes and pops of the true traces; the tokens of the answers where there is no stack."""
    rows, columns, pairs = [], [], []
    for row in range(len(items)):
        inputs, begin = items.batch.inputs[row], int(items.batch.scored[row].argmax())
        seen = [(begin + end, int(inputs[begin + end]), stack) for end, stack in _ends(items, row)]
        first = len(rows)
        rows += [row] * len(seen)
        columns += [column for column, _, _ in seen]
        pairs += [
            (first + i, first + j)
            for j, (_, token, stack) in enumerate(seen)
            for i, (_, other, before) in enumerate(seen[:j])
            if token == other and stack is not None and stack != before
        ]
    return Places(np.array(rows), np.array(columns), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def _ends(items: LevelItems, row: int) -> list[tuple[int, tuple | None]]:
    """For each place of an item: how many tokens of the answer have been read there, and the moves in force."""
    if not isinstance(items.task, SearchTask):
        if items.task.readout == "tags":  # labels are given where the prompt is read
            return [(end, None) for end in range(int(items.batch.scored[row].sum()))]
        return [(end, None) for end in range(1, len(items.answers[row]) + 1)]
    found, stack = [], ()
    for event in items.task.verify(items.prompts[row], items.answers[row]).events:
        stack = (*stack, event.move) if event.kind == "push" else stack[:-1]
        found.append((event.end, stack))
    return found


@torch.no_grad()
def look_inside(anatomy: Anatomy, items: LevelItems, at: Tensor) -> tuple[Inside, ...]:
    """The residual stream as embedded and after each layer, at the places of these items."""
    places = places_of(items)
    trace = run(anatomy, torch.from_numpy(items.batch.inputs), at[:, : items.width])
    streams = [trace.embedded, *(block.after_mlp for block in trace.blocks)]
    asked = items.batch.scored
    entropies = [attention_entropy(block.attention_logits, block.attention_weights, asked) for block in trace.blocks]
    layers = []
    for stream, entropy in zip(streams, [None, *entropies], strict=True):
        states = stream[places.items, places.columns].cpu().numpy()
        layers.append(Inside(share_of_pairs(states, places.pairs), len(places.pairs), effective_rank(states), entropy))
    return tuple(layers)


def share_of_pairs(states: Floats, pairs: Ints) -> float | None:
    """The share of the pairs of states [places, W] that point the same way; None where there is no pair."""
    if not len(pairs):
        return None
    units = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-300)
    cosines = np.einsum("pw,pw->p", units[pairs[:, 0]], units[pairs[:, 1]])
    return float(np.mean(cosines >= SAME))


def effective_rank(states: Floats) -> float:
    """exp(H(p)), p the singular values of the centred states [places, W] as shares of their sum, H the entropy in nats
    (roy2007, definition 1). It lies between 1 and the rank; 0 where the states do not differ at all."""
    centred = states - states.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    if values.max() <= _STILL * np.linalg.norm(states):
        return 0.0
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def attention_entropy(logits: Tensor, weights: Tensor, asked: NDArray[np.bool_]) -> float | None:
    """The mean over heads and the places that are `asked` [B, T] of the entropy of the weights [B, H, T, T], each as a
    share of the logarithm of how many keys are seen, which have a logit above -inf; None where no query sees two."""
    entropy, most, _ = row_numbers(logits, weights, torch.from_numpy(asked))
    return float((entropy / most)[most > 0].mean()) if bool((most > 0).any()) else None
