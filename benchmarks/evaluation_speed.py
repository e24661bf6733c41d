"""Exact match on 200 items: our one pass that is fed the true answer, against `generate` of `transformers`.

Both are asked of one and the same function: the weights of a model of ours are copied into a GPT-2 of equal
architecture, and the benchmark ends with an error unless both ways give the same verdict on every item. `generate`
decodes greedily with its cache; the items are made before its clock starts, while ours makes them, and estimates what
guessing scores, inside. The target stands on both ways to call it at the largest size: on all prompts in one batch, and
on one prompt at a time. In one batch it does the same arithmetic as our pass, step by step, and the ratio is what its
steps cost beyond that.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from peers import ALPHABET, DEPTH, HEADS, TEST_SIZE, WIDTH, gpt2
from rows import Row, median_seconds, need, standalone
from torch import Tensor

from lengthwise.errors import LengthwiseError
from lengthwise.models.batches import right_on
from lengthwise.models.transformer import Architecture, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.curve.evaluate import measure_size
from lengthwise.probes.curve.greedy import greedy_right
from lengthwise.runs.environment import threads
from lengthwise.runs.plan import Plan
from lengthwise.runs.run import build_model
from lengthwise.subjects.run import NetworkAnswers
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

TARGET = 30.0
SHORT = 4  # a size at which the briefly trained model has some items right and some wrong
SEED = 0
TASK = f"sort:alphabet={ALPHABET}"


def trained(steps: int) -> Transformer:
    """A model of ours that sorts a few numbers, sometimes rightly."""
    task = tasks.make(TASK)
    architecture = Architecture(DEPTH, WIDTH, HEADS, position=make_position("learned+offset"))
    plan = Plan(task, architecture, Recipe(steps=steps), train_size=2 * SHORT, test_size=TEST_SIZE, seed=SEED)
    model = build_model(plan)
    with threads(1):  # faster so, and not what is measured here
        train_model(model, task, plan.recipe, plan.train_size, SEED)
    return model


@torch.no_grad()
def as_gpt2(model: Transformer) -> Any:
    """The same function as a GPT-2: ReLU, a separate output matrix, and our weights."""
    twin = gpt2(activation_function="relu", tie_word_embeddings=False, n_positions=model.shape.rows).eval()
    twin.load_state_dict(_renamed(model.state_dict()))
    tokens = torch.from_numpy(tasks.make(TASK).batch(20, SEED, range(8)).inputs)
    apart = float((twin(tokens).logits - model(tokens)).abs().max())
    if apart > 1e-4:
        raise LengthwiseError(f"the copy in GPT-2 is not the same function: logits differ by {apart:.2g}")
    return twin


def _renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under GPT-2's names; it keeps the matrices of its layers the other way round."""
    outer = {"embedding": "transformer.wte", "norm": "transformer.ln_f", "output": "lm_head"}
    inner = {
        "attention_norm": "ln_1",
        "attention.qkv": "attn.c_attn",
        "attention.out": "attn.c_proj",
        "mlp_norm": "ln_2",
        "mlp.0": "mlp.c_fc",
        "mlp.2": "mlp.c_proj",
    }
    renamed = {"transformer.wpe.weight": weights["encoder.table"]}
    for name, weight in weights.items():
        module, _, kind = name.rpartition(".")
        if module in outer:
            renamed[f"{outer[module]}.{kind}"] = weight
        elif module.startswith("blocks."):
            _, layer, part = module.split(".", 2)
            renamed[f"transformer.h.{layer}.{inner[part]}.{kind}"] = weight.T if weight.dim() == 2 else weight
    return renamed


def generated(twin: Any, prompts: Tensor, steps: int, stop: bool) -> Tensor:
    """What `generate` writes: `steps` tokens, or fewer where it may stop once every item has its <eos>."""
    return twin.generate(
        prompts,
        attention_mask=torch.ones_like(prompts),
        max_new_tokens=steps,
        do_sample=False,
        use_cache=True,
        eos_token_id=EOS if stop else None,
    )[:, prompts.shape[1] :]


def verdicts(written: Tensor, answers: np.ndarray) -> np.ndarray:
    """Which items are written exactly, bool [items]; what was not written is wrong."""
    whole = np.full(answers.shape, -1)
    whole[:, : written.shape[1]] = written.numpy()
    return (whole == answers).all(axis=1)


def check_verdicts(model: Transformer, twin: Any, size: int, items: int) -> int:
    """How many items are right; an error unless the one pass and `generate` agree on each of them."""
    task = tasks.make(TASK)
    batch = task.batch(size, SEED, range(items), role="test")
    ours = right_on(model, task, batch).items.numpy()
    prompts, answers = torch.from_numpy(batch.inputs[:, : size + 2]), batch.targets[:, size + 1 :]
    for stop in (False, True):
        if not np.array_equal(ours, verdicts(generated(twin, prompts, size + 1, stop), answers)):
            raise LengthwiseError(f"at size {size} one pass and generate differ on an item")
    if measure_size(NetworkAnswers(model), task, size, items, SEED).right != ours.sum():
        raise LengthwiseError(f"at size {size} measure_size and the verdicts differ")
    return int(ours.sum())


def rows(quick: bool = False) -> list[Row]:
    need("transformers")
    items, repetitions = (20, 1) if quick else (200, 3)
    model = trained(steps=300)
    twin = as_gpt2(model)
    right = check_verdicts(model, twin, SHORT, items)
    if not 0 < right < items:
        raise LengthwiseError(f"{right} of {items} items are right: agreement would show nothing")
    result, task = [], tasks.make(TASK)
    for size in (20, 40, TEST_SIZE):
        check_verdicts(model, twin, size, items)
        prompts = torch.from_numpy(task.batch(size, SEED, range(items), role="test").inputs[:, : size + 2])

        def ours(size: int = size) -> object:
            return measure_size(NetworkAnswers(model), task, size, items, SEED)

        def theirs(prompts: Tensor = prompts, size: int = size, stop: bool = False) -> object:
            return generated(twin, prompts, size + 1, stop)

        mine, peer = median_seconds(ours, repetitions), median_seconds(theirs, repetitions)
        target = TARGET if size == TEST_SIZE else None
        name = "GPT-2 generate, one batch"
        result.append(Row(f"evaluation, size {size}", mine, "s", peer, name, peer / mine, least=target))
    stopped = median_seconds(lambda: theirs(stop=True), repetitions)
    few = max(1, items // 20)
    alone = median_seconds(lambda: [theirs(prompts[i : i + 1]) for i in range(few)], 1) * items / few
    cached = median_seconds(lambda: greedy_right(model, task, TEST_SIZE, items, SEED), repetitions)
    for name, seconds, target in (
        ("GPT-2 generate, one batch, may stop at <eos>", stopped, None),
        (f"GPT-2 generate, item by item, from {few}", alone, TARGET),
        ("our greedy decoding", cached, None),
    ):
        result.append(Row(f"evaluation, size {TEST_SIZE}", mine, "s", seconds, name, seconds / mine, least=target))
    return result


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
