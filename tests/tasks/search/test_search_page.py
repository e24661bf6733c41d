"""What docs/reference/search.md says is true."""

from __future__ import annotations

import doctest
import json
import shlex
from pathlib import Path

import pytest

from lengthwise.cli import main, parser_of
from lengthwise.cli.options import task_needed
from lengthwise.errors import UsageError
from lengthwise.tasks import make_task, tasks
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.search.search_task import SearchTask
from lengthwise.testing import check_task
from own_tasks import SEARCH, SEARCH_PAGE, blocks, written
from searches import PROBLEMS, items

COMMANDS = [line.removeprefix("$ ") for text in blocks(SEARCH_PAGE)["console"] for line in text.splitlines()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "mysearch.py", SEARCH)
    return tmp_path


def test_every_example_gives_what_the_page_shows() -> None:
    examples = doctest.DocTestParser().get_doctest(SEARCH_PAGE, {}, "search.md", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    assert runner.summarize(verbose=False).failed == 0 and len(examples.examples) > 15


def test_the_page_names_every_problem() -> None:
    assert all(f"| `{name}` |" in SEARCH_PAGE for name in PROBLEMS)


@pytest.mark.system
def test_a_search_of_ones_own_keeps_the_contract(here: Path) -> None:
    task = make_task("mysearch.py::Reach")
    check_task(task, [2, 3, 5], items=16)
    assert isinstance(task, SearchTask)
    for prompt, trace in items(task, 4, 20):
        assert task.verify(prompt, trace).valid and task.contour(prompt, trace)[-1] == 4
        assert task.unbracketed(prompt, task.brackets(prompt, trace).word) == trace
        assert task.numbers_of(prompt, trace)["goal_depth"] == 4
        assert not task.verify(prompt, trace[:-1]).valid
    assert any("<" in trace for _, trace in items(task, 4, 20)), "some searches step back"
    assert [level.name for level in ladder_of(task, 3)] == ["training", "depth 4", "depth 5"]
    assert " ".join(task.solve(list("8..."))) == "d 2 d 4 d 8"
    with pytest.raises(UsageError, match=r"^a prompt is a target and a dot for each step"):
        task.solve(["8"])


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page(here: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that show are run; of the others the options are parsed and their items drawn."""
    program, name, *arguments = shlex.split(line)
    assert program == "lengthwise"
    if name == "tasks":
        assert main([name, *arguments]) == 0
        shown = capsys.readouterr().out
        assert shown.count("→") >= 4 and max(map(len, shown.splitlines())) <= 80
        return
    options = parser_of(name).parse_args(arguments)
    task = tasks.make(task_needed(options))
    for size in (options.train_size, options.test_size):
        assert task.draw(size, seed=0, items=[0]).prompts.shape[0] == 1


@pytest.mark.system
def test_training_on_a_search_of_ones_own(here: Path) -> None:
    small = "--steps 4 --batch 4 --depth 1 --width 16 --heads 2 --items 4 --folder run --quiet"
    assert main(["train", "mysearch.py::Reach", "--train-size", "3", "--test-size", "5", *small.split()]) == 0
    found = json.loads((here / "run" / "run.json").read_text())
    assert found["plan"]["task"]["name"] == "mysearch.py::Reach"
