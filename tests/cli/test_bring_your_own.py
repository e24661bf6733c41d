"""The user's own task, from outside the package: a Python file, a regular expression, a file of items."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from small_runs import points_of

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "own-task.md"


def from_guide(language: str, holding: str) -> str:
    """The code block of docs/how-to/own-task.md that holds a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return next(block for block in blocks if holding in block)


@pytest.fixture
def python_file(tmp_path) -> str:
    (tmp_path / "mytask.py").write_text(from_guide("python", "class Repeat(Task)"))
    return "mytask.py"


@pytest.fixture
def data_file(tmp_path) -> str:
    items = [
        (size, [str((7 * size + 3 * item + place) % 5) for place in range(size)])
        for size in range(1, 7)
        for item in range(9)
    ]
    unique = {tuple(letters): size for size, letters in items}
    lines = [json.dumps({"input": list(x), "answer": sorted(x), "n": size}) for x, size in unique.items()]
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    return "items.jsonl"


@pytest.fixture
def automaton_file(tmp_path) -> str:
    rows = {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}
    dfa = {"alphabet": ["a", "b"], "start": "even", "accepting": ["even"], "transitions": rows}
    (tmp_path / "even.json").write_text(json.dumps(dfa))
    return "even.json"


def trained_and_measured(cli, tiny, *task: str, largest: int = 6) -> dict:
    """Train, then measure by the run alone, then by naming the task again; all three agree."""
    first = cli("train", *task, *tiny, "--folder", "run", "--json")
    assert first.code == 0, first.err
    content = json.loads(first.out)
    for again in ([], task):
        second = cli("measure", "run", *again, "--items", "80", "--json")
        assert second.code == 0, second.err
        assert points_of(json.loads(second.out)) == points_of(content)
    assert points_of(content)[-1]["size"] == largest
    return content


def test_a_python_file(cli, tiny, python_file):
    content = trained_and_measured(cli, tiny, f"{python_file}::Repeat:letters=3")
    assert content["plan"]["task"] == {"name": "mytask.py::Repeat", "letters": 3}
    assert [point["size"] for point in points_of(content)] == [1, 2, 3, 4, 5, 6]


def test_a_python_file_is_shown_with_samples(cli, python_file):
    answer = cli("tasks", python_file, "--show", "3")
    lines = answer.out.splitlines()
    assert answer.code == 0 and lines[:2] == ["mytask.py::Repeat", "Write a string twice."]
    samples = [line.split("  →  ") for line in lines if "  →  " in line]
    assert len(samples) == 3 and all(written == f"{prompt} {prompt}" for prompt, written in samples)


def test_a_python_file_that_was_moved(cli, tiny, python_file):
    """The sentence says how to go on, and going on that way works."""
    points = points_of(trained_and_measured(cli, tiny, python_file))
    Path("elsewhere").mkdir()
    Path(python_file).rename("elsewhere/mytask.py")
    answer = cli("measure", "run", "--items", "80")
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1
    assert "mytask.py cannot be read: No such file" in answer.err and "lengthwise measure run" in answer.err
    again = cli("measure", "run", "elsewhere/mytask.py", "--items", "80", "--json")
    assert again.code == 0 and points_of(json.loads(again.out)) == points


@pytest.mark.parametrize("more", [(), ("--member",)])
def test_a_regular_expression(cli, tiny, more):
    content = trained_and_measured(cli, tiny, "--regex", "(ab)*", *more)
    assert content["plan"]["task"]["name"] == ("regular_member" if more else "regular")
    assert [point["size"] for point in points_of(content)] == [2, 4, 6]


def test_an_automaton(cli, tiny, automaton_file):
    content = trained_and_measured(cli, tiny, "--dfa", automaton_file)
    assert content["plan"]["task"]["dfa"] == "even.json"


@pytest.mark.parametrize(
    "size", [["--size-column", "n"], ["--size-rule", "input length"], ["--size-rule", "answer length"], []]
)
def test_a_file_of_items(cli, tiny, data_file, size):
    trained_and_measured(cli, tiny, "--data", data_file, *size)


def test_warnings_about_the_data_are_told_unless_quiet(cli, tiny, tmp_path):
    (tmp_path / "items.jsonl").write_text(from_guide("json", '"input"'))
    call = ["train", "--data", "items.jsonl", *tiny, "--train-size", "2", "--test-size", "3"]
    assert cli(*call).err.startswith("warning: ")
    assert cli(*call, "--quiet").err == ""
    assert "warning: " in cli("tasks", "--data", "items.jsonl").err


def test_another_axis(cli, tiny):
    content = trained_and_measured(cli, tiny, "dyck_k", "--axis", "depth", "--at", "12")
    assert content["plan"]["task"]["at"] == 12


def test_a_symbol_that_the_terminal_lacks_survives_in_json(cli, tmp_path):
    (tmp_path / "items.jsonl").write_text(json.dumps({"input": ["é", "→"], "answer": ["ß"]}))
    content = json.loads(cli("tasks", "--data", "items.jsonl", "--show", "1", "--json").out)
    assert content["samples"] == [{"prompt": ["é", "→"], "answer": ["ß"]}]
