"""Seconds of a training step of every model, next to a Transformer with as many parameters, on parity at size 40.

A step is timed in processor time on one thread, by turns, as the difference between a long and a short training. The
Transformer computes its last layer at answers only, and parity asks for two tokens, so it does little more than half of
the work that the others do.

The delta rule is also compared with the references in plain torch of `flash-linear-attention`, where that package is
found (`make bench` installs fla-core without its dependencies): the same numbers in, forwards and backwards. The
package itself needs Triton when it is imported, so the one file is loaded by its path.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rows import Row, standalone
from torch import Tensor
from torch.nn.functional import logsigmoid, normalize

from lengthwise.errors import LengthwiseError
from lengthwise.models.linear import read_delta
from lengthwise.models.named import models
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import build_model
from lengthwise.training.loop import train_model

SIZE, BATCH, SHORT = 40, 64, 2
TRANSFORMER = "transformer:depth=2,width=64"
MODELS = {  # the most that a step may take, in steps of the Transformer; no limit for what loops as often as it reads
    "lstm:depth=2": 2.0,
    "gru:depth=2": 2.0,
    "ssm:depth=2": 4.0,
    "ssm:depth=2,negative=true": 4.0,
    "delta:depth=2": 4.0,
    "delta:depth=2,negative=true,gate=true": 5.0,
    "delta:depth=2,order=2,negative=true": 6.0,
    "looped:depth=2,loops=4": None,
    "looped:depth=2": None,
}
REFERENCE = "ops/gated_delta_rule/naive.py"


def planned(spec: str, steps: int) -> Plan:
    training = {"steps": steps, "batch": BATCH, "sizes": "fixed", "check_every": 10_000}
    return plan_for("parity", settings={"model": spec, **training}, train_size=SIZE, test_size=SIZE)


def parameters(spec: str) -> int:
    return sum(one.numel() for one in build_model(planned(spec, 1)).parameters())


def of_equal_size(spec: str, wanted: int) -> str:
    """The spec with the width, a multiple of 4, whose number of parameters is nearest."""
    return min((f"{spec},width={width}" for width in range(32, 132, 4)), key=lambda one: abs(parameters(one) - wanted))


def seconds(spec: str, steps: int) -> float:
    """Of one step."""

    def whole(count: int) -> float:
        plan = planned(spec, count)
        model, began = build_model(plan), time.process_time()
        train_model(model, plan.task, plan.recipe, SIZE, 0)
        return time.process_time() - began

    return (whole(SHORT + steps) - whole(SHORT)) / steps


def training_rows(quick: bool) -> list[Row]:
    wanted, steps, repetitions = parameters(TRANSFORMER), 2 if quick else 10, 1 if quick else 3
    specs = {TRANSFORMER: TRANSFORMER, **{one: of_equal_size(one, wanted) for one in MODELS}}
    found: dict[str, list[float]] = {one: [] for one in specs}
    seconds(TRANSFORMER, 1)  # what torch does once
    for _ in range(repetitions):
        for one, spec in specs.items():
            found[one].append(seconds(spec, steps))
    median = {one: 1000 * statistics.median(times) for one, times in found.items()}
    peer, result = median[TRANSFORMER], []
    for one, most in MODELS.items():
        what = f"step of {models.text_of(models.make(specs[one]))}"
        result.append(Row(what, median[one], "ms", peer, "Transformer", median[one] / peer, most=most))
    return result


def reference() -> Any:
    """The references of flash-linear-attention, or None where it is not installed."""
    found = importlib.util.find_spec("fla")
    if found is None or not found.submodule_search_locations or importlib.util.find_spec("einops") is None:
        return None
    path = Path(found.submodule_search_locations[0], REFERENCE)
    spec = importlib.util.spec_from_file_location("fla_reference", path) if path.is_file() else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference_rows(quick: bool) -> list[Row]:
    theirs = reference()
    if theirs is None:
        print("flash-linear-attention is not installed: the delta rule is not compared with it", file=sys.stderr)
        return []
    torch.manual_seed(0)
    shape = (8 if quick else 64, 4, 128, 16)
    q, k, v = (normalize(torch.randn(shape), dim=-1).requires_grad_() for _ in range(3))
    beta, decay = 2 * torch.rand(shape[:3]), logsigmoid(torch.randn(shape[:3]) + 3)
    swapped = [one.transpose(1, 2) for one in (q, k, v, beta, decay)]  # tokens before heads

    def ours() -> Tensor:
        return read_delta(q, k[..., None, :], v[..., None, :], beta[..., None], decay, None)[0]

    def its_chunks() -> Tensor:
        q, k, v, beta, decay = swapped
        return theirs.naive_chunk_gated_delta_rule(q, k, v, decay, beta, scale=1.0)[0].transpose(1, 2)

    def its_recurrence() -> Tensor:
        return theirs.naive_recurrent_gated_delta_rule(*swapped, scale=1.0)[0].transpose(1, 2)

    contestants: dict[str, Callable[[], Tensor]] = {"ours": ours, "chunks": its_chunks, "recurrence": its_recurrence}
    wanted, times = ours().detach(), {name: [] for name in contestants}
    for _ in range(1 if quick else 3):
        for name, read in contestants.items():
            began = time.process_time()
            outputs = read()
            outputs.sum().backward()
            times[name].append(time.process_time() - began)
            if not torch.allclose(outputs, wanted, atol=1e-4):
                raise LengthwiseError(f"the delta rule differs from the {name} of flash-linear-attention")
    own, *others = (1000 * statistics.median(found) for found in times.values())
    names = [f"flash-linear-attention, {name}" for name in list(contestants)[1:]]
    what = "delta rule, forwards and backwards"
    return [Row(what, own, "ms", peer, name, peer / own, least=1.0) for name, peer in zip(names, others, strict=True)]


def rows(quick: bool = False) -> list[Row]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [*training_rows(quick), *reference_rows(quick)]
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
