"""The sparsity of attention, on rows whose numbers are known and against weights computed another way."""

import json
import math
from dataclasses import replace

import pytest
import torch

from climbing import noisy
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.transformer import Transformer
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.sparsity import Sparsity, SparsityProbe, looked_at
from lengthwise.probes.sparsity.rows import row_numbers
from lengthwise.records import Record
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import build_model
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks.task import Task


@pytest.mark.parametrize(
    "sizes, train_size, found",
    [
        (range(1, 61), 20, [20, 40, 60]),
        (range(2, 50, 2), 9, [8, 18, 26]),
        (range(3, 100), 10, [10, 20, 30]),
        ([1, 2, 3], 3, [3]),
        ([1, 30], 10, [1, 30]),
    ],
)
def test_sizes_looked_at(sizes, train_size: int, found: list[int]) -> None:
    assert looked_at(list(sizes), train_size) == found


def test_rows_with_known_numbers() -> None:
    """Uniform over three of four keys; one key alone; 1/2, 1/4, 1/4; the last query is not asked."""
    logits = torch.zeros(1, 1, 4, 4, dtype=torch.float64)
    logits[0, 0, 0, 3] = -math.inf
    weights = torch.tensor([[1 / 3] * 3 + [0], [0, 1, 0, 0], [0.5, 0.25, 0.25, 0], [0.9, 0.1, 0, 0]]).double()[
        None, None
    ]
    asked = torch.tensor([[True, True, True, False]])
    entropy, uniform, best = row_numbers(logits, weights, asked).tolist()
    assert entropy == pytest.approx([math.log(3), 0, 1.5 * math.log(2)], abs=1e-7)
    assert uniform == pytest.approx([math.log(3), math.log(4), math.log(4)])
    assert best == pytest.approx([1 / 3, 1, 0.5], abs=1e-7)


def _sort_model(attention: str = "softmax", position: str = "none") -> tuple[Transformer, object]:
    model, plan = noisy("sort:alphabet=12", position, 4, attention)
    return model, plan.task.part("test")


def rows_of(record: Record) -> list[Sparsity]:
    return [Sparsity(*row) for row in record.table("sparsity.rows").rows]  # pyright: ignore[reportArgumentType]


def sparsity_record(model: Transformer, task: Task, sizes: list[int], seed: int, items: int = 32) -> Record:
    return ask(SparsityProbe(items), OwnSubject("the model", model), Context(task, 4, tuple(sizes), seed=seed))


def measure_sparsity(model: Transformer, task: Task, sizes: list[int], seed: int, items: int = 32) -> list[Sparsity]:
    return rows_of(sparsity_record(model, task, sizes, seed, items))


def test_equals_what_the_matrices_say() -> None:
    """One size, first layer, from the model's own weights in a few lines."""
    model, task = _sort_model()
    found = measure_sparsity(model, task, [3], seed=5, items=6)[0]
    batch = task.batch(3, 5, range(6), role="test", causal=True)
    with torch.no_grad():
        x = model.blocks[0].attention_norm(model.embedding(torch.from_numpy(batch.inputs)))
        q, k, _ = model.blocks[0].attention.qkv(x).chunk(3, dim=2)
    entropies, greatest = [], []
    for item in range(6):
        for query in batch.scored[item].nonzero()[0]:
            for head in range(2):
                own = slice(12 * head, 12 * head + 12)
                p = (k[item, : query + 1, own] @ q[item, query, own] / math.sqrt(12)).softmax(dim=0).double()
                entropies.append(float(-(p * p.log()).sum()))
                greatest.append(float(p.max()))
    assert found.entropy == pytest.approx(sum(entropies) / len(entropies), abs=1e-5)
    assert found.best == pytest.approx(sum(greatest) / len(greatest), abs=1e-5)
    assert (found.size, found.layer, found.items) == (3, 1, 6)


@pytest.mark.parametrize("position", ["none", "rope", "learned+offset", "rope+randomized:limit=64"])
def test_even_attention_is_uniform_and_hard_attention_is_one_key(position: str) -> None:
    model, task = _sort_model(position=position)
    for found in measure_sparsity(model, task, [2, 4], seed=0):
        assert 0 < found.entropy < found.uniform and 0 < found.best < 1
    for block in model.blocks:
        block.attention.qkv.weight.data[: model.shape.width] = 0  # queries that ask for nothing
        block.attention.qkv.bias.data[: model.shape.width] = 0
    for found in measure_sparsity(model, task, [2, 4], seed=0):
        assert found.entropy == pytest.approx(found.uniform)
    hard, task = _sort_model("hardmax", position)
    for found in measure_sparsity(hard, task, [2, 4], seed=0):
        tied = position == "none"  # a number of the prompt and the same in the answer are then one and the same key
        assert found.best > (0.8 if tied else 0.999) and found.entropy < (0.2 if tied else 0.01)


def test_a_temperature_is_undone_by_longer_queries() -> None:
    """So what a temperature does to a model that is trained with it is a matter of training, not of what it can do."""
    model, task = _sort_model()
    usual = measure_sparsity(model, task, [4], seed=0)
    warm = build_model(plan_for("sort:alphabet=12", "none", {"depth": 2, "width": 24, "heads": 2}, train_size=4))
    warm.load_state_dict(model.state_dict())
    warm.architecture = replace(warm.architecture, attention=Softmax(4.0))
    for found, before in zip(measure_sparsity(warm, task, [4], seed=0), usual, strict=True):
        assert found.entropy > before.entropy and found.best < before.best
    for block in warm.blocks:
        block.attention.qkv.weight.data[:24] *= 4
        block.attention.qkv.bias.data[:24] *= 4
    again = measure_sparsity(warm, task, [4], seed=0)
    assert [one.entropy for one in again] == pytest.approx([one.entropy for one in usual], rel=1e-9)


def test_survives_json_and_repeats() -> None:
    model, task = _sort_model()
    found = measure_sparsity(model, task, [2, 4], seed=1, items=3)
    assert found == measure_sparsity(model, task, [2, 4], seed=1, items=3)
    assert found != measure_sparsity(model, task, [2, 4], seed=2, items=3)
    record = sparsity_record(model, task, [2, 4], 1, 3)
    assert rows_of(Record.from_plain(json.loads(json.dumps(record.plain(), allow_nan=False)))) == found
    assert [(one.size, one.layer) for one in found] == [(2, 1), (2, 2), (4, 1), (4, 2)]
    assert [claim.key for claim in record.claims] == ["sparsity.entropy", "sparsity.best"] * 2
