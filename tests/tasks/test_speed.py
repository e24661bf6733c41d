"""Sampling keeps ahead of training: a simple task draws millions of tokens a second."""

from __future__ import annotations

import time

import pytest

from lengthwise.tasks import tasks
from pace import slowness

SIZE, ITEMS = 20, 64
FLOOR = 0.5e6  # tokens a second where the machine is as fast as the reference; an idle one reaches several times that
SIMPLE = ["binary_majority", "majority", "copy_repeat", "copy_unique", "parity", "sort"]


@pytest.mark.parametrize("name", SIMPLE)
def test_tokens_a_second(name: str) -> None:
    speed = tokens_a_second(name)
    print(f"{name}: {speed / 1e6:.2f} million tokens a second")
    assert speed * slowness() >= FLOOR


def tokens_a_second(name: str, rounds: int = 40) -> float:
    """The median batch counts, so that a pause of the machine does not."""
    task = tasks.make(name)
    seconds, tokens = [], 0
    for step in range(rounds):
        start = time.perf_counter()
        batch = task.batch(SIZE, 0, range(step * ITEMS, (step + 1) * ITEMS))
        seconds.append(time.perf_counter() - start)
        tokens = batch.inputs.size
    return tokens / sorted(seconds)[rounds // 2]
