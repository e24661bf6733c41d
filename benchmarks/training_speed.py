"""Training examples per second, ours and two peers', on sorting at sizes 1 to 20.

Ours are two runs side by side with one thread each, as a study starts them. A peer is measured alone and two side by
side, both with the threads torch gives it, and the better of the two counts. Two side by side with one thread each are
shown too: the part of the ratio that is left when a peer's user has found the same setting.

Part of our speed is that a batch holds items of one size, so that nothing is padded; a peer's batch is as wide as its
longest item. The items seen are the same in number and in distribution.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np
import torch
from peers import (
    ALPHABET,
    BATCH,
    DEPTH,
    HEADS,
    TEST_SIZE,
    TRAIN_SIZE,
    WARM,
    WIDTH,
    Trainer,
    gpt2_trainer,
    x_transformers_trainer,
)
from rows import Row, need, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.models.transformer import Architecture
from lengthwise.positions import make_position
from lengthwise.runs.plan import Plan
from lengthwise.runs.run import build_model
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

TARGET = 3.0


def our_trainer() -> Trainer:
    """Our loop as `lengthwise train` runs it, its checks of the training range included."""
    task = tasks.make(f"sort:alphabet={ALPHABET}")
    architecture = Architecture(DEPTH, WIDTH, HEADS, position=make_position("learned+offset"))

    def train(steps: int, start: Callable[[], object]) -> float:
        seed = _balanced_seed(steps)
        plan = Plan(task, architecture, Recipe(steps=steps, batch=BATCH), TRAIN_SIZE, TEST_SIZE, seed=seed)
        train_model(build_model(plan), task, dataclasses.replace(plan.recipe, steps=WARM), TRAIN_SIZE, seed)
        model = build_model(plan)
        start()
        began = time.perf_counter()
        train_model(model, task, plan.recipe, TRAIN_SIZE, seed)
        return time.perf_counter() - began

    return train


def _balanced_seed(steps: int) -> int:
    """A seed whose steps draw sizes that average to the middle of the range: few steps may be lucky otherwise."""
    middle = (1 + TRAIN_SIZE) / 2
    for seed in range(10_000):
        sizes = 1 + np.floor(TRAIN_SIZE * Seeds(seed).draws("size", items=range(steps)).uniform(1))
        if abs(sizes.mean() - middle) <= 0.01 * middle:
            return seed
    raise LengthwiseError(f"no seed draws balanced sizes in {steps} steps")


CONTESTANTS: dict[str, Callable[[], Trainer]] = {
    "lengthwise": our_trainer,
    "GPT-2, Trainer": gpt2_trainer,
    "x-transformers": x_transformers_trainer,
}


@dataclass(frozen=True)
class Order:
    """What a worker is told: how many steps, with how many threads (None: torch's default), beside another or alone."""

    steps: int
    threads: int | None
    together: bool


def work(name: str, connection: Connection, barrier: Barrier) -> None:
    """A process that trains whenever it is told to, and answers with the seconds it took; None ends it."""
    usual = torch.get_num_threads()
    trainer = CONTESTANTS[name]()
    connection.send(0.0)
    while (order := connection.recv()) is not None:
        torch.set_num_threads(order.threads or usual)
        connection.send(trainer(order.steps, barrier.wait if order.together else lambda: None))


class Pair:
    """Two processes of one contestant, kept for the whole benchmark so that starting them is not measured."""

    def __init__(self, name: str) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self.name, barrier = name, context.Barrier(2)
        pipes = [context.Pipe() for _ in range(2)]
        self.ends: list[Connection] = [near for near, _ in pipes]
        for _, far in pipes:
            context.Process(target=work, args=(name, far, barrier), daemon=True).start()
            far.close()  # so that a worker that dies is noticed
        for end in self.ends:  # both have loaded what they need
            self._answer(end)

    def examples_a_second(self, steps: int, threads: int | None, runs: int) -> float:
        """All the runs together, from a common start to the end of the last."""
        for end in self.ends[:runs]:
            end.send(Order(steps, threads, together=runs == 2))
        return runs * steps * BATCH / max(self._answer(end) for end in self.ends[:runs])

    def close(self) -> None:
        for end in self.ends:
            end.send(None)

    def _answer(self, end: Connection) -> float:
        try:
            return end.recv()
        except EOFError:
            raise LengthwiseError(f"a process of {self.name} ended early; its message is above") from None


SETTINGS = {"alone": (None, 1), "two": (None, 2), "two, one thread each": (1, 2)}


def rows(quick: bool = False) -> list[Row]:
    need("transformers", "accelerate", "x_transformers")
    steps, repetitions = (10, 1) if quick else (40, 3)
    pairs = {name: Pair(name) for name in CONTESTANTS}
    speeds: dict[tuple[str, str], list[float]] = {}
    for _ in range(repetitions):  # by turns, so that a change of the machine's load meets all alike
        for name, pair in pairs.items():
            for setting, (threads, runs) in SETTINGS.items():
                if name != "lengthwise" or threads == 1:
                    speeds.setdefault((name, setting), []).append(pair.examples_a_second(steps, threads, runs))
    for pair in pairs.values():
        pair.close()
    median = {key: statistics.median(values) for key, values in speeds.items()}
    ours = median["lengthwise", "two, one thread each"]
    result = []
    for name in list(CONTESTANTS)[1:]:
        best = max(("alone", "two"), key=lambda setting: median[name, setting])
        for setting in SETTINGS:
            peer = median[name, setting]
            target = TARGET if setting == best else None
            result.append(Row(f"training, {setting}", ours, "examples/s", peer, name, ours / peer, least=target))
    return result


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
