"""What a budget for keys costs: sinkhorn attention against softmax, our solver against POT's, and training on `sort`.

One layer of attention, forward and backward, of the same weights on the same tokens: encoder (one problem a head) and
decoder (a problem a prefix). Ours is sinkhorn:tau=1, the peer our softmax; a ratio says how many times slower it is.

The solver's peer is `ot.unbalanced.sinkhorn_knopp_unbalanced`, called once a problem as it knows no batches. Both find
the same plans (checked to 1e-5); a ratio says how many times faster ours is.

The training rows give exact match at the largest training size, and seconds, of two models that differ in the rule.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from rows import Row, median_seconds, need, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.geometry.sinkhorn import sinkhorn
from lengthwise.models.attention import attentions
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.curve.evaluate import measure_size
from lengthwise.runs.plan import Plan
from lengthwise.runs.run import build_model
from lengthwise.subjects.run import NetworkAnswers
from lengthwise.tasks import tasks
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

RULE, TAU, BATCH, TOLERANCE, CLOSE = "sinkhorn:tau=1", 1.0, 8, 1e-9, 1e-5
TRAIN_SIZE, ITEMS = 8, 512


def layer_work(rule: str, causal: bool, length: int) -> Callable[[], None]:
    """One attention layer of width 64 with 4 heads, forward and backward, on 8 sequences."""
    torch.manual_seed(0)
    architecture = Architecture(1, 64, 4, 1, causal, attentions.make(rule))
    model = Transformer(architecture, Interface(8, 8, length, length))
    attention, x = model.blocks[0].attention, torch.randn(BATCH, length, 64, requires_grad=True)
    attention.qkv.weight.data *= 10  # attention as uneven as after some training
    at = torch.arange(length)[None]
    sight = model._sight(at, at[0])

    def work() -> None:
        attention(x, sight, model.encoder, None).square().sum().backward()

    return work


def layer_rows(lengths: tuple[int, ...], repetitions: int) -> list[Row]:
    rows = []
    for causal in (False, True):
        for length in lengths:
            seconds = []
            for rule in (RULE, "softmax"):
                work = layer_work(rule, causal, length)
                work()
                seconds.append(median_seconds(work, repetitions))
            kind = "decoder" if causal else "encoder"
            what = f"attention, {kind}, {length} tokens"
            ours, peer = (1e3 * each for each in seconds)
            rows.append(Row(what, ours, "ms", peer, "softmax", ours / peer))
    return rows


def solver_row(length: int, problems: int, repetitions: int) -> Row:
    """All problems at once against POT's one by one."""
    import ot

    scores = torch.randn(problems, length, length, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    even = np.full(length, 1 / length)

    def theirs() -> np.ndarray:
        return np.stack([
            ot.unbalanced.sinkhorn_knopp_unbalanced(even, even, -each, 1.0, (math.inf, TAU), stopThr=TOLERANCE)
            for each in scores.numpy()
        ])  # fmt: skip

    found = sinkhorn(scores, 1.0, TAU, TOLERANCE)
    apart = float(np.abs(found.weights.numpy() - length * theirs()).max())
    if not (found.converged and apart <= CLOSE):
        raise LengthwiseError(f"the plans of {length} tokens differ by {apart:g}")
    ours = 1e3 * median_seconds(lambda: sinkhorn(scores, 1.0, TAU, TOLERANCE), repetitions)
    peer = 1e3 * median_seconds(theirs, repetitions)
    return Row(f"{problems} plans of {length} x {length}", ours, "ms", peer, "POT", peer / ours)


def training_rows(steps: int) -> list[Row]:
    """`sort` at sizes 1 to 8 by two models that differ in the rule alone: one seed, so no more than an example."""
    task, found = tasks.make("sort"), []
    for rule in (RULE, "softmax"):
        architecture = Architecture(2, 64, 4, attention=attentions.make(rule), position=make_position("none"))
        plan = Plan(task, architecture, Recipe(steps=steps), TRAIN_SIZE, TRAIN_SIZE, seed=0)
        model = build_model(plan)
        began = time.perf_counter()
        train_model(model, task, plan.recipe, TRAIN_SIZE, plan.seed)
        seconds = time.perf_counter() - began
        found.append((measure_size(NetworkAnswers(model), task, TRAIN_SIZE, ITEMS, seed=1).exact, seconds))
    (ours, our_seconds), (peer, peer_seconds) = found
    return [
        Row(f"exact match on sort at size {TRAIN_SIZE}, {steps} steps", ours, "of 1", peer, "softmax"),
        Row("  its training", our_seconds, "s", peer_seconds, "softmax", our_seconds / peer_seconds),
    ]


def rows(quick: bool = False) -> list[Row]:
    need("ot")
    lengths, repetitions = ((16, 32), 1) if quick else ((16, 32, 64, 128), 5)
    table = layer_rows(lengths, repetitions)
    table += [solver_row(length, 8 if quick else 32, repetitions) for length in lengths]
    return table + training_rows(20 if quick else 800)


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
