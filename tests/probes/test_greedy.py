"""One forward pass judges an item as greedy decoding does: by item, by the place of the first mistake, at any length.

Models are trained for a moment, so that they have some items right and others wrong: agreement on items that nobody
gets right would show nothing.
"""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.batches import logits_of, right_on
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.curve.evaluate import measure_size as measure_answers
from lengthwise.probes.curve.greedy import greedy_right
from lengthwise.probes.probe import Context, ask
from lengthwise.subjects import run as own_subjects
from lengthwise.subjects.run import NetworkAnswers, OwnSubject, measured_batches
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS
from lengthwise.tasks.task import Task
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

TRAINED, LONGEST, ITEMS = 5, 9, 60
TASKS = ["sort:alphabet=10", "copy_repeat", "parity", "addition", "binary_addition", "majority:letters=3"]
CASES = [
    ("sort:alphabet=10", "none", "softmax"),
    ("sort:alphabet=10", "learned+offset", "softmax"),
    ("copy_repeat", "learned", "softmax"),
    ("copy_repeat", "rope", "log_length"),
    ("copy_repeat", "sinusoidal:scale=0.5", "window:size=8"),
    ("parity", "none", "hardmax"),
    ("parity", "rope:scaling=dynamic", "softmax"),
    ("addition", "learned", "softmax"),
    ("addition", "alibi+randomized:limit=40", "softmax"),
    ("binary_addition", "rope:scaling=dynamic", "softmax"),
    ("binary_addition", "t5+randomized:limit=40", "log_length"),
]


def measure_size(model: Transformer, task: Task, size: int, items: int, seed: int) -> Point:
    return measure_answers(NetworkAnswers(model), task, size, items, seed)


def make(task_name: str, position: str, attention: str = "softmax", scale: float = 0.0) -> Transformer:
    task = tasks.make(task_name)
    architecture = Architecture(1, 16, 2, 2, True, attentions.make(attention), make_position(position))
    interface = Interface(len(task.vocabulary), task.outputs, task.width(LONGEST), task.width(TRAINED))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = Transformer(architecture, interface)
        for parameter in model.parameters():
            parameter.data += scale * torch.randn_like(parameter)
    return model.eval()


@functools.cache
def trained(task_name: str, position: str, attention: str = "softmax") -> Transformer:
    model = make(task_name, position, attention)
    recipe = Recipe(steps=150, batch=24, rate=1e-2, check_every=150)
    train_model(model, tasks.make(task_name), recipe, TRAINED, 0)
    return model


def judged(model: Transformer, task_name: str, size: int, items: int = ITEMS) -> tuple[np.ndarray, np.ndarray]:
    """Which items are right, by one pass and by greedy decoding."""
    task = tasks.make(task_name)
    batches = measured_batches(model, task, size, range(items), 7)
    fast = np.concatenate([right_on(model, task, batch, seeds).items.numpy() for batch, seeds in batches])
    return fast, greedy_right(model, task, size, items, 7)


@pytest.mark.parametrize(("task_name", "position", "attention"), CASES)
def test_one_pass_judges_as_greedy_decoding_does(task_name: str, position: str, attention: str) -> None:
    model, right, sizes = trained(task_name, position, attention), [], tasks.make(task_name).sizes(1, LONGEST)
    for size in sizes:
        fast, slow = judged(model, task_name, size)
        assert fast.tolist() == slow.tolist(), f"size {size}"
        assert measure_size(model, tasks.make(task_name), size, ITEMS, 7).right == fast.sum()
        right.append(fast)
    share = np.concatenate(right).mean()
    assert 0.02 < share < 0.98, "some are right and some are wrong, so the agreement says something"


def first_mistakes(hits: np.ndarray) -> list[int]:
    """The place of the first False of each row; the row's length where there is none."""
    return np.where(hits.all(axis=1), hits.shape[1], (~hits).argmax(axis=1)).tolist()


@pytest.mark.parametrize("position", ["none", "learned", "rope:scaling=dynamic", "fire", "kerple+randomized:limit=50"])
@pytest.mark.parametrize("task_name", TASKS)
@torch.no_grad()
def test_models_that_know_nothing_make_their_first_mistake_at_the_same_place(task_name: str, position: str) -> None:
    """Written tokens are compared here without the code that is tested above."""
    model, task = make(task_name, position, scale=0.4), tasks.make(task_name)
    total = 0
    for batch, seeds in measured_batches(model, task, LONGEST, range(40), 3):
        marks, (items, tokens) = torch.from_numpy(batch.scored), batch.inputs.shape
        at = model.architecture.position.indices(tokens, items, model.shape, seeds, False).expand(items, -1)
        best = torch.zeros(items, tokens, dtype=torch.long)
        best[marks] = logits_of(model, task, batch, seeds, training=False).argmax(-1)
        fast = first_mistakes(((best == torch.from_numpy(batch.targets)) | ~marks).numpy())
        for item in range(items):
            asked = np.flatnonzero(batch.scored[item])
            prompt = torch.from_numpy(batch.inputs[item : item + 1, : asked[0] + 1])
            written = model.generate(prompt, len(asked), at[item : item + 1]).numpy()[0]
            wrong = np.flatnonzero(written != batch.targets[item, asked])
            assert fast[item] == (asked[wrong[0]] if len(wrong) else tokens)
            assert batch.targets[item, asked[-1]] == EOS
            total += 1
    assert total == 40


def test_small_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long sequences are read a few at a time; greedy decoding has to take the same positions for each of them."""
    plain, task = trained("addition", "learned"), tasks.make("addition")
    whole = measure_size(plain, task, 6, ITEMS, 7)
    monkeypatch.setattr(own_subjects, "CELLS", 7 * 2 * task.width(6) ** 2)
    assert [len(batch.inputs) for batch, _ in measured_batches(plain, task, 6, range(ITEMS), 7)] == [7] * 8 + [4]
    parts = measure_size(plain, task, 6, ITEMS, 7)
    assert replace(parts, loss=0) == replace(whole, loss=0) and parts.loss == pytest.approx(whole.loss, rel=1e-5)
    shuffled = trained("binary_addition", "t5+randomized:limit=40", "log_length")
    for size in (4, 5):
        fast, slow = judged(shuffled, "binary_addition", size)
        assert fast.tolist() == slow.tolist() and fast.any() and not fast.all()


def test_a_point_is_counted_by_hand() -> None:
    task, model = tasks.make("addition"), trained("addition", "learned")
    point = measure_size(model, task, 6, ITEMS, 7)
    batch = task.batch(6, 7, range(ITEMS), role="test")
    with torch.no_grad():
        probabilities = model(torch.from_numpy(batch.inputs)).log_softmax(-1).numpy()
    hits = (probabilities.argmax(-1) == batch.targets)[batch.scored]
    losses = -np.take_along_axis(probabilities, batch.targets[..., None], axis=-1)[..., 0][batch.scored]
    assert (point.tokens, point.tokens_right) == (batch.scored.sum(), hits.sum())
    assert point.loss == pytest.approx(losses.mean(), rel=1e-5)
    assert (point.chance, point.token_chance) == (task.chance(6).exact, task.chance(6).token)


def test_numbers_are_right_within_the_tolerance() -> None:
    task = tasks.make("simple_task")
    model = make("simple_task", "none")
    train_model(model, task, Recipe(steps=80, batch=32, rate=1e-2, check_every=80), TRAINED, 0)
    batch = task.batch(4, 7, range(100), role="test")
    with torch.no_grad():
        given = model(torch.from_numpy(batch.inputs))[:, -1].numpy()
    close = np.abs(given - batch.targets)[:, 0] <= task.tolerance
    point = measure_size(model, task, 4, 100, 7)
    assert (point.right, point.tokens, point.tokens_right) == (close.sum(), 100, close.sum())
    assert 0 < point.right < 100


def test_points_are_reported_as_they_are_done() -> None:
    model, task = trained("copy_repeat", "learned"), tasks.make("copy_repeat")
    points = tuple(measure_size(model, task, size, 10, 7) for size in (1, 3))
    told: list[tuple[str, int, int]] = []
    context = Context(task, TRAINED, (3, 1), 10, 7, progress=lambda *done: told.append(done))
    record = ask(CurveProbe(generate=True), OwnSubject("the model", model), context)
    assert Curve.from_record(record).points == points and [done[1:] for done in told] == [(1, 2), (2, 2)]
    assert record.claim("curve.generated").value == 1 and record.claim("curve.generated").evidence["items"] == 20


def test_what_cannot_be_measured() -> None:
    model, task = make("copy_repeat", "none"), tasks.make("copy_repeat")
    subject = OwnSubject("the model", model)
    with pytest.raises(UsageError, match="items per size must be at least 1, not 0"):
        ask(CurveProbe(), subject, Context(task, sizes=(1,), items=0))
    with pytest.raises(UsageError, match="no items in the range of sizes asked for"):
        ask(CurveProbe(), subject, Context(task, items=5))
    with pytest.raises(UsageError, match="no items of size 0"):
        ask(CurveProbe(), subject, Context(task, sizes=(0,), items=5))
    model.output.weight.data[0, 0] = math.nan
    with pytest.raises(LengthwiseError, match="the loss is nan at size 3"):
        measure_size(model, task, 3, 5, 0)


def test_greedy_decoding_needs_a_decoder_that_writes() -> None:
    for task_name, causal in (("dyck_1", True), ("copy_repeat", False)):
        task = tasks.make(task_name)
        model = Transformer(Architecture(causal=causal), Interface(len(task.vocabulary), task.outputs, 9, 9))
        with pytest.raises(UsageError, match="needs a decoder and a task whose answer is written token by token"):
            greedy_right(model, task, 2, 3, 0)
