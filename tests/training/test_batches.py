"""Which items make up a batch: as ever without a pool, each item once with one, and the same after an interruption."""

from __future__ import annotations

import collections
import itertools
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lengthwise.errors import Interrupted, UsageError
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.runs.environment import threads
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import PAD, Batch, lengths_of, trimmed
from lengthwise.training import loop
from lengthwise.training.batches import Batches
from lengthwise.training.lengths import Increasing, LongFirst, SizeSchedule
from lengthwise.training.recipe import Recipe

TASK = tasks.make("subset_sum")
SIZES = [2, 3]
RECIPE = Recipe(steps=10, batch=6, pool=4, check_every=5)
SEED = 9


def batches(recipe: Recipe = RECIPE, seed: int = SEED) -> Batches:
    return Batches(TASK, recipe, SIZES, seed, causal=True)


def same(one: Batch, two: Batch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ("inputs", "targets", "scored"))


def rows(batch: Batch) -> list[tuple[bytes, bytes]]:
    """What is read and what is asked for in each row, without what fills it up."""
    ends = lengths_of(batch)
    return [
        (inputs[:end].tobytes(), np.where(scored[:end], targets[:end], PAD).tobytes())
        for inputs, targets, scored, end in zip(batch.inputs, batch.targets, batch.scored, ends, strict=True)
    ]


# --- without a pool ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [LongFirst(0.7), Increasing(0.5)])
def test_without_a_pool_a_batch_has_one_size_and_the_next_items(sizes: SizeSchedule) -> None:
    """The rule that runs without pools were trained by, written out."""
    task = tasks.make("copy_repeat")
    recipe = Recipe(steps=40, batch=5, sizes=sizes)
    found = Batches(task, recipe, [1, 2, 3, 4, 5], SEED, causal=True)
    for step in range(40):
        uniform = float(Seeds(SEED).draws("size", items=[step]).uniform(1)[0, 0])
        size = sizes.draw([1, 2, 3, 4, 5], step / 40, uniform)
        assert same(found.at(step), task.batch(size, SEED, range(step * 5, step * 5 + 5)))


# --- with a pool ------------------------------------------------------------------------------------------------------


def test_every_item_of_a_pool_comes_exactly_once() -> None:
    """Each has the size that is drawn for it, and reads as it does when drawn alone."""
    per_pool = RECIPE.pool * RECIPE.batch
    for pool in (0, 1):
        seen = collections.Counter()
        steps = range(pool * RECIPE.pool, (pool + 1) * RECIPE.pool)
        for step in steps:
            seen.update(rows(batches().at(step)))
        alone = collections.Counter()
        for item in range(pool * per_pool, (pool + 1) * per_pool):
            uniform = float(Seeds(SEED).draws("size", items=[item]).uniform(1)[0, 0])
            size = RECIPE.sizes.draw(SIZES, 0.0, uniform)
            alone.update(rows(TASK.batch(size, SEED, [item])))
        assert seen == alone and seen.total() == per_pool


def test_a_batch_is_a_function_of_seed_and_step() -> None:
    """Whichever step is asked for first, and however often."""
    straight = [batches().at(step) for step in range(12)]
    jumping = batches()
    for step in (11, 0, 5, 5, 4, 10, 3, 7, 0):
        assert same(jumping.at(step), straight[step])
    others = [batches(seed=SEED + 1).at(step) for step in range(12)]
    assert not any(same(one, two) for one, two in zip(straight, others, strict=True))


def test_a_pool_is_sorted_and_its_batches_are_shuffled() -> None:
    """Batches of a pool do not overlap in length; each is as wide as its longest row; their order is not that of
    lengths in every pool."""
    recipe = replace(RECIPE, steps=80, batch=16, pool=8)
    found, orders = batches(recipe), []
    for pool in range(4):
        spans = []
        for step in range(pool * 8, pool * 8 + 8):
            batch = found.at(step)
            lengths = lengths_of(batch)
            assert batch.inputs.shape == (16, lengths.max())
            spans.append((int(lengths.min()), int(lengths.max())))
        ordered = sorted(spans)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(ordered))
        orders.append([ordered.index(span) for span in spans])
    assert len({tuple(order) for order in orders}) > 1 and any(order != sorted(order) for order in orders)


def test_a_pool_is_worth_its_while() -> None:
    """Of the tokens that are computed, many more are real."""

    def real(recipe: Recipe) -> float:
        found = batches(recipe)
        some = [found.at(step) for step in range(16)]
        return sum(lengths_of(batch).sum() for batch in some) / sum(batch.inputs.size for batch in some)

    plain = Recipe(steps=16, batch=32)
    assert real(replace(plain, pool=8)) > 0.85 > real(plain) + 0.1


def test_the_last_pool_may_reach_beyond_the_last_step() -> None:
    """Its items count as drawn at the end of training."""
    progress: list[float] = []

    class Noted(SizeSchedule):
        def draw(self, sizes, progress_, uniform):
            progress.append(progress_)
            return sizes[-1]

    found = Batches(TASK, replace(RECIPE, sizes=Noted()), SIZES, SEED, causal=True)
    found.at(RECIPE.steps - 1)
    assert len(progress) == RECIPE.pool * RECIPE.batch and max(progress) == 1.0
    assert min(progress) == pytest.approx(8 / 10)


@pytest.mark.parametrize(
    ("spec", "causal", "said"),
    [("simple_task", True, "answers that are numbers"), ("sort", False, "a model that is not causal")],
)
def test_what_a_pool_cannot_mix_is_refused(spec: str, causal: bool, said: str) -> None:
    task = tasks.make(spec)
    with pytest.raises(UsageError, match=rf"^a pool mixes items of different widths, which {said} cannot have"):
        Batches(task, RECIPE, [3, 4], SEED, causal)
    assert Batches(task, replace(RECIPE, pool=1), [3, 4], SEED, causal).at(0).inputs.shape[0] == RECIPE.batch


def test_tags_can_be_pooled() -> None:
    task = tasks.make("regular:expression=(ab)*")
    found = Batches(task, RECIPE, [2, 4, 6], SEED, causal=True)
    seen = collections.Counter(row for step in range(RECIPE.pool) for row in rows(found.at(step)))
    assert seen.total() == RECIPE.pool * RECIPE.batch and len(seen) > 1


def test_trimmed_by_hand() -> None:
    inputs = np.array([[1, 7, 2, 8, 0, 0], [1, 7, 2, 8, 9, 0]])
    targets = np.array([[7, 2, 8, 3, 0, 0], [7, 2, 8, 9, 3, 0]])
    scored = np.array([[0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]], dtype=bool)
    found = trimmed(Batch(inputs, targets, scored))
    assert found.inputs.tolist() == inputs[:, :5].tolist() and found.targets.tolist() == targets[:, :5].tolist()
    assert found.scored.tolist() == scored[:, :5].tolist() and lengths_of(found).tolist() == [4, 5]
    assert same(trimmed(found), found), "there is nothing left to cut"


# --- training with a pool ---------------------------------------------------------------------------------------------


def trained(checkpoint: Path | None = None) -> tuple[list[torch.Tensor], loop.History]:
    architecture = Architecture(1, 16, 2, position=make_position("learned+offset"))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        rows_ = TASK.width(3)
        model = Transformer(architecture, Interface(len(TASK.vocabulary), TASK.outputs, rows=rows_, trained=rows_))
    with threads(1):
        history = loop.train_model(model, TASK, RECIPE, 3, SEED, checkpoint)
    return list(model.state_dict().values()), history


@pytest.mark.parametrize("steps", [[4], [5], [2, 7], [9]])
def test_interrupted_in_the_middle_of_a_pool(steps: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps are ten steps, also with pauses in the middle of a pool and at its end."""
    straight = trained()
    real = loop._step
    for stop in steps:

        def watched(*arguments, stop=stop) -> None:
            real(*arguments)
            if arguments[-1].step == stop:
                os.kill(os.getpid(), signal.SIGINT)

        with monkeypatch.context() as patch:
            patch.setattr(loop, "_step", watched)
            with pytest.raises(Interrupted, match=f"^stopped at step {stop} of 10"):
                trained(tmp_path / "checkpoint")
    weights, history = trained(tmp_path / "checkpoint")
    assert all(one.equal(two) for one, two in zip(weights, straight[0], strict=True))
    assert replace(history, seconds=0.0) == replace(straight[1], seconds=0.0)
