"""The contract of a rendering, as a test."""

from __future__ import annotations

from typing import Any

from lengthwise.prompts.parsing import is_right
from lengthwise.prompts.rendering import prompts_of
from lengthwise.tasks import make_task

_TASKS = ("sort", "parity", "aa_star", "count", "needle", "simple_task")


def check_rendering(rendering: Any, tasks: tuple[str, ...] = _TASKS) -> None:
    """Raise AssertionError unless `rendering` keeps the contract of `lengthwise.prompts.rendering.Rendering`.

    Checked: that questions are text and different for different prompts, that what `answer` writes is read back by both
    readers, and that neither finds an answer in an empty reply or the right one in a question, its instruction or the
    answer to another item.
    """
    for name in tasks:
        task = make_task(name)
        size = task.sizes(1, 40)[3]
        items = prompts_of(task, size, range(12), 0, rendering, 2)
        by_prompt = {task.spelled(row) for row in task.draw(size, 0, range(12), role="test").prompts}
        questions = {prompt.question for prompt, _ in items}
        assert all(isinstance(question, str) and question for question in questions), f"{name}: a question is text"
        assert len(questions) == len(by_prompt), f"{name}: two prompts have one question"
        for reader in (rendering.strict, rendering.lenient):
            assert reader(task, "") is None, f"{name}: `{reader.__name__}` finds an answer in an empty reply"
            for prompt, right in items:
                _check_item(name, task, rendering, reader, prompt, right, {other for _, other in items})


def _check_item(name: str, task: Any, rendering: Any, reader: Any, prompt: Any, right: Any, answers: set) -> None:
    written = rendering.answer(task, right)
    where = f"{name}: `{reader.__name__}`"
    assert isinstance(written, str) and written, f"{name}: an answer is text"
    assert is_right(task, reader(task, written), right), f"{where} does not read back what `answer` writes, {written!r}"
    for text in {prompt.question, prompt.system, prompt.text()} - {written}:
        assert not is_right(task, reader(task, text), right), f"{where} finds the right answer in {text[:60]!r}"
    for other in answers:
        found = is_right(task, reader(task, rendering.answer(task, other)), right)
        assert found == is_right(task, other, right), f"{where} takes the answer {other} for {right}"
