"""Every registered task is put in words, and its right answers are read back, and nothing else is."""

from __future__ import annotations

import functools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.prompts.parsing import is_right
from lengthwise.prompts.rendering import make_rendering, prompts_of
from lengthwise.prompts.said import SAID, words_of
from lengthwise.tasks import make_task, tasks
from lengthwise.tasks.task import Task

NEED_SETTINGS = {"regular", "regular_member", "along", "hinted", "jsonl", "layout"}
UNSAYABLE = {"prose"}
OTHERS = [
    "regular:expression=(ab|ba)*",
    "regular_member:expression=(ab)*",
    "regular_member:language=tomita_3",
    "along:task=dyck_k:exact=true,axis=depth,at=12",
    "addition_appended:base=10",
    "brackets:kinds=4",
    "copy_repeat_steps:alphabet=12",
    "multi_key:keys=2",
    "variable_tracking:chains=1",
]
NAMES = [*(name for name in tasks.names() if name not in NEED_SETTINGS | UNSAYABLE), *OTHERS]
PLAIN = make_rendering("plain")


def two_sizes(task: Task) -> list[int]:
    sizes = task.sizes(1, 30)
    return [sizes[0], sizes[min(4, len(sizes) - 1)]]


@functools.cache
def asked(name: str) -> tuple[Task, list]:
    task = make_task(name)
    return task, [item for size in two_sizes(task) for item in prompts_of(task, size, range(8), 3, PLAIN, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_are_read_back(name: str) -> None:
    task, items = asked(name)
    for prompt, right in items:
        written = PLAIN.answer(task, right)
        for reader in (PLAIN.strict, PLAIN.lenient):
            assert is_right(task, reader(task, written), right), written
            assert is_right(task, reader(task, f" {written}\n"), right)
        assert prompt.system and "`" not in prompt.system and len(prompt.system) < 1000


@pytest.mark.parametrize("name", NAMES)
def test_lenient_forms_of_the_right_answer(name: str) -> None:
    task, items = asked(name)
    for _, right in items:
        written = PLAIN.answer(task, right)
        for text in (
            f"Answer: {written}",
            f"The answer is: {written}.",
            f"**Answer:** {written}",
            f"Sure!\n\n```\n{written}\n```\n",
            f"<think>It may be 17, or {written[:3]}?</think>\n{written}",
            f"Step by step, I looked at the input.\n\nThe final answer is {written}",
            f"{written}\n\nQuestion: 1 2 3\nAnswer: 7 8 9",
            f"La respuesta es: {written}.",
            f"答案:{written}",
        ):
            assert is_right(task, PLAIN.lenient(task, text), right), text
            assert PLAIN.strict(task, text) is None, text


@pytest.mark.parametrize("name", NAMES)
def test_what_repeats_the_question_has_no_right_answer(name: str) -> None:
    """Unless the question is written as its own answer is, as in copying."""
    task, items = asked(name)
    for prompt, right in items:
        written = PLAIN.answer(task, right)
        question = prompt.question
        if is_right(task, PLAIN.strict(task, question), right):
            continue
        for text in (
            question,
            f"Question: {question}",
            f"Question: {question}\nAnswer:",
            f"The question is: {question}",
            f"You asked: {question}",
            f'"{question}"',
            f"{prompt.system}\n{question}",
            prompt.system,
            prompt.shared(),
            prompt.text(),
            f"{prompt.text()} {prompt.system}",
            f"<think>{written}",
            f"<think>The answer is {written}</think>",
            f"The answer is not {written}.",
            f"{written} …",
            f"{written}, ...",
            f"[{written}" if "[" not in task.symbols else "",
            "",
            "   \n",
        ):
            for reader in (PLAIN.strict, PLAIN.lenient):
                assert not is_right(task, reader(task, text), right), (text, right)


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_right_and_never_the_item(name: str) -> None:
    task, items = asked(name)
    shared = {prompt.shots for prompt, _ in items}
    for prompt, _ in items:
        questions = [question for question, _ in prompt.shots]
        assert prompt.question not in questions and len(set(questions)) == len(questions)
        for _, answer in prompt.shots:
            assert PLAIN.strict(task, answer) is not None
    assert len(shared) <= 1 + len({prompt.question for prompt, _ in items})
    assert len({prompt.system for prompt, _ in items}) == 1


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_wrong_answers_are_not_read_as_right(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    task, items = asked(name)
    _, right = data.draw(st.sampled_from(items))
    if task.readout == "numbers":
        wrong = tuple(f"{float(one) + data.draw(st.sampled_from([-0.5, 0.2, 1.0])):.3f}" for one in right)
    else:
        wrong = list(right)
        place = data.draw(st.integers(0, max(0, len(right) - 1)))
        change = data.draw(st.sampled_from(["replace", "drop", "add", "swap", "cut"]))
        symbol = data.draw(st.sampled_from(task.symbols))
        if change == "replace" and right:
            wrong[place] = symbol
        elif change == "drop" and right:
            del wrong[place]
        elif change == "swap":
            wrong.reverse()
        elif change == "cut":
            wrong = wrong[:place]
        else:
            wrong.insert(place, symbol)
        wrong = tuple(wrong)
    if is_right(task, wrong, right) or (not wrong and task.readout == "numbers"):
        return
    written = PLAIN.answer(task, wrong)
    frame = data.draw(st.sampled_from(["{}", "Answer: {}", "The answer is {}.", "It is {}", "[{}]", "```\n{}\n```"]))
    for reader in (PLAIN.strict, PLAIN.lenient):
        assert not is_right(task, reader(task, frame.format(written)), right), (written, right)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_question_that_is_repeated_and_cut_off_has_no_right_answer(data: st.DataObject) -> None:
    """Unless what is left of it is the right answer as it is written, symbol by symbol."""
    task, items = asked(data.draw(st.sampled_from(NAMES)))
    prompt, right = data.draw(st.sampled_from(items))
    words = data.draw(st.sampled_from([prompt.question, prompt.messages()[-1]["content"]])).split(" ")
    text = " ".join(words[: data.draw(st.integers(1, len(words)))])
    if is_right(task, PLAIN.lenient(task, text), right):
        assert is_right(task, PLAIN.strict(task, text.rstrip(",.")), right), text


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), st.text(max_size=60))
def test_any_text_is_read_without_an_error_and_gives_symbols(name: str, text: str) -> None:
    task = asked(name)[0]
    for reader in (PLAIN.strict, PLAIN.lenient):
        found = reader(task, text)
        if found is not None:
            assert all(map(float, found)) or True if task.readout == "numbers" else set(found) <= set(task.symbols)


def test_a_drawn_answer_cannot_be_asked_for() -> None:
    task = make_task("prose")
    assert words_of(task).refusal
    with pytest.raises(UsageError):
        prompts_of(task, 5, [0], 0, PLAIN, 1)


def test_words_are_of_tasks_that_exist() -> None:
    assert set(SAID) <= set(tasks.names())


def test_settings_and_bases_are_in_the_instruction() -> None:
    for name, part in {
        "regular:expression=(ab|ba)*": "(ab|ba)*",
        "modular_arithmetic:modulus=7": "modulo 7",
        "d_3": "at most 3 deep",
        "addition_appended:base=10": "base 10",
    }.items():
        assert part in PLAIN.instruction(make_task(name), 4)
    along, base = make_task("along:task=dyck_k:exact=true,axis=depth,at=12"), make_task("dyck_k")
    assert PLAIN.instruction(along, 3) == PLAIN.instruction(base, 4)


def test_a_file_of_items_is_asked_with_examples_from_its_training_part(tmp_path) -> None:
    path = tmp_path / "items.jsonl"
    lines = [{"input": f"{i % 10} {i // 10}", "answer": f"{i // 10} {i % 10}"} for i in range(100)]
    path.write_text("\n".join(map(json.dumps, lines)))
    task = make_task(f"jsonl:path={path}")
    trained = {" ".join(task.spelled(row)) for row in task.part("train").draw(2, 5, range(400)).prompts}
    for prompt, right in prompts_of(task, 2, range(20), 5, PLAIN, 3):
        assert right == tuple(reversed(prompt.question.split())) and prompt.question not in trained
        assert {question for question, _ in prompt.shots} <= trained and len(prompt.shots) == 3


def test_items_do_not_depend_on_their_batch_nor_examples_on_the_size() -> None:
    task = make_task("sort")
    many = prompts_of(task, 9, range(6), 1, PLAIN, 3)
    assert prompts_of(task, 9, [4, 2], 1, PLAIN, 3) == [many[4], many[2]]
    assert {prompt.shots for size in (7, 20) for prompt, _ in prompts_of(task, size, [0, 1], 1, PLAIN, 3)} == {
        many[0][0].shots
    }
    assert prompts_of(task, 9, [0], 1, PLAIN, 0)[0][0].shots == ()
