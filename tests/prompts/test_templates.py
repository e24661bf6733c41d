"""Templates of the user's, and renderings from a file of code."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.prompts.prompt import Prompt
from lengthwise.prompts.rendering import PlainRendering, make_rendering, prompts_of, renderings
from lengthwise.prompts.template import Template
from lengthwise.tasks import make_task
from lengthwise.testing import check_rendering

BUILT_IN = "{instruction}\n\n{examples}\nQuestion: {input}\nAnswer: {answer}\n"
OWN = "{{Rules}} {instruction}\n---\n{examples}\nQ: {input}\nA: {answer}\n"


def test_the_built_in_template_can_be_written_as_a_file() -> None:
    assert Template.parse(BUILT_IN) == Template()


def test_what_is_shared_is_the_beginning_of_the_text() -> None:
    prompt = Prompt("Sort.", (("2 1", "1 2"), ("3 1", "1 3")), "9 4")
    assert prompt.text() == (
        "Sort.\n\nQuestion: 2 1\nAnswer: 1 2\n\nQuestion: 3 1\nAnswer: 1 3\n\nQuestion: 9 4\nAnswer:"
    )
    assert prompt.text() == prompt.shared() + "9 4\nAnswer:"
    roles = [message["role"] for message in prompt.messages()]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert prompt.messages()[2]["content"] == "1 2" and prompt.messages()[-1]["content"] == "Question: 9 4\nAnswer:"


def test_a_file_makes_a_rendering(tmp_path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(OWN)
    rendering = make_rendering(str(path))
    check_rendering(rendering)
    prompt, _ = prompts_of(make_task("sort"), 4, [0], 0, rendering, 2)[0]
    assert prompt.text().startswith("{Rules} Write distinct numbers") and prompt.text().count("\nA: ") == 2
    assert prompt.text().endswith(f"Q: {prompt.question}\nA:") and prompt.text().startswith(prompt.shared())
    assert rendering.lenient(make_task("sort"), "1 2 3\n\nQ: 5 4\nA: 4 5") == ("1", "2", "3")
    assert rendering.lenient(make_task("sort"), "Q: 3 2 1\nA: 1 2 3") is None
    same = renderings.restore(renderings.spec_of(renderings.make(f"plain:file={path}")))
    assert same == PlainRendering(str(path))


def test_fields_in_a_question_stay_as_they_are() -> None:
    prompt = Prompt("{input} {answer}", (("{answer}", "{{"),), "{examples}")
    assert "Question: {answer}\nAnswer: {{\n" in prompt.text() and prompt.text().startswith("{input} {answer}\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "input"),
        ("{instruction} {input}", "answer"),
        ("{answer}\n{input}", "input"),
        ("{input}\n{answer} {examples}", "examples"),
        ("{input}\n{answer} {instruction}", "instruction"),
        ("{instruction} {input}\n{answer}", "line"),
        ("{examples} {input}\n{answer}", "line"),
        ("{input}\n{input}\n{answer}", "2 times"),
        ("{input}{answer}", "white space"),
        ("{question}\n{input}\n{answer}", "question"),
        ("{}\n{input}\n{answer}", "not a field"),
        ("x" * 200_000 + "{input}\n{answer}", "characters"),
    ],
)
@pytest.mark.wording
def test_faults_are_told_in_one_sentence(text: str, fault: str, tmp_path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match=fault) as told:
        make_rendering(str(path))
    assert "\n" not in str(told.value) and "own.txt" in str(told.value)


def test_files_that_are_no_text(tmp_path) -> None:
    (tmp_path / "own.txt").write_bytes(b"\xff\xfe\x00{input}")
    for path in (tmp_path / "own.txt", tmp_path / "missing.txt", tmp_path):
        with pytest.raises(UsageError):
            PlainRendering(str(path))


OWN_CLASS = """
from dataclasses import dataclass
from lengthwise.prompts.rendering import PlainRendering

@dataclass(frozen=True)
class Shouted(PlainRendering):
    def question(self, task, symbols):
        return super().question(task, symbols) + "!"

@dataclass(frozen=True)
class Broken(PlainRendering):
    def strict(self, task, text):
        return ("1",)
"""


def test_a_class_in_a_file_of_the_users(tmp_path) -> None:
    path = tmp_path / "my.py"
    path.write_text(OWN_CLASS)
    shouted = make_rendering(f"{path}::Shouted")
    assert prompts_of(make_task("sort"), 3, [0], 0, shouted, 0)[0][0].question.endswith("!")
    with pytest.raises(UsageError, match="contract"):
        make_rendering(f"{path}::Broken")
    with pytest.raises(UsageError):
        make_rendering("plane")


def test_a_number_of_examples_below_zero_is_refused() -> None:
    with pytest.raises(UsageError):
        prompts_of(make_task("sort"), 3, [0], 0, make_rendering("plain"), -1)


def test_the_page_about_prompts_runs_and_shows_what_it_prints() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "prompts.md").read_text(encoding="utf-8")
    names: dict = {"__name__": "page"}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(block, names)
    assert re.search(r"```text\n(.*?)```", page, re.DOTALL)[1] in said.getvalue()
    assert BUILT_IN in page
    check_rendering(names["Terse"]())
