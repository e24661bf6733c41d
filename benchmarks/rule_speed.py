"""What each attention rule costs in training, against softmax: one step of a Transformer with two layers.

A step is forward, backward and the optimiser, on 32 sequences. Ours is the rule, the peer our softmax, which uses
torch's fused kernel; a ratio says how many times slower the rule is. The rules take turns, so that a change of the
machine's load meets all alike.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

import torch
from rows import Row, median_seconds, standalone

from lengthwise.models.attention import attentions
from lengthwise.models.transformer import Architecture, Interface, Transformer

BATCH, SYMBOLS = 32, 64
SLOW = ("sinkhorn",)  # minutes for long sequences; sinkhorn_speed.py has its times


def step_of(rule: str, tokens: int) -> Callable[[], None]:
    """A training step on the same random sequences."""
    torch.manual_seed(0)
    model = Transformer(Architecture(attention=attentions.make(rule)), Interface(SYMBOLS, SYMBOLS, tokens, tokens))
    optimiser = torch.optim.AdamW(model.parameters(), fused=True)
    inputs = torch.randint(SYMBOLS, (BATCH, tokens))

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), inputs.flatten()).backward()
        optimiser.step()

    return step


def rows(quick: bool = False) -> list[Row]:
    rules = [name for name in attentions.names() if name not in (*SLOW, "softmax")]
    table = []
    for tokens, repetitions in ((32, 2),) if quick else ((66, 9), (130, 5)):
        steps = {rule: step_of(rule, tokens) for rule in ("softmax", *rules)}
        seconds: dict[str, list[float]] = {rule: [] for rule in steps}
        for step in steps.values():
            step()
        for _ in range(repetitions):
            for rule, step in steps.items():
                seconds[rule].append(median_seconds(step, 1))
        times = {rule: 1e3 * statistics.median(values) for rule, values in seconds.items()}
        peer = times["softmax"]
        for rule in rules:
            what = f"training step, {rule}, {tokens} tokens"
            table.append(Row(what, times[rule], "ms", peer, "softmax", times[rule] / peer))
    return table


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
