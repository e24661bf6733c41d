"""The rows of attention of a trained model: how evenly the queries that answer spread their weight over the keys."""

from __future__ import annotations

import torch
from torch import Tensor

from lengthwise.models.batches import positions_of
from lengthwise.models.forward import run
from lengthwise.probes.probe import Context
from lengthwise.probes.sparsity import Sparsity
from lengthwise.subjects.run import measured_batches
from lengthwise.subjects.subject import Subject


@torch.no_grad()
def measure_sparsity(subject: Subject, context: Context, items: int) -> tuple[Sparsity, ...]:
    """How sparse the attention of every layer is at the sizes of the context, on the first test items that a curve with
    its seed is measured on, with the positions they have there. In float64, from the layers of the model."""
    model, anatomy, found = subject.capability("transformer"), subject.capability("anatomy"), []
    assert context.task is not None
    task, sizes = context.task.part("test"), sorted(set(context.sizes))
    for number, size in enumerate(sizes, start=1):
        rows: list[list[Tensor]] = [[] for _ in anatomy.blocks]
        for batch, seeds in measured_batches(model, task, size, range(items), context.seed):
            inputs, asked = torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored)
            trace = run(anatomy, inputs, positions_of(model, task, batch.inputs, seeds))
            for layer, block in enumerate(trace.blocks):
                rows[layer].append(row_numbers(block.attention_logits, block.attention_weights, asked))
        for layer, parts in enumerate(rows, start=1):
            entropy, uniform, best = torch.cat(parts, dim=1).mean(dim=1).tolist()
            found.append(Sparsity(size, layer, items, entropy, uniform, best))
        context.progress(f"attention at size {size}", number, len(sizes))
    return tuple(found)


def row_numbers(logits: Tensor, weights: Tensor, asked: Tensor) -> Tensor:
    """[3, rows] for the rows of [B, H, queries, keys] whose query is `asked` [B, queries]: the entropy in nats, the
    logarithm of how many keys are seen (those with a logit above -inf), and the greatest weight."""
    here = asked.to(weights.device)[:, None].expand(weights.shape[:3])
    own, seen = weights[here], (logits[here] > -torch.inf).sum(dim=1)
    return torch.stack([torch.special.entr(own).sum(dim=1), seen.to(own.dtype).log(), own.amax(dim=1)])
