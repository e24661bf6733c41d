"""The margins of a trained model's heads, size by size, over the queries that are asked for an answer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.models.batches import positions_of
from lengthwise.models.forward import run
from lengthwise.probes.probe import Context
from lengthwise.subjects.run import measured_batches
from lengthwise.subjects.subject import Subject


@dataclass(frozen=True)
class HeadMargins:
    """One head at one size: how many keys its queries see on average (geometric mean), how many queries there are, the
    least and the median margin (None where all keys of every query tie), the share of queries that are hard, and the
    mean share of a query's keys that tie with its best."""

    layer: int  # counted from 1, and so is the head
    head: int
    size: int
    keys: float
    queries: int
    least: float | None
    median: float | None
    hard: float
    tied: float


@torch.no_grad()
def head_margins(subject: Subject, context: Context, items: int, bits: int) -> list[HeadMargins]:
    """On the first test items that a curve with this seed is measured on, in float64, from the layers of the model."""
    model, anatomy, found = subject.capability("transformer"), subject.capability("anatomy"), []
    assert context.task is not None
    task, sizes = context.task.part("test"), sorted(set(context.sizes))
    for number, size in enumerate(sizes, start=1):
        rows: dict[tuple[int, int], list[Tensor]] = {}
        for batch, seeds in measured_batches(model, task, size, range(items), context.seed):
            inputs, asked = torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored)
            trace = run(anatomy, inputs, positions_of(model, task, batch.inputs, seeds))
            for layer, block in enumerate(trace.blocks, start=1):
                for head in range(block.attention_logits.shape[1]):
                    logits = block.attention_logits[:, head].double().cpu()
                    rows.setdefault((layer, head + 1), []).append(margin_rows(logits[asked], bits))
        for (layer, head), parts in rows.items():
            found.append(_summary(layer, head, size, torch.cat(parts, dim=1), bits))
        context.progress(f"margins at size {size}", number, len(sizes))
    return sorted(found, key=lambda row: (row.layer, row.head, row.size))


def margin_rows(logits: Tensor, bits: int) -> Tensor:
    """[3, queries] for logits [queries, keys], -inf where a key is not seen: how far the best logit is above the first
    that does not tie with it (infinite where all tie), how many keys are seen, and how many tie with the best."""
    seen = logits > -torch.inf
    best = logits.amax(dim=1, keepdim=True)
    tied = seen & (best - logits <= 2.0**-bits * best.abs().clamp(min=1.0))
    below = logits.masked_fill(tied, -torch.inf).amax(dim=1)
    return torch.stack([best[:, 0] - below, seen.sum(dim=1).double(), tied.sum(dim=1).double()])


def _summary(layer: int, head: int, size: int, rows: Tensor, bits: int) -> HeadMargins:
    margins, keys, tied = rows
    alone = margins[margins.isfinite()]
    hard = margins >= bits * torch.log(torch.tensor(2.0, dtype=torch.float64))
    return HeadMargins(
        layer,
        head,
        size,
        keys=float(keys.log().mean().exp()),
        queries=len(margins),
        least=float(alone.min()) if len(alone) else None,
        median=float(alone.median()) if len(alone) else None,
        hard=float(hard.double().mean()),
        tied=float((tied / keys).mean()),
    )
