"""Index hints in front of the elements of a task."""

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.check import check
from lengthwise.tasks import make_task, tasks
from lengthwise.testing import check_task


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        ("hinted:task=copy_repeat", [1, 5]),
        ("hinted:task=parity,hints=20", [1, 4, 20]),
        ("hinted:task=addition_appended:base=10", [1, 3]),
        ("hinted:task=binary_addition", [3, 8]),
        ("hinted:task=reverse_string:alphabet=3,hints=9", [2, 9]),
    ],
)
def test_contract(spec: str, sizes: list[int]) -> None:
    check_task(make_task(spec), sizes)


def shown(spec: str, size: int, items: int = 1) -> list[tuple[str, str]]:
    task = make_task(spec)
    drawn = task.draw(size, 0, range(items))
    pairs = zip(drawn.prompts, drawn.answers, strict=True)
    return [(" ".join(task.spelled(prompt)), " ".join(task.spelled(answer))) for prompt, answer in pairs]


def test_a_hint_stands_before_every_element() -> None:
    """With as many hints as an item needs there is one place to begin at."""
    assert shown("hinted:task=copy_repeat,hints=3", 3)[0][0].split()[::2] == ["#0", "#1", "#2"]
    prompt, answer = shown("hinted:task=addition_appended:base=10,hints=3", 2)[0]
    assert [symbol for symbol in prompt.split() if symbol[0] in "#+"] == ["#0", "#1", "+", "#0", "#1"]
    assert answer.split()[::2] == ["#0", "#1", "#2"]
    assert shown("hinted:task=reverse_string,hints=3", 3)[0][0].split()[::2] == ["#2", "#1", "#0"]


def test_without_ids_the_prompt_is_counted_and_the_answer_is_plain() -> None:
    prompt, answer = shown("hinted:task=parity,hints=4", 4)[0]
    assert prompt.split()[::2] == ["#0", "#1", "#2", "#3"] and answer in ("e", "o")


def test_the_hints_of_an_item_begin_anywhere() -> None:
    task = make_task("hinted:task=copy_repeat,hints=6")
    first = task.draw(3, 0, range(400)).prompts[:, 0] - 2
    assert np.bincount(first).tolist() == pytest.approx([100] * 4, abs=35)


def test_the_base_is_asked_the_same_items() -> None:
    base, task = make_task("copy_repeat"), make_task("hinted:task=copy_repeat")
    assert np.array_equal(task.draw(4, 7, range(9)).prompts[:, 1::2], base.draw(4, 7, range(9)).prompts)


def test_hints_bound_the_size() -> None:
    assert make_task("hinted:task=copy_repeat,hints=12").sizes(1, 40)[-1] == 12
    assert make_task("hinted:task=addition_appended,hints=12").sizes(1, 40)[-1] == 11
    assert make_task("hinted:task=parity,hints=12").sizes(1, 40)[-1] == 12


def test_the_solver_reads_hints() -> None:
    task = make_task("hinted:task=copy_repeat")
    assert task.solve(["#7", "a", "#8", "b"]) == ["#7", "a", "#8", "b"]
    for wrong in ("#7 a #9 b", "a b", "#7 a b", "#7 a #8 z"):
        with pytest.raises(UsageError):
            task.solve(wrong.split())


@pytest.mark.parametrize("spec", ["hinted:task=tomita_3", "hinted:task=copy_repeat,hints=0", "hinted:task=prose"])
def test_what_hints_do_not_go_with_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_task(spec)


def test_specs_go_there_and_back() -> None:
    task = make_task("hinted:task=addition_appended:base=10,hints=30")
    assert tasks.restore(tasks.spec_of(task)) == task


def test_the_oracle_does_not_take_it_for_its_base() -> None:
    assert all(
        verdict.outlook == "unknown"
        for verdict in check("hinted:task=parity", ("none", "rope"), quick=True).verdicts.values()
    )
