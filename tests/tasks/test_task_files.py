"""A task that a user brings as a Python file."""

import dataclasses
import os
import sys
from typing import Any

import pytest

from lengthwise.errors import UnknownName, UsageError
from lengthwise.tasks import make_task, tasks
from lengthwise.testing import check_task
from own_tasks import REPEAT, written


def test_file_is_found_with_and_without_its_class_and_settings(here):
    written(here / "mytask.py", REPEAT)
    for spec, letters in [
        ("mytask.py", 4),
        ("mytask.py::Repeat", 4),
        ("mytask.py:letters=3", 3),
        ("mytask.py::Repeat:letters=3", 3),
    ]:
        task = make_task(spec)
        assert type(task).__name__ == "Repeat" and len(task.symbols) == letters
        check_task(task, [1, 2, 9])


def test_file_spec_goes_round(here):
    path = written(here / "mytask.py", REPEAT)
    task: Any = make_task(f"{path}:letters=3")
    assert tasks.spec_of(task) == {"name": f"{path}::Repeat", "letters": 3}
    again = tasks.make(tasks.spec_of(task))
    assert again == task and type(again) is type(task)
    assert tasks.spec_of(dataclasses.replace(task, letters=2)) == {"name": f"{path}::Repeat", "letters": 2}
    assert "mytask.py::Repeat" not in tasks.names()


def test_edited_file_is_read_again_at_once(here):
    """Also when the edit keeps the length of the file and falls within the same second."""
    path = written(here / "mytask.py", REPEAT)
    before = make_task(path)
    stat = os.stat(path)
    written(here / "mytask.py", REPEAT.replace("letters: int = 4", "letters: int = 5"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert [len(before.symbols), len(make_task(path).symbols)] == [4, 5]
    assert not list(here.glob("__pycache__"))


def test_two_files_of_one_name_do_not_meet(here):
    for folder, letters in [("one", 4), ("two", 6)]:
        (here / folder).mkdir()
        written(here / folder / "mytask.py", REPEAT.replace("letters: int = 4", f"letters: int = {letters}"))
    assert len(make_task("one/mytask.py").symbols) == 4
    assert len(make_task("two/mytask.py").symbols) == 6


def test_file_gets_the_plain_language_without_our_future_imports(here):
    written(here / "mytask.py", REPEAT + "\nassert Repeat.__annotations__ == {'letters': int}\n")
    make_task("mytask.py")


def test_open_base_class_is_no_rival(here):
    text = REPEAT.replace("class Repeat(Task)", "class Repeat(Base)")
    text = text.replace("@dataclass", "class Base(Task):\n    pass\n\n\n@dataclass", 1)
    written(here / "mytask.py", text)
    assert tasks.spec_of(make_task("mytask.py"))["name"] == "mytask.py::Repeat"


def test_imported_tasks_do_not_count(here):
    written(here / "mytask.py", "from lengthwise.tasks.algorithmic import Sort\n" + REPEAT)
    assert type(make_task("mytask.py")).__name__ == "Repeat"


PLAIN = REPEAT.replace("@dataclass(frozen=True)\n", "").replace("letters: int = 4", "letters = 4")


def test_plain_class_works_without_settings(here):
    written(here / "mytask.py", PLAIN)
    task = make_task("mytask.py")
    check_task(task, [1, 3])
    assert tasks.spec_of(task) == {"name": "mytask.py::Repeat"}


@pytest.mark.parametrize(
    "text, spec, said",
    [
        (None, "mytask.py", r"^mytask\.py cannot be read: No such file or directory$"),
        ("x = 1\n", "mytask.py", r"^mytask\.py defines no subclass of .*Task$"),
        ("x = 1\n\ny = nothing + 1\n", "mytask.py", r"^mytask\.py, line 3: NameError: name 'nothing' is not defined$"),
        ("x = 1\ny = (\n", "mytask.py", r"^mytask\.py, line 2: SyntaxError: '\(' was never closed$"),
        ("def f():\n    return 1 / 0\n\n\nf()\n", "mytask.py", r"^mytask\.py, line 2: ZeroDivisionError: "),
        ("import json\n\njson.loads('{')\n", "mytask.py", r"^mytask\.py, line 3: JSONDecodeError: "),
        ("import sys\nsys.exit('bye')\n", "mytask.py", r"^mytask\.py, line 2: SystemExit: bye$"),
        ("import no_such_module\n", "mytask.py", r"^mytask\.py, line 1: ModuleNotFoundError: "),
        ("raise ValueError('one\\ntwo')\n", "mytask.py", r"^mytask\.py, line 1: ValueError: one$"),
        (REPEAT, "mytask.py::Repaet", r"^mytask\.py has no task 'Repaet'; did you mean 'Repeat'\? it has Repeat$"),
        (REPEAT, "mytask.py::", r"^mytask\.py has no task ''; it has Repeat$"),
        (REPEAT, "mytask.py::Repeat:leters=3", r"has no setting 'leters'; did you mean 'letters'\?"),
        (REPEAT, "mytask.py::Repeat:letters=many", r"letters takes a whole number, not 'many'"),
        (REPEAT, "mytask.txt", r"^unknown task 'mytask\.txt'; "),
        (
            PLAIN,
            "mytask.py:letters=3",
            r"^the task 'mytask\.py::Repeat' takes no settings, as its class is not a datac",
        ),
        (
            REPEAT + "\n\nclass Other(Repeat):\n    pass\n",
            "mytask.py",
            r"^mytask\.py has several tasks \(Repeat, Other\); choose one as in mytask\.py::Repeat$",
        ),
        (
            "from lengthwise.tasks.task import Task\nclass Bare(Task):\n    symbols = ('a',)\n",
            "mytask.py",
            r"^mytask\.py: the task Bare lacks sample, solve$",
        ),
        (
            REPEAT.replace("letters: int = 4", "letters: int"),
            "mytask.py",
            r"^the task 'mytask\.py::Repeat' needs letters, as in mytask\.py::Repeat:letters=…$",
        ),
    ],
)
def test_file_mistakes_are_told_in_a_sentence(here, text, spec, said):
    if text is not None:
        written(here / "mytask.py", text)
    with pytest.raises(UsageError, match=said) as caught:
        make_task(spec)
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_a_file(here):
    (here / "mytask.py").mkdir()
    with pytest.raises(UsageError, match=r"^mytask\.py cannot be read: "):
        make_task("mytask.py")


def test_a_failed_import_leaves_nothing_behind(here):
    written(here / "mytask.py", "x = 1 / 0\n")
    before = set(sys.modules)
    with pytest.raises(UsageError):
        make_task("mytask.py")
    assert not {name for name in set(sys.modules) - before if name.startswith("lengthwise_file")}


def test_unknown_names_stay_unknown():
    with pytest.raises(UnknownName, match="did you mean 'sort'"):
        tasks.make("srot")
