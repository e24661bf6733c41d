"""What docs/how-to/own-task.md says is true."""

import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

from lengthwise.cli import main, parser_of
from lengthwise.cli.options import task_needed
from lengthwise.tasks import make_task, tasks
from lengthwise.tasks.batch import SPECIALS
from lengthwise.tasks.jsonl import JsonLines
from lengthwise.testing import check_task
from own_tasks import BLOCKS, PAGE, REPEAT, written


def block(kind: str, mark: str) -> str:
    (found,) = [text for text in BLOCKS[kind] if mark in text]
    return found


@pytest.mark.system
def test_page_tests_pass_under_pytest(here):
    written(here / "mytask.py", REPEAT)
    written(here / "test_mytask.py", block("python", "check_task"))
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mytask.py"]
    done = subprocess.run(run, cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_page_tests_fail_when_the_task_is_wrong(here):
    written(here / "mytask.py", REPEAT.replace("[*prompt, *prompt]", "[*prompt]"))
    names: dict[str, Any] = {}
    exec(compile(block("python", "check_task"), "page", "exec"), names)
    for name in ("test_repeat", "test_repeat_with_three_letters"):
        with pytest.raises(AssertionError, match=r"sampled .* solved"):
            names[name]()


def test_page_worked_example(here):
    written(here / "mytask.py", REPEAT)
    doc = re.search(r"`([a-z ]+)` → `([a-z ]+)`", REPEAT)
    assert doc and list(make_task("mytask.py").solve(doc[1].split())) == doc[2].split()


def test_page_items_load_as_the_page_says(here, capsys):
    (text,) = BLOCKS["json"]
    written(here / "items.jsonl", text)
    program = block("python", "jsonl:path=")
    exec(compile(program, "page", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(.*\)  # (.*)", program)
    assert printed[: len(promised)] == promised and len(promised) == 2
    task = JsonLines("items.jsonl", size="n")
    assert task.shared_sizes() == [2, 3], "the page says that both sizes are too small to hold items out"
    check_task(task, [2, 3])
    check_task(JsonLines("items.jsonl"), [2, 3])


COMMANDS = [line.removeprefix("$ ") for text in BLOCKS["console"] for line in text.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_page_commands_name_tasks_that_exist(here, line, capsys):
    """Each command's options are parsed and its task is made and drawn from; those that only show are run."""
    written(here / "mytask.py", REPEAT)
    written(here / "items.jsonl", BLOCKS["json"][0])
    program, name, *arguments = shlex.split(line)
    options = parser_of(name).parse_args(arguments)
    task = tasks.make(task_needed(options))
    assert program == "lengthwise"
    if name == "tasks":
        assert main([name, *arguments]) == 0
        assert capsys.readouterr().out.count("→") >= options.show
    else:
        for size in (options.train_size, options.test_size):
            assert task.draw(size, seed=0, items=[0]).prompts.shape[0] == 1


def test_page_names_what_exists():
    assert f'entry-points."{tasks.group}"' in block("toml", "entry-points")
    assert all(special in PAGE for special in SPECIALS)
    specs = re.findall(r'`(?:tasks\.make\("(.*?)"\)|(regular\w*:[^`]+))`', PAGE)
    assert len(specs) == 3
    for spec in specs:
        check_task(tasks.make("".join(spec)), [2, 4])
