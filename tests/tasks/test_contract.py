"""A user's own task that breaks the contract is refused in a sentence that names the item."""

from __future__ import annotations

import dataclasses
import time

import pytest

import lengthwise as lw
from lengthwise.cli import main
from lengthwise.errors import UsageError
from lengthwise.tasks import make_task
from lengthwise.tasks.algorithmic import CopyRepeat
from lengthwise.tasks.contract import check_own
from lengthwise.testing import check_task
from own_tasks import REPEAT, SEARCH, written

TINY = "--steps 2 --batch 4 --depth 1 --width 16 --heads 1 --items 3 --train-size 4 --test-size 6".split()  # noqa: SIM905

BOTH = "        return Samples(prompts, np.concatenate([prompts, prompts], axis=1))"
WRONG = {
    "no such symbol": ("draws.integers(0, self.letters, size)", "draws.integers(0, self.letters + 3, size)"),
    "no such symbol where it is tested": ("self.letters, size)", "self.letters + (size > 5), size)"),
    "a negative symbol": ("draws.integers(0,", "draws.integers(-3,"),
    "another answer": ("[prompts, prompts]", "[prompts, prompts[:, ::-1]]"),
    "another answer at times": (BOTH, BOTH.replace("[prompts, ", "[prompts.clip(0, 2), ")),
    "real numbers": (BOTH, BOTH.replace("(prompts, np", "(prompts / 2, np")),
    "no rows": (BOTH, BOTH.replace("(prompts, np", "(prompts[0], np")),
    "randomness of its own": (BOTH, "        prompts = np.random.randint(0, 4, prompts.shape)\n" + BOTH),
    "an item that depends on its batch": (BOTH, "        prompts = np.sort(prompts, axis=0)\n" + BOTH),
    "a symbol twice": ('"abcdefghijklmnopqrstuvwxyz"', '"aacdefghijklmnopqrstuvwxyz"'),
    "a symbol of the layout": ("return tuple(", 'return ("<pad>",) + tuple('),
    "a sampler that fails": (BOTH, "        raise ValueError('it\\nbreaks')"),
    "a solver that fails": ("return [*prompt, *prompt]", "return [*prompt, nothing]"),
    "a solver that refuses": (
        "return [*prompt, *prompt]",
        "from lengthwise.errors import UsageError\n        raise UsageError('I never answer')",
    ),
}
NAMES_AN_ITEM = ("no such", "a negative", "another", "randomness", "an item", "a solver that refuses")


@pytest.fixture(params=WRONG)
def wrong(request, here) -> str:
    old, new = WRONG[request.param]
    assert REPEAT.count(old) >= 1
    written(here / "mytask.py", REPEAT.replace(old, new))
    return request.param


def test_training_on_it_is_refused_in_a_sentence(wrong, capsys):
    """Before this check a wrong symbol ended in a traceback, and a wrong answer was trained on without a word."""
    code = main(["train", "mytask.py::Repeat", *TINY])
    said = capsys.readouterr()
    assert code == 2 and said.out == "" and said.err.count("\n") == 1 and "Traceback" not in said.err
    assert "mytask.py::Repeat" in said.err
    if wrong.startswith(NAMES_AN_ITEM):
        assert "size " in said.err and "item " in said.err


@pytest.mark.parametrize("command", [["tasks", "mytask.py"], ["check", "mytask.py", "--train-size", "4"]])
def test_other_commands_refuse_it_too(here, capsys, command):
    written(here / "mytask.py", REPEAT.replace(*WRONG["another answer"]))
    assert main(command) == 2 and "item " in capsys.readouterr().err
    with pytest.raises(UsageError, match="item "):
        lw.task_sample(make_task("mytask.py"), 4)


def test_measuring_on_it_is_refused(here, capsys):
    written(here / "mytask.py", REPEAT)
    assert main(["train", "mytask.py", *TINY, "--folder", "run", "--quiet"]) == 0
    written(here / "mytask.py", REPEAT.replace(*WRONG["another answer"]))
    capsys.readouterr()
    assert main(["measure", "run", "mytask.py", "--items", "3"]) == 2 and "item " in capsys.readouterr().err


@dataclasses.dataclass(frozen=True)
class Unlike(CopyRepeat):
    """An object of a class that no name leads to."""

    def solve(self, prompt):
        return [*prompt[:-1], "a" if prompt[-1] == "b" else "b"]


def test_an_object_is_checked_as_a_file_is(tmp_path):
    with pytest.raises(UsageError, match=r"Unlike, size 1, item 0: of the prompt `\w`, sampled `\w`, solved `\w`"):
        lw.train(Unlike(), train_size=3, folder=tmp_path)
    with pytest.raises(AssertionError, match="size 2, item 0"):
        check_task(Unlike(), [2])


@pytest.mark.parametrize("text", [REPEAT, SEARCH])
def test_a_task_that_keeps_the_contract_passes_in_a_moment(here, text):
    written(here / "mytask.py", text)
    task = make_task("mytask.py")
    check_own(task, [task.sizes(1, 6)[-1]])


def test_a_slow_solver_is_not_asked_at_large_sizes(here, monkeypatch):
    """Its clock, not ours: every answer takes 2**size milliseconds."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    @dataclasses.dataclass(frozen=True)
    class Slow(CopyRepeat):
        """Copying by brute force."""

        def solve(self, prompt):
            now[0] += 1e-3 * 2 ** len(prompt)
            return list(prompt)

    check_own(Slow(), [60])
    assert 0.3 < now[0] < 1


@dataclasses.dataclass(frozen=True)
class Share(CopyRepeat):
    """The number of ones divided by the size, as the sampler says; the solver divides by more."""

    readout = "numbers"
    more: int = 0

    def sample(self, size, draws):
        found = super().sample(size, draws)
        return dataclasses.replace(found, answers=found.prompts.mean(axis=1, keepdims=True))

    def solve(self, prompt):
        return [prompt.count(self.symbols[1]) / (len(prompt) + self.more)]


def test_tasks_of_numbers_are_checked():
    check_own(Share(), [4])
    with pytest.raises(UsageError, match=r"size 1, item \d+: of the prompt"):
        check_own(Share(more=1), [4])


@pytest.mark.system
def test_a_study_plans_it_and_its_run_says_what_is_wrong(here):
    written(here / "mytask.py", REPEAT.replace(*WRONG["no such symbol"]))
    study = lw.Study(
        "mine", tasks=["mytask.py", "sort"], positions="none", train_size=3, test_size=4, items=5,
        model={"depth": 1, "width": 16, "heads": 1}, training={"steps": 2},
    )  # fmt: skip
    with lw.trusting():
        results = lw.run_study(study, folder=here / "kept")
    states = {run.task.split("::")[0]: run for run in results.runs}
    assert states["sort"].state == "done" and states["mytask.py"].state == "failed"
    assert "item " in states["mytask.py"].reason


def test_built_in_tasks_are_not_drawn_from(monkeypatch):
    monkeypatch.setattr(CopyRepeat, "sample", lambda *_: pytest.fail("it was drawn from"))
    check_own(CopyRepeat(), [4])
