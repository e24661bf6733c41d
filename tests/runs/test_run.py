"""A run: what its folder holds, what an accident leaves and how the same call goes on, and measuring it again."""

import dataclasses
import json
import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lengthwise as lw
from lengthwise.errors import Interrupted, LengthwiseError
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.progress import Progress, silent
from lengthwise.runs import run as module
from lengthwise.runs.plan import default_folder, plan_for
from lengthwise.runs.run import Run, build_model, carry_out, load_run, measure, train
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import CopyRepeat
from lengthwise.training.recipe import Recipe
from refusals import refused
from small_runs import sealed_again

TINY = {"depth": 1, "width": 16, "heads": 2, "mlp_ratio": 2}
SHORT = {"steps": 12, "batch": 8, "check_every": 5}
FILES = {"README.md", "config.json", "records", "model.safetensors", "run.json"}


def tiny(folder: Path, position: str = "rope", task: Any = "copy_repeat", **changes: Any) -> Run:
    settings = {"train_size": 3, "test_size": 6, **TINY, **SHORT, "seeds": [5]}
    return train(task, position, folder=folder, **{**settings, **changes})  # pyright: ignore


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def stamps(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.rglob("*") if file.is_file()}


def weights(run: Run) -> dict[str, torch.Tensor]:
    return run.model().state_dict()


def same_weights(one: Run, two: Run) -> bool:
    return all(value.equal(weights(two)[name]) for name, value in weights(one).items())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return tiny(tmp_path_factory.mktemp("runs") / "done")


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any step of training is a failure."""
    monkeypatch.setattr("lengthwise.training.loop._step", lambda *_: pytest.fail("a step was trained"))


# --- the folder -----------------------------------------------------------------------------------------------------


def test_what_the_folder_holds(done: Run) -> None:
    assert names(done.folder) == FILES
    record = json.loads((done.folder / "run.json").read_text())
    assert record["plan"] == done.plan.plain() and record["digest"] == done.plan.digest()
    assert record["history"]["ended"] == "all steps done" and record["history"]["step"] == 12
    assert record["environment"]["packages"]["torch"] == torch.__version__
    assert record["environment"]["threads"] == 1
    card = (done.folder / "README.md").read_text()
    assert (
        "copy_repeat, position rope" in card and "sizes up to 3 (12 steps of 8 items, seed 5; all steps done)" in card
    )
    assert "| 1 to 3 |" in card and "| 4 to 6 |" in card and "\nReach " in card


def test_no_file_holds_what_json_lacks(done: Run) -> None:
    for name in ("run.json", "records/curve.json", "config.json"):
        json.loads((done.folder / name).read_text(), parse_constant=lambda text: pytest.fail(f"{text} is written"))


def test_the_curve_is_of_every_size(done: Run) -> None:
    assert [point.size for point in done.curve.points] == [1, 2, 3, 4, 5, 6]
    assert {point.items for point in done.curve.points} == {200}
    assert done.reach == done.curve.reach().value


def test_a_run_is_loaded_as_it_was(done: Run) -> None:
    assert load_run(done.folder) == done
    assert load_run(str(done.folder)).history.losses == done.history.losses, "pairs come back as pairs"


def test_train_is_a_function_of_its_arguments(done: Run, tmp_path: Path) -> None:
    torch.manual_seed(99)
    again = tiny(tmp_path / "again")
    assert again.curve == done.curve and same_weights(again, done)
    assert again.history.losses == done.history.losses
    other = tiny(tmp_path / "other", seeds=[6])
    assert not same_weights(other, done)


def test_nothing_of_the_caller_is_changed(tmp_path: Path) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        state = torch.random.get_rng_state()
        run = tiny(tmp_path / "run")
        assert torch.get_num_threads() == 2
        measure(run, items=5)
        assert torch.get_num_threads() == 2
        refused(lambda: tiny(tmp_path / "learned", "learned:rows=5"))
        assert torch.get_num_threads() == 2
        assert torch.random.get_rng_state().equal(state)
    finally:
        torch.set_num_threads(before)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_more_threads_on_request(tmp_path: Path, done: Run) -> None:
    heard: list[int] = []
    plan = dataclasses.replace(done.plan, recipe=Recipe(steps=1, batch=1), train_size=1, test_size=1, items=1)
    carry_out(plan, tmp_path, lambda *_: heard.append(torch.get_num_threads()), 2)
    assert heard == [2, 2]
    assert json.loads((tmp_path / "run.json").read_text())["environment"]["threads"] == 2
    assert "at least 1 thread, not 0" in refused(lambda: carry_out(done.plan, tmp_path / "other", thread_count=0))


def test_early_stop_is_recorded(tmp_path: Path) -> None:
    training = {"steps": 200, "batch": 32, "rate": 1e-2, "check_every": 10, "stop_at": 0.9}
    run = tiny(tmp_path, "none", train_size=1, test_size=2, **training)
    record = json.loads((tmp_path / "run.json").read_text())
    assert run.history.step < 200
    assert record["history"]["ended"].startswith(f"stopped early at step {run.history.step}: ")
    assert f"stopped early at step {run.history.step}" in (tmp_path / "README.md").read_text()


def test_progress_is_told_of_everything(tmp_path: Path) -> None:
    heard: list[Any] = []
    tiny(tmp_path, progress=lambda done, step, steps: heard.append((done.partition(" ")[0], step, steps)))
    assert heard == [*(("training:", step, 12) for step in (5, 10, 12)), *(("size", n, 6) for n in range(1, 7))]


# --- the same call again --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_training")
def test_the_same_call_returns_at_once(done: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ask", lambda *_: pytest.fail("it was measured"))
    before = stamps(done.folder)
    again = tiny(done.folder)
    assert again == done and stamps(done.folder) == before


@pytest.mark.usefixtures("no_training")
def test_more_items_are_measured_without_training(tmp_path: Path, done: Run) -> None:
    shutil.copytree(done.folder, tmp_path, dirs_exist_ok=True)
    record = json.loads((tmp_path / "run.json").read_text())
    sealed_again(tmp_path, environment={**record["environment"], "python": "3.0"})
    run = carry_out(dataclasses.replace(done.plan, items=30), tmp_path)
    assert {point.items for point in run.curve.points} == {30} and names(tmp_path) == FILES
    assert load_run(tmp_path) == run
    assert run.environment["python"] == "3.0", "the environment is that of the training"
    assert carry_out(dataclasses.replace(done.plan, items=30), tmp_path).curve == run.curve


def test_another_plan_in_the_same_folder_is_refused(done: Run) -> None:
    for changes, part in (
        ({"seeds": [6]}, "its seed differs"),
        ({"position": "alibi"}, "its model differs"),
        ({"task": "parity"}, "its task differs"),
        ({"steps": 13}, "its recipe differs"),
        ({"train_size": 2}, "its train size differs"),
        ({"test_size": 7}, "its test size differs"),
    ):
        sentence = refused(lambda changes=changes: tiny(done.folder, **changes))
        assert f"holds another run ({part})" in sentence and sentence.endswith("give another folder")
    assert load_run(done.folder) == done


# --- accidents ------------------------------------------------------------------------------------------------------


class Accident(Exception):
    pass


def accident(*_: Any) -> None:
    raise Accident


@pytest.mark.parametrize("where", ["measuring", "writing the curve", "writing the record"])
def test_an_accident_after_training_costs_no_training(
    where: str, tmp_path: Path, done: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """run.json is written last: without it the run is not complete, and the same call goes on after the training."""

    def write(path: Path, content: Any) -> None:
        if path.name == "run.json":
            raise Accident
        real(path, content)

    real = module.write_json
    with monkeypatch.context() as patch:
        if where == "writing the record":
            patch.setattr(module, "write_json", write)
        else:
            patch.setattr(module, "ask" if where == "measuring" else "write_record", accident)
        with pytest.raises(Accident):
            tiny(tmp_path)
    assert "run.json" not in names(tmp_path)
    assert "is not finished; run its command again" in refused(lambda: load_run(tmp_path))
    assert "holds another run (its seed differs)" in refused(lambda: tiny(tmp_path, seeds=[6]))
    monkeypatch.setattr("lengthwise.training.loop._step", accident)
    run = tiny(tmp_path)
    assert run.curve == done.curve and same_weights(run, done) and names(tmp_path) == FILES
    assert run.history.losses == done.history.losses
    assert load_run(tmp_path) == run


def test_interrupted_training_goes_on(tmp_path: Path, done: Run) -> None:
    def stop(_: str, step: int, steps: int) -> None:
        if (step, steps) == (5, 12):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="stopped at step 5 of 12; run the same command again to resume"):
        tiny(tmp_path, progress=stop)
    assert names(tmp_path) == {"plan.json", "checkpoint.safetensors", "journal.jsonl"}
    assert "is not finished; run its command again" in refused(lambda: load_run(tmp_path))
    assert "holds another run (its seed differs)" in refused(lambda: tiny(tmp_path, seeds=[6]))
    heard: list[int] = []
    run = tiny(tmp_path, progress=lambda _, step, steps: heard.append(step) if steps == 12 else None)
    assert heard == [10, 12], "the first five steps were not done again"
    assert run.curve == done.curve and same_weights(run, done) and names(tmp_path) == FILES


def test_training_that_fails_leaves_the_folder_free(tmp_path: Path) -> None:
    """Nothing worth keeping is there yet, so another plan may have the folder."""
    with pytest.raises(LengthwiseError, match="a smaller learning rate usually helps"):
        tiny(tmp_path, steps=20, batch=8, rate=1e35, clip=1e30, warmup=0.0)
    assert names(tmp_path) == {"plan.json", "journal.jsonl"}
    tiny(tmp_path)
    assert names(tmp_path) == FILES


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        assert f"cannot write to {folder}" in refused(lambda folder=folder: tiny(folder))


def test_an_error_of_the_task_is_not_blamed_on_the_folder(tmp_path: Path) -> None:
    sentence = refused(lambda: tiny(tmp_path, task=Gone()))
    assert "the task Gone" in sentence and "the items are gone" in sentence and str(tmp_path) not in sentence


@dataclass(frozen=True)
class Gone(CopyRepeat):
    """A task that fails with an error of the operating system when it is trained on."""

    def draw(self, size, seed, items, role="train"):
        if len(items) > 1:
            raise FileNotFoundError(2, "the items are gone")
        return super().draw(size, seed, items, role)


@pytest.mark.parametrize("name", ["run.json", "records/curve.json"])
def test_a_damaged_record_is_refused_and_that_of_a_probe_is_measured_again(
    name: str, tmp_path: Path, done: Run
) -> None:
    for content in ("", "{", "[]", "{}", '{"plan": 3}', "null"):
        shutil.copytree(done.folder, tmp_path, dirs_exist_ok=True)
        (tmp_path / name).write_text(content)
        refused(lambda: load_run(tmp_path))
        if name == "run.json":
            refused(lambda: tiny(tmp_path))
        else:
            assert tiny(tmp_path).curve == done.curve == load_run(tmp_path).curve


def test_there_is_no_such_folder(tmp_path: Path) -> None:
    assert "there is no folder" in refused(lambda: load_run(tmp_path / "nowhere"))
    assert "there is no run.json" in refused(lambda: load_run(tmp_path))


# --- arguments ------------------------------------------------------------------------------------------------------


def test_sizes_of_zero_are_not_taken_for_the_default(tmp_path: Path) -> None:
    assert refused(lambda: tiny(tmp_path, test_size=0)) == "test_size must be at least 1, not 0"
    assert refused(lambda: tiny(tmp_path, train_size=0)) == "train_size must be at least 1, not 0"


def test_an_encoding_is_a_text_or_an_object_and_none_unless_it_is_given(tmp_path: Path) -> None:
    assert tiny(tmp_path / "a", lw.make_position("alibi")).plan.position_name == "alibi"
    run = train("copy_repeat", train_size=3, test_size=6, **TINY, **SHORT, folder=tmp_path / "b")
    assert run.plan.position_name == "none"


def test_the_default_folder_belongs_to_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run) -> None:
    monkeypatch.chdir(tmp_path)
    run = train("copy_repeat", "rope", train_size=3, test_size=6, **TINY, **SHORT, seeds=[5])
    assert run.folder == default_folder(done.plan) == Path("runs") / f"copy_repeat-rope-s5-{done.plan.digest()}"
    odd = dataclasses.replace(done.plan, task=tasks.make("dyck_k:kinds=3"))
    assert default_folder(odd).parent == Path("runs"), "a name with strange characters stays one folder"


def test_building_a_model_is_a_function_of_the_plan(done: Run) -> None:
    torch.manual_seed(1)
    one = build_model(done.plan).state_dict()
    torch.manual_seed(2)
    two = build_model(done.plan).state_dict()
    other = build_model(dataclasses.replace(done.plan, seed=6)).state_dict()
    assert all(value.equal(two[name]) for name, value in one.items())
    assert not one["embedding.weight"].equal(other["embedding.weight"])


# --- measuring again ------------------------------------------------------------------------------------------------


def test_measured_again_it_is_the_same(done: Run) -> None:
    assert measure(done) == done.curve == measure(done.folder) == measure(str(done.folder), task="copy_repeat")
    assert measure(done, task=CopyRepeat()).points == done.curve.points


def test_other_sizes_items_and_seeds(done: Run) -> None:
    assert measure(done, sizes=[5, 2, 5]).points == (done.curve.at(2), done.curve.at(5)), "in order, and once each"
    assert [point.size for point in measure(done, test_size=9, items=5).points] == list(range(1, 10))
    assert {point.items for point in measure(done, items=50).points} == {50}
    other = measure(done, seed=77)
    assert other.seed == 77 and [p.loss for p in other.points] != [p.loss for p in done.curve.points]
    heard: list[int] = []
    measure(done, items=5, progress=lambda _, step, steps: heard.append(step))
    assert heard == [1, 2, 3, 4, 5, 6]


def test_what_cannot_be_measured(done: Run) -> None:
    assert "no items in the range of sizes" in refused(lambda: measure(done, test_size=0))
    assert "no items in the range of sizes" in refused(lambda: measure(done, sizes=[]))
    assert "items per size must be at least 1" in refused(lambda: measure(done, items=0))
    for task in ("sort", "simple_task", "parity"):
        assert f"other symbols than those of the task {task}" in refused(lambda task=task: measure(done, task=task))


def test_another_scaling_of_rope(tmp_path: Path) -> None:
    sharp = tiny(tmp_path, steps=60, rate=0.05)  # attention that positions matter to
    plain = [point.loss for point in sharp.curve.points]
    yarn, dynamic = (measure(sharp, position=f"rope:scaling={name}") for name in ("yarn,factor=3", "dynamic"))
    assert yarn.position == "rope:scaling=yarn,factor=3"
    yarn, dynamic = ([point.loss for point in curve.points] for curve in (yarn, dynamic))
    assert max(abs(np.subtract(yarn, plain))) > 1e-3
    assert dynamic[:3] == plain[:3], "within the trained length it is plain rope"
    assert max(abs(np.subtract(dynamic[3:], plain[3:]))) > 1e-3


def test_an_encoding_that_does_not_fit(done: Run) -> None:
    for position in ("learned", "t5", "fire"):
        assert f"{position!r} does not fit these weights" in refused(lambda p=position: measure(done, position=p))
    assert "unknown position encoding" in refused(lambda: measure(done, position="ropes"))


def test_a_learned_table_that_is_too_short(tmp_path: Path) -> None:
    run = tiny(tmp_path, "learned")
    sentence = refused(lambda: measure(run, test_size=9))
    assert "size 9" in sentence and "measured up to size 6" in sentence and "train with a larger test size" in sentence
    assert "measured up to size 6" in refused(lambda: measure(run, sizes=[2, 7]))
    assert measure(run) == run.curve


@pytest.mark.parametrize("position", ["learned+offset", "learned", "rope+randomized:limit=16"])
def test_the_size_named_in_a_refusal_can_be_measured(tmp_path: Path, position: str) -> None:
    """Prompts of 3, 6, 9, … symbols: between two sizes there are none."""
    run = tiny(tmp_path, position, task="interleaved_majority", train_size=6, test_size=9)
    sentence = refused(lambda: measure(run, test_size=30, items=2))
    last = int(re.findall(r"measured up to size (\d+)", sentence)[0])
    assert [point.size for point in measure(run, test_size=last, items=2).points][-1] == last >= 9
    refused(lambda: measure(run, test_size=last + 3, items=2))


@dataclass(frozen=True)
class Mine(CopyRepeat):
    """A task that nobody registered."""

    setting: int = 0


def test_a_task_object_that_nobody_registered(tmp_path: Path) -> None:
    run = tiny(tmp_path, task=Mine(1))
    assert run.curve.task == "Mine" and tiny(tmp_path, task=Mine(1)) == run
    assert "its task differs" in refused(lambda: tiny(tmp_path, task=Mine(2)))
    for call in (lambda: load_run(tmp_path), lambda: measure(tmp_path)):
        assert "pass the task again: measure(run, task=...)" in refused(call)
    assert measure(tmp_path, task=Mine(1)) == run.curve == measure(run)
    assert measure(tmp_path, task="copy_repeat").points == run.curve.points, "the same items under another name"


def test_a_task_given_for_a_run_that_knows_its_own(done: Run, tmp_path: Path) -> None:
    """What is asked is measured even where the run could not have been trained on it."""

    @dataclass(frozen=True)
    class OnlyLong(CopyRepeat):
        def has(self, size: int) -> bool:
            return size >= 5

    curve = measure(done.folder, task=OnlyLong())
    assert (curve.task, [point.size for point in curve.points]) == ("OnlyLong", [5, 6])
    assert curve.train_size == 3


def test_the_notebook_sees_a_figure(done: Run) -> None:
    assert "<svg" in done._repr_html_()


def test_an_encoder_runs_too(tmp_path: Path) -> None:
    run = tiny(tmp_path, causal=False)
    assert measure(tmp_path) == run.curve
    assert "A Transformer encoder" in (tmp_path / "README.md").read_text()


def test_a_plan_is_carried_out_as_it_is(tmp_path: Path, done: Run) -> None:
    plan = plan_for("simple_task", "none", {**TINY, **SHORT}, train_size=3, test_size=5, items=10)
    run = carry_out(plan, tmp_path)
    assert run.plan == plan and [point.items for point in run.curve.points] == [10] * 5


# --- ladders --------------------------------------------------------------------------------------------------------


def climbing(folder: Path, items: int = 4, progress: Progress = silent) -> Run:
    ladder, settings = LadderProbe(items, 2, 2), {**TINY, **SHORT}
    plan = plan_for("copy_repeat", "none", settings, train_size=3, test_size=6, items=10, seed=5, probes=[ladder])
    return carry_out(plan, folder, progress)


def ladder_file(folder: Path, items: int = 4) -> Path:
    return folder / "records" / f"ladder-items={items}-decoded=2-inside=2.json"


def test_a_ladder_is_climbed_after_the_curve(tmp_path: Path) -> None:
    heard: list[str] = []
    run = climbing(tmp_path / "run", progress=lambda done, *_: heard.append(done.partition(":")[0]))
    ladder = Ladder.from_record(run.record("ladder"))
    assert names(run.folder) == FILES and heard[-len(ladder.points) :] == [point.name for point in ladder.points]
    assert (ladder.seed, ladder.train_size, ladder.settings) == (5, 3, LadderProbe(4, 2, 2))
    assert load_run(run.folder).plan == run.plan and run.plan.probes[1] == ladder.settings


def test_an_interruption_on_the_ladder_keeps_the_model_and_the_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(done: str, *_: int) -> None:
        if done.startswith("length"):
            raise Interrupted("stopped")

    with pytest.raises(Interrupted):
        climbing(tmp_path / "run", progress=stop)
    assert not (tmp_path / "run" / "run.json").exists() and not ladder_file(tmp_path / "run").exists()
    monkeypatch.setattr("lengthwise.training.loop._step", lambda *_: pytest.fail("a step was trained"))
    heard: list[str] = []
    climbing(tmp_path / "run", progress=lambda done, *_: heard.append(done.partition(" ")[0]))
    assert "size" not in heard, "the curve was measured before"
    written = ladder_file(tmp_path / "run").read_bytes()
    monkeypatch.undo()
    climbing(tmp_path / "alone")
    assert written == ladder_file(tmp_path / "alone").read_bytes()


# --- questions ------------------------------------------------------------------------------------------------------


def test_single_questions(tmp_path: Path) -> None:
    training = {"steps": 150, "batch": 32, "rate": 1e-2}
    run = tiny(tmp_path, "none", "parity", train_size=2, test_size=4, **training)
    wrong = run.failures(4, count=3, items=300)
    task = run.plan.task
    assert len(wrong) == 3 and all(" ".join(task.solve(one.prompt.split())) == one.truth != one.answer for one in wrong)
    assert run.answer(wrong[0].prompt) == wrong[0].answer
    drawn = task.part("test").draw(1, 5, range(10), role="test")
    pairs = zip(drawn.prompts, drawn.answers, strict=True)
    right = [run.answer(" ".join(task.spelled(p))) == " ".join(task.spelled(a)) for p, a in pairs]
    assert np.mean(right) == pytest.approx(run.curve.at(1).exact, abs=0.4)
    assert "has no symbol 'x'" in refused(lambda: run.answer("x"))
    assert repr(run).startswith(f"Run({tmp_path}: Curve(parity")


@pytest.mark.parametrize("task", ["(aa)*", "simple_task"])
def test_questions_about_tags_and_numbers(tmp_path: Path, task: str) -> None:
    run = tiny(tmp_path, "rope", task)
    (failure,) = run.failures(4, count=1)
    assert len(run.answer(failure.prompt).split()) == len(failure.truth.split()) and failure.answer != failure.truth
