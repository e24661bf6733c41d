"""Training: that it learns, that an interruption of any kind changes nothing, and that it says how it ended."""

import itertools
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import Interrupted, LengthwiseError, UsageError
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.runs.environment import threads
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task
from lengthwise.training import loop
from lengthwise.training.lengths import LongFirst
from lengthwise.training.loop import History, save_checkpoint, train_model
from lengthwise.training.recipe import Decay, Recipe

TASK = tasks.make("copy_repeat")
RECIPE = Recipe(steps=30, batch=8, check_every=7, sizes=LongFirst(0.7))


def fresh(task: Task = TASK, position: str = "learned+offset") -> Transformer:
    architecture = Architecture(1, 16, 2, position=make_position(position))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return Transformer(architecture, Interface(len(task.vocabulary), task.outputs, rows=20, trained=12))


def trained(checkpoint: Path | None = None, recipe: Recipe = RECIPE) -> tuple[Transformer, History]:
    model = fresh()
    with threads(1):
        return model, train_model(model, TASK, recipe, 4, 9, checkpoint)


@pytest.fixture(scope="module")
def straight() -> tuple[Transformer, History]:
    return trained()


def same(one: tuple[Transformer, History], two: tuple[Transformer, History]) -> None:
    """Bit for bit the same weights, and the same history but for the clock."""
    for (name, value), other in zip(one[0].state_dict().items(), two[0].state_dict().values(), strict=True):
        assert value.equal(other), name
    assert replace(one[1], seconds=0.0) == replace(two[1], seconds=0.0)


def at_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], None]) -> None:
    """Have something happen once, in the middle of a step."""
    real, waiting = loop._step, [step]

    def watched(*arguments: object) -> None:
        real(*arguments)  # pyright: ignore[reportArgumentType]
        history = arguments[-1]
        assert isinstance(history, History)
        if waiting and history.step == waiting[0]:
            waiting.pop()
            act()

    monkeypatch.setattr(loop, "_step", watched)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


# --- it learns ------------------------------------------------------------------------------------------------------


def test_the_loss_falls_and_the_items_come_right() -> None:
    task = tasks.make("majority:letters=3")
    model = fresh(task, "none")
    history = train_model(model, task, Recipe(steps=120, batch=32, check_every=20, rate=5e-3), 3, 0)
    assert history.losses[0][1] > 1 > 0.4 > history.losses[-1][1]
    assert history.checks[-1][1] >= 0.9
    assert not model.training


def test_the_history_is_that_of_the_steps(straight: tuple[Transformer, History]) -> None:
    history = straight[1]
    assert [step for step, _ in history.losses] == [7, 14, 21, 28, 30] == [step for step, _ in history.checks]
    assert (history.step, history.recent, history.ended) == (30, [], "all steps done")
    assert history.seconds > 0
    assert all(0 <= share <= 1 for _, share in history.checks)


def test_numbers_are_trained_by_squared_error() -> None:
    task = tasks.make("simple_task")
    history = train_model(fresh(task, "none"), task, Recipe(steps=60, batch=32, check_every=20, rate=5e-3), 4, 0)
    assert history.losses[-1][1] < 0.5 * history.losses[0][1]


# --- interruptions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 7, 12, 29, 30])
def test_interrupted_and_resumed(
    step: int, straight: tuple[Transformer, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    at_step(monkeypatch, step, interrupt)
    with pytest.raises(Interrupted, match=f"^stopped at step {step} of 30; run the same command again to resume$"):
        trained(tmp_path / "checkpoint")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]
    same(trained(tmp_path / "checkpoint"), straight)


def test_interrupted_many_times(
    straight: tuple[Transformer, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step, act in ((4, interrupt), (5, lambda: os.kill(os.getpid(), signal.SIGTERM)), (22, interrupt)):
        with monkeypatch.context() as patch:
            at_step(patch, step, act)
            with pytest.raises(Interrupted, match=f"step {step} "):
                trained(tmp_path / "checkpoint")
    same(trained(tmp_path / "checkpoint"), straight)


def test_a_second_interruption_stops_at_once_and_the_last_checkpoint_counts(
    straight: tuple[Transformer, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
        at_step(patch, 11, lambda: (interrupt(), interrupt(), pytest.fail("the second one was not heard"))[0])
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "checkpoint")
    same(trained(tmp_path / "checkpoint"), straight)


def test_without_a_checkpoint_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(monkeypatch, 3, interrupt)
    with pytest.raises(Interrupted, match="nothing was kept, as it has no folder"):
        trained()


def test_training_in_another_thread_works(straight: tuple[Transformer, History]) -> None:
    results: list[tuple[Transformer, History]] = []
    worker = threading.Thread(target=lambda: results.append(trained()))
    worker.start()
    worker.join()
    same(results[0], straight)


KILLED = """
import importlib.util, os, signal, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("test_loop", {file!r})
here = importlib.util.module_from_spec(spec)
sys.modules["test_loop"] = here
spec.loader.exec_module(here)
from lengthwise.training import loop
loop.CHECKPOINT_SECONDS = -1.0
saves, real = [], loop.save_file
def save(tensors, path, metadata):
    saves.append(path)
    if len(saves) == {saves}:
        Path(path).write_bytes(b"half a checkpoint")
        os.kill(os.getpid(), signal.SIGKILL)
    real(tensors, path, metadata)
loop.save_file = save
here.trained(Path({checkpoint!r}))
"""


@pytest.mark.system
def test_killed_while_writing_a_checkpoint(straight: tuple[Transformer, History], tmp_path: Path) -> None:
    """SIGKILL leaves no time for anything: the checkpoint before the one being written is whole."""
    checkpoint = tmp_path / "checkpoint"
    script = KILLED.format(file=__file__, saves=18, checkpoint=str(checkpoint))
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        at_step(patch, 18, lambda: seen.append(18))
        same(trained(checkpoint), straight)
    assert seen == [18], "it went on from step 17"


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    model = fresh()
    save_checkpoint(path, model, loop._optimiser(model, RECIPE), vars(History(step=5)))
    whole = path.read_bytes()
    for content in (b"", b"nonsense", whole[:40], whole[:-5]):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"cannot be read .*; delete it to train from the start$"):
            trained(path)
    other = fresh(position="none")
    save_checkpoint(path, other, loop._optimiser(other, RECIPE), vars(History(step=5)))
    with pytest.raises(UsageError, match="cannot be read"):
        trained(path)


def test_a_checkpoint_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(UsageError, match=r"^cannot write to "):
        trained(tmp_path / "file" / "checkpoint")


# --- early stop -----------------------------------------------------------------------------------------------------


def test_early_stop_only_when_asked() -> None:
    recipe = Recipe(steps=100, batch=32, check_every=10, rate=1e-2)
    results = {}
    for stop_at in (None, 1.0):
        model = fresh(position="none")
        results[stop_at] = train_model(model, TASK, replace(recipe, stop_at=stop_at), 1, 0)
    assert results[None].ended == "all steps done" and results[None].step == 100
    stopped = results[1.0]
    assert stopped.step < 100
    assert stopped.ended == (
        f"stopped early at step {stopped.step}: 100.0% of in-range items right at two checks in a row"
    )
    assert [share for _, share in stopped.checks[-2:]] == [1.0, 1.0]
    pairs = list(itertools.pairwise(stopped.checks))
    assert not any(one[1] == two[1] == 1.0 for one, two in pairs[:-1]), "it stopped at the first chance"
    assert stopped.checks == results[None].checks[: len(stopped.checks)], "asking for it changes nothing before it"


def test_a_stop_at_the_last_step_is_not_early() -> None:
    recipe = Recipe(steps=100, batch=32, check_every=50, rate=1e-2, stop_at=0.9)
    history = train_model(fresh(position="none"), TASK, recipe, 1, 0)
    assert [share >= 0.9 for _, share in history.checks] == [True, True]
    assert history.ended == "all steps done"


def test_an_early_stop_is_kept_by_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after the check that ends training, it ends there when it is taken up again."""
    recipe = Recipe(steps=100, batch=32, check_every=10, rate=1e-2, stop_at=1.0)
    end = train_model(fresh(position="none"), TASK, recipe, 1, 0).step
    at_step(monkeypatch, end, interrupt)
    with pytest.raises(Interrupted):
        train_model(fresh(position="none"), TASK, recipe, 1, 0, tmp_path / "checkpoint")
    history = train_model(fresh(position="none"), TASK, recipe, 1, 0, tmp_path / "checkpoint")
    assert (history.step, history.ended.split(":")[0]) == (end, f"stopped early at step {end}")


# --- what a step is made of -----------------------------------------------------------------------------------------


@dataclass
class Recorder(Task):
    """A task that remembers what was asked of it."""

    seen: list[tuple[int, str, bytes]] = field(default_factory=list)
    symbols = ("a", "b")  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def sample(self, size, draws):
        return TASK.sample(size, draws)

    def solve(self, prompt):
        return TASK.solve(prompt)

    def batch(self, size, seed, items, role="train", causal=True):
        batch = super().batch(size, seed, items, role, causal)
        if role == "train":
            self.seen.append((size, str(list(items)), batch.inputs.tobytes()))
        return batch


def test_what_a_step_sees_does_not_depend_on_threads() -> None:
    asked = []
    for count in (1, 2):
        task = Recorder()
        with threads(count):
            train_model(fresh(), task, replace(RECIPE, steps=4, batch=2), 4, 9)
        asked.append(task.seen)
    assert asked[0] == asked[1] and len(asked[0]) == 4
    assert len({items for _, items, _ in asked[0]}) == 4, "every step has items of its own"
    assert len({size for size, _, _ in asked[0]}) > 1


def test_another_seed_is_another_training(straight: tuple[Transformer, History]) -> None:
    model = fresh()
    history = train_model(model, TASK, RECIPE, 4, 10)
    assert history.losses[0][1] != straight[1].losses[0][1]


def test_vectors_are_not_decayed() -> None:
    """With no gradient, what a step does is the decay."""
    model = fresh(position="fire")
    optimiser = loop._optimiser(model, Recipe(rate=0.1, weight_decay=0.5))
    for parameter in model.parameters():
        parameter.data += 1.0
        parameter.grad = torch.zeros_like(parameter)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimiser.step()
    for name, value in model.state_dict().items():
        factor = 0.95 if value.dim() > 1 else 1.0
        assert value.allclose(factor * before[name], rtol=1e-6, atol=0), name


def test_a_loss_that_is_not_finite_ends_training_with_finite_weights(tmp_path: Path) -> None:
    model = fresh()
    with pytest.raises(
        LengthwiseError, match=r"the loss became .* at step \d+; a smaller learning rate usually helps$"
    ):
        train_model(model, TASK, Recipe(steps=50, rate=1e35, warmup=0, clip=1e30), 4, 0)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_a_gradient_that_is_not_finite_does_not_reach_the_weights() -> None:
    """The loss of that step is fine; it is the next one that would not be, or the measurement after the last."""
    model = fresh()
    model.output.weight.register_hook(lambda gradient: gradient * math.inf)
    with pytest.raises(LengthwiseError, match=r"gradient .* at step 1; a smaller learning rate"):
        train_model(model, TASK, Recipe(steps=1, batch=4), 4, 0)
    assert all(parameter.isfinite().all() for parameter in model.parameters())


def test_a_task_without_such_sizes() -> None:
    with pytest.raises(UsageError, match=r"^the task has no items of size 1 to 2"):
        train_model(fresh(), tasks.make("addition"), RECIPE, 2, 0)


# --- the recipe -----------------------------------------------------------------------------------------------------


def test_the_rate_by_hand() -> None:
    recipe = Recipe(steps=110, rate=2.0, warmup=0.1)  # 11 steps of warm-up, 99 of decay
    assert [recipe.rate_at(step) for step in (0, 5, 10)] == pytest.approx([2 / 11, 12 / 11, 2.0])
    assert [recipe.rate_at(step) for step in (11, 44, 109)] == pytest.approx([2.0, 2 * 66 / 99, 2 / 99])
    cosine = replace(recipe, decay="cosine")
    assert [cosine.rate_at(step) for step in (0, 10, 11, 44, 77)] == pytest.approx([2 / 11, 2.0, 2.0, 1.5, 0.5])
    constant = replace(recipe, decay="constant")
    assert [constant.rate_at(step) for step in (0, 10, 60, 109)] == pytest.approx([2 / 11, 2.0, 2.0, 2.0])
    assert Recipe(warmup=0.0).rate_at(0) == Recipe().rate


@given(st.integers(1, 300), st.floats(0, 0.99), st.sampled_from(["linear", "cosine", "constant"]))
def test_the_rate_rises_then_falls_and_is_never_zero(steps: int, warmup: float, decay: Decay) -> None:
    recipe = Recipe(steps=steps, warmup=warmup, decay=decay)
    rates = np.array([recipe.rate_at(step) for step in range(steps)])
    peak = int(rates.argmax())
    assert rates.min() > 0 and rates.max() == pytest.approx(recipe.rate)
    assert (np.diff(rates[: peak + 1]) > 0).all() and (np.diff(rates[peak:]) <= 1e-15).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"steps": 0}, "steps must be at least 1, not 0"),
        ({"batch": -1}, "batch must be at least 1, not -1"),
        ({"check_every": 0}, "check_every must be at least 1, not 0"),
        ({"rate": 0.0}, "the learning rate must be above 0, not 0.0"),
        ({"rate": math.inf}, "the learning rate must be above 0, not inf"),
        ({"rate": math.nan}, "the learning rate must be above 0, not nan"),
        ({"warmup": 1.0}, "warmup must be a share of the steps in [0, 1), not 1.0"),
        ({"warmup": -0.1}, "warmup must be a share of the steps in [0, 1), not -0.1"),
        ({"stop_at": 95.0}, "stop_at must be a share of items in (0, 1], not 95.0"),
        ({"stop_at": 0.0}, "stop_at must be a share of items in (0, 1], not 0.0"),
        ({"clip": 0.0}, "clip must be above 0 and weight_decay 0 or more, not clip 0.0 and weight_decay 0.01"),
        ({"weight_decay": -1.0}, "clip must be above 0 and weight_decay 0 or more, not clip 1.0 and weight_decay -1.0"),
        ({"decay": "step"}, "decay must be one of linear, cosine, constant, not 'step'"),
    ],
)
def test_wrong_recipes_name_the_right_values(wrong: dict, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        Recipe(**wrong)
    assert str(error.value) == sentence
