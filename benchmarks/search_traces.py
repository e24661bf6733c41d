"""Search traces a second at the training sizes, and what pooling batches by length is worth in training."""

from __future__ import annotations

import sys
import time

import numpy as np
import torch
from rows import Row, median_seconds, standalone

from lengthwise.models.batches import logits_of, loss_of
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.runs.environment import threads
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import lengths_of
from lengthwise.training.batches import Batches
from lengthwise.training.recipe import Recipe

PROBLEMS = ("subset_sum", "countdown", "tree_maze")
TRAIN_SIZE, BATCH, POOL, TARGET = 3, 64, 8, 20_000


def traces_a_second(name: str, rounds: int) -> float:
    """Items of the training sizes in equal parts, drawn as a pool draws them; the median round counts."""
    task = tasks.make(name)
    sizes = task.sizes(1, TRAIN_SIZE)
    each = BATCH * POOL // len(sizes)
    speeds = []
    for turn in range(rounds + 1):
        began = time.perf_counter()
        for size in sizes:
            task.draw(size, 0, range(turn * each, (turn + 1) * each))
        speeds.append(each * len(sizes) / (time.perf_counter() - began))
    return float(np.median(speeds[1:]))  # the first one fills caches


def batches_of(name: str, pool: int, steps: int) -> Batches:
    task = tasks.make(name)
    return Batches(task, Recipe(steps=steps, batch=BATCH, pool=pool), task.sizes(1, TRAIN_SIZE), 0, causal=True)


def real_share(name: str, pool: int, steps: int = 8 * POOL) -> float:
    """Of the tokens that a model computes, the share that belongs to an item."""
    found = batches_of(name, pool, steps)
    some = [found.at(step) for step in range(steps)]
    return float(sum(lengths_of(batch).sum() for batch in some) / sum(batch.inputs.size for batch in some))


def steps_a_second(name: str, pool: int, rounds: int) -> float:
    """Steps of training, drawing included: a model of 2 layers and width 64 with rotary positions, on one thread. A
    round is as many steps as a pool of eight has, so that both have the same items."""
    task, found = tasks.make(name), batches_of(name, pool, (rounds + 1) * POOL)
    rows = task.width(TRAIN_SIZE)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        interface = Interface(len(task.vocabulary), task.outputs, rows=rows, trained=rows)
        model = Transformer(Architecture(2, 64, 4, position=make_position("rope")), interface)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    turns = iter(range(rounds + 1))

    def turn() -> None:
        first = next(turns) * POOL
        for step in range(first, first + POOL):
            batch = found.at(step)
            loss = loss_of(task, logits_of(model, task, batch, Seeds(step), training=True), batch)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()

    with threads(1):
        turn()
        return POOL / median_seconds(turn, rounds)


def rows(quick: bool = False) -> list[Row]:
    rounds = 3 if quick else 30
    result = []
    for name in PROBLEMS:
        speed = traces_a_second(name, rounds)
        result.append(Row(f"search traces, {name}", speed, "traces/s", least=TARGET))
    for name in PROBLEMS:
        pooled, plain = real_share(name, POOL), real_share(name, 1)
        what = f"real tokens, {name}, pool {POOL}"
        result.append(Row(what, pooled, "of 1", plain, "pool 1", ratio=pooled / plain))
    pooled, plain = (steps_a_second("subset_sum", pool, rounds) for pool in (POOL, 1))
    what = f"training, subset_sum, pool {POOL}"
    result.append(Row(what, pooled, "steps/s", plain, "pool 1", ratio=pooled / plain))
    return result


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
