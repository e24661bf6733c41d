"""A task along another of its axes."""

import dataclasses
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.along import Along
from lengthwise.testing import check_task
from own_tasks import written

# `count` letters of which each is written `depth` times in the answer: two axes, of which the second is a setting.
GROWING = '''
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from lengthwise.errors import UsageError
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.facts import Facts, Published
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.task import Axis, Task
from lengthwise.records import Reference


@dataclass(frozen=True)
class Runs(Task):
    """Write the first letter of every run of equal letters."""

    depth: int = 2
    letters: int = 3
    colour: str = "red"
    preset = {"layers": 7}
    axes = (Axis("runs", "runs in the prompt"), Axis("depth", "letters in a run", smallest=1, largest=9),
            Axis("ghost", "nothing that can be set"), Axis("letters", "letters of the alphabet", smallest=2))
    facts = Facts(circuit_class="AC0", published=(Published("none", ((1, 2),), (100.0,), Reference("x")),))

    def __post_init__(self):
        if self.depth > 7:
            raise UsageError("too deep")

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("abcdefghijk"[: self.letters])

    def has(self, size: int) -> bool:
        return size >= 1 and size * self.depth <= 20

    def sample(self, size, draws):
        steps = draws.integers(1, self.letters, size)
        runs = np.cumsum(steps, axis=1) % self.letters
        return Samples(np.repeat(runs, self.depth, axis=1), runs)

    def solve(self, prompt):
        return [letter for i, letter in enumerate(prompt) if i == 0 or prompt[i - 1] != letter]

    def chance(self, size):
        return Chance(0.0, 1 / (2 + self.depth))
'''


@pytest.fixture
def runs(here):
    written(here / "runs.py", GROWING)
    return "runs.py"


def along(task: str, axis: str, at: int) -> Along:
    """As a user asks for it: only then may the file of the task run."""
    return cast(Along, tasks.make({"name": "along", "task": task, "axis": axis, "at": at}))


def test_along_keeps_the_contract(runs):
    task = tasks.make(f"along:task={runs},axis=depth,at=3")
    assert isinstance(task, Along) and task.axes == (task.base.axes[1],)
    check_task(task, [1, 2, 3, 6])
    check_task(task.base, [1, 4])


def test_along_is_the_base_at_its_fixed_size(runs):
    task = along(runs, "depth", 3)
    for size in (1, 2, 5):
        own = task.sample(size, Seeds(5).draws("x", items=range(9)))
        base = dataclasses.replace(cast(Any, task.base), depth=size).sample(3, Seeds(5).draws("x", items=range(9)))
        assert own.prompts.shape == (9, 3 * size)
        assert np.array_equal(own.prompts, base.prompts) and np.array_equal(own.answers, base.answers)
        assert task.chance(size).token == 1 / (2 + size)
    assert task.symbols == task.base.symbols and task.outputs == task.base.outputs and task.readout == "answer"
    assert task.preset == {"layers": 7}


def test_along_has_what_the_base_has(runs):
    """Not below or above the axis, not where the base refuses the setting (8), not where its fixed size is missing."""
    assert along(runs, "depth", 1).sizes(-1, 12) == [1, 2, 3, 4, 5, 6, 7]
    assert along(runs, "depth", 5).sizes(-1, 12) == [1, 2, 3, 4]
    assert along(runs, "depth", 0).sizes(-1, 12) == []


def test_along_leaves_out_curves_of_the_other_axis(runs):
    task = along(runs, "depth", 3)
    assert task.base.facts.published and not task.facts.published and task.facts.circuit_class == "AC0"


def test_along_settings_of_the_base(runs):
    task: Any = tasks.make(f"along:task={runs}::Runs:letters=2;colour=a;b,axis=depth,at=3")
    assert (len(task.symbols), task.base.colour) == (2, "a;b")
    assert tasks.make(tasks.spec_of(task)) == task
    check_task(task, [2])


def test_along_follows_the_parts_of_the_base(runs):
    written(
        Path("parts.py"),
        GROWING.replace("def chance", "def part(self, role):\n        import dataclasses\n"
                        "        return dataclasses.replace(self, colour=role)\n\n    def chance"),
    )  # fmt: skip
    parted: Any = tasks.make("along:task=parts.py,axis=depth,at=3")
    assert parted.part("test").base.colour == "test"
    task = tasks.make(f"along:task={runs},axis=depth,at=3")
    assert task.part("test") is task


@pytest.mark.parametrize(
    "axis, said",
    [
        ("dept", r"has no axis 'dept' after its first; did you mean 'depth'\? it has depth, ghost, letters$"),
        ("runs", r"has no axis 'runs' after its first; "),
        ("ghost", r"the axis 'ghost' of the task .* cannot grow, as it is not a setting$"),
        ("letters", r"cannot grow along 'letters', as its symbols at 2 are not those it starts with"),
    ],
)
def test_along_mistakes(runs, axis, said):
    with pytest.raises(UsageError, match=said):
        along(runs, axis, 3)


def test_along_a_task_of_one_axis():
    with pytest.raises(UsageError, match="the task 'sort' has no axis 'alphabet' after its first; it has none"):
        tasks.make("along:task=sort,axis=alphabet,at=3")


def test_along_notices_a_late_change_of_symbols(runs):
    late = GROWING.replace('"abcdefghijk"[: self.letters]', '"abcdefghijk"[: self.letters + (self.depth > 4)]')
    written(Path("late.py"), late)
    task = along("late.py", "depth", 1)
    task.draw(4, 0, [0])
    with pytest.raises(UsageError, match="its symbols at 5 are not those"):
        task.draw(5, 0, [0])
