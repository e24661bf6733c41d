"""Tasks that a user brings: a Python file, a file of items, another axis; and that the page about them is true."""

import dataclasses
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.cli import main
from lengthwise.cli.options import Parser, task_needed
from lengthwise.errors import UnknownName, UsageError
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.along import Along
from lengthwise.tasks.batch import NOTHING, SPECIALS
from lengthwise.tasks.jsonl import JsonLines
from lengthwise.tasks.python_file import load_task_file
from lengthwise.testing import check_task

PAGE = (Path(__file__).parents[2] / "docs" / "own-task.md").read_text()
BLOCKS = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S) for kind in ("python", "json", "toml", "console")}

REPEAT = next(block for block in BLOCKS["python"] if "class Repeat" in block)

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
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def lines(path: Path, *items: object) -> str:
    return written(path, "".join(json.dumps(item) + "\n" for item in items))


# --- a Python file ----------------------------------------------------------------------------------------------------


def test_file_is_found_with_and_without_its_class_and_settings(here):
    written(here / "mytask.py", REPEAT)
    for spec, letters in [
        ("mytask.py", 4),
        ("mytask.py::Repeat", 4),
        ("mytask.py:letters=3", 3),
        ("mytask.py::Repeat:letters=3", 3),
    ]:
        task = load_task_file(spec)
        assert type(task).__name__ == "Repeat" and len(task.symbols) == letters
        check_task(task, [1, 2, 9])


def test_file_spec_goes_round(here):
    path = written(here / "mytask.py", REPEAT)
    task: Any = load_task_file(f"{path}:letters=3")
    assert tasks.spec_of(task) == {"name": f"{path}::Repeat", "letters": 3}
    again = tasks.make(tasks.spec_of(task))
    assert again == task and type(again) is type(task)
    assert tasks.spec_of(dataclasses.replace(task, letters=2)) == {"name": f"{path}::Repeat", "letters": 2}
    assert "mytask.py::Repeat" not in tasks.names()


def test_edited_file_is_read_again_at_once(here):
    """Also when the edit keeps the length of the file and falls within the same second."""
    path = written(here / "mytask.py", REPEAT)
    before = load_task_file(path)
    stat = os.stat(path)
    written(here / "mytask.py", REPEAT.replace("letters: int = 4", "letters: int = 5"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert [len(before.symbols), len(load_task_file(path).symbols)] == [4, 5]
    assert not list(here.glob("__pycache__"))


def test_two_files_of_one_name_do_not_meet(here):
    for folder, letters in [("one", 4), ("two", 6)]:
        (here / folder).mkdir()
        written(here / folder / "mytask.py", REPEAT.replace("letters: int = 4", f"letters: int = {letters}"))
    assert len(load_task_file("one/mytask.py").symbols) == 4
    assert len(load_task_file("two/mytask.py").symbols) == 6


def test_file_gets_the_plain_language_without_our_future_imports(here):
    written(here / "mytask.py", REPEAT + "\nassert Repeat.__annotations__ == {'letters': int}\n")
    load_task_file("mytask.py")


def test_open_base_class_is_no_rival(here):
    text = REPEAT.replace("class Repeat(Task)", "class Repeat(Base)")
    text = text.replace("@dataclass", "class Base(Task):\n    pass\n\n\n@dataclass", 1)
    written(here / "mytask.py", text)
    assert tasks.spec_of(load_task_file("mytask.py"))["name"] == "mytask.py::Repeat"


def test_imported_tasks_do_not_count(here):
    written(here / "mytask.py", "from lengthwise.tasks.algorithmic.sort import Sort\n" + REPEAT)
    assert type(load_task_file("mytask.py")).__name__ == "Repeat"


PLAIN = REPEAT.replace("@dataclass(frozen=True)\n", "").replace("letters: int = 4", "letters = 4")


def test_plain_class_works_without_settings(here):
    written(here / "mytask.py", PLAIN)
    task = load_task_file("mytask.py")
    check_task(task, [1, 3])
    assert tasks.spec_of(task) == {"name": "mytask.py::Repeat"}


@pytest.mark.parametrize(
    "text, spec, said",
    [
        (None, "mytask.py", r"^mytask\.py: there is no such file$"),
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
        (REPEAT, "mytask.txt", r"^'mytask\.txt' names no Python file; write"),
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
        load_task_file(spec)
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_a_file(here):
    (here / "mytask.py").mkdir()
    with pytest.raises(UsageError, match=r"^mytask\.py cannot be read: "):
        load_task_file("mytask.py")


def test_a_failed_import_leaves_nothing_behind(here):
    written(here / "mytask.py", "x = 1 / 0\n")
    before = set(sys.modules)
    with pytest.raises(UsageError):
        load_task_file("mytask.py")
    assert not {name for name in set(sys.modules) - before if name.startswith("lengthwise_file")}


def test_unknown_names_stay_unknown():
    with pytest.raises(UnknownName, match="did you mean 'sort'"):
        tasks.make("srot")


# --- a file of items --------------------------------------------------------------------------------------------------


def many(path: Path, count: int = 300) -> str:
    """Numbers to be doubled: inputs of 1 to 5 digits, answers one longer for some."""
    numbers = np.random.default_rng(0).integers(0, 10 ** np.repeat([1, 2, 3, 4, 5], count // 5))
    unique = dict.fromkeys(str(number) for number in numbers)
    return lines(path, *({"input": text, "answer": str(2 * int(text)), "n": len(text) * 10} for text in unique))


def test_items_keep_the_contract(tmp_path):
    path = many(tmp_path / "items.jsonl")
    check_task(JsonLines(path), [1, 2, 3, 4, 5])
    check_task(JsonLines(path, size="n"), [10, 20, 50])
    check_task(JsonLines(path, size="answer length").part("test"), [1, 2, 3])
    check_task(tasks.make(f"jsonl:path={path},size=n,held_out=0.5").part("train"), [10, 20, 50])


def test_items_golden(tmp_path):
    task = JsonLines(
        lines(
            tmp_path / "items.jsonl",
            {"input": "10 2", "answer": "o k"},
            {"input": ["10", 2, 7], "answer": ["a b", 10]},
            {"input": "x y", "answer": "y"},
        )
    )
    assert task.symbols == ("10", "2", "7", "a b", "k", "o", "x", "y")
    assert task.solve(["10", "2"]) == ("o", "k")
    assert task.solve(["10", "2", "7"]) == ("a b", "10")
    assert task.sizes(0, 99) == [2, 3]
    assert (task.axes[0].smallest, task.axes[0].largest) == (2, 3)
    drawn = task.draw(2, seed=0, items=range(50))
    assert {(*map(tuple, (p, a)),) for p, a in zip(drawn.prompts.tolist(), drawn.answers.tolist(), strict=True)} == {
        ((0, 1), (5, 4)),
        ((6, 7), (7, NOTHING)),
    }


def test_items_are_drawn_uniformly(tmp_path):
    """Each of 8 items of a size comes up n/8 times within 4.5 standard deviations."""
    path = lines(tmp_path / "items.jsonl", *({"input": letter, "answer": letter} for letter in "abcdefgh"))
    counts = np.bincount(JsonLines(path).draw(1, seed=1, items=range(8000)).prompts[:, 0], minlength=8)
    assert np.abs(counts - 1000).max() < 4.5 * np.sqrt(8000 * 7 / 64)


def test_parts_share_no_input_and_miss_none(tmp_path):
    task = JsonLines(many(tmp_path / "items.jsonl"), held_out=0.3)
    assert task.shared_sizes() == [] and task.warnings() == []
    for size in (1, 2, 3, 4, 5):
        seen = {
            split: {task.spelled(row) for row in part.draw(size, seed=0, items=range(4000)).prompts}
            for split, part in (("train", task.part("train")), ("test", task.part("test")), ("all", task))
        }
        assert seen["train"] and seen["test"] and not seen["train"] & seen["test"]
        assert seen["train"] | seen["test"] == seen["all"]
    assert len(seen["test"]) < len(seen["train"]), "three in ten are for testing"


def test_parts_have_the_widths_of_the_whole_file(tmp_path):
    items = [{"input": "a" * n, "answer": "b" * (21 - n), "n": 1} for n in range(1, 21)]
    task = JsonLines(lines(tmp_path / "items.jsonl", *items), size="n", held_out=0.5)
    for part in (task, task.part("train"), task.part("test")):
        drawn = part.draw(1, seed=0, items=[0])
        assert (drawn.prompts.shape, drawn.answers.shape) == ((1, 20), (1, 20))


def test_share_held_out(tmp_path):
    items = ({"input": [number], "answer": "x"} for number in range(4000))
    task = JsonLines(lines(tmp_path / "items.jsonl", *items), held_out=0.25)
    held = task._held(np.arange(4000)).mean()
    assert abs(held - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 4000)


def test_part_depends_on_the_input_alone(tmp_path):
    """Not on its line, on its answer, or on how the tokens were written."""
    words = [f"{a}{b}" for a in "pqrst" for b in "uvwxyz"]
    first = JsonLines(lines(tmp_path / "a.jsonl", *({"input": w, "answer": "1"} for w in words)), held_out=0.4)
    second = JsonLines(
        lines(tmp_path / "b.jsonl", *({"input": list(w), "answer": "0"} for w in words[::-1])), held_out=0.4
    )

    def tested(task: JsonLines) -> set[tuple[str, ...]]:
        return {task.spelled(row) for row in task.part("test").draw(2, seed=0, items=range(2000)).prompts}

    assert tested(first) == tested(second)
    assert 0 < len(tested(first)) < len(words)


def test_small_sizes_fall_back_to_all_and_say_so(tmp_path):
    path = lines(tmp_path / "items.jsonl", *({"input": "a" * n, "answer": "b"} for n in range(1, 13)))
    task = JsonLines(path)
    assert task.shared_sizes() == list(range(1, 13))
    assert task.part("train").draw(3, 0, [0]).prompts.tolist() == task.part("test").draw(3, 0, [0]).prompts.tolist()
    assert task.warnings() == [
        f"{path}: no item is held out at size 1, 2, 3, 4, 5, 6, 7, 8 and 4 more, so what is tested there was trained on"
    ]


def test_nothing_held_out(tmp_path):
    task = JsonLines(many(tmp_path / "items.jsonl"), held_out=0.0)
    assert task.shared_sizes() == [1, 2, 3, 4, 5]


def test_the_sum_of_the_page_has_an_answer_of_one_token(tmp_path):
    item = {"input": "5 + 7", "answer": "12"}
    assert json.dumps(item) in PAGE
    task = JsonLines(lines(tmp_path / "items.jsonl", item))
    assert task.solve(["5", "+", "7"]) == ("12",)


@pytest.mark.parametrize(
    "items, table",
    [
        # no text holds white space: characters
        ([("12", "3")], {"12": "3"}),
        ([("ab", "<pad>")], {"ab": "<pad>"}),
        # the input, or the answer, of any one line decides for all texts of all lines
        ([("12", "34"), ("1 2", "3"), ("56", "78")], {("12",): ["34"], ("1", "2"): ["3"], ("56",): ["78"]}),
        ([("1 2", "34"), ("12", "34"), ("56", "78")], {("1", "2"): ["34"], ("12",): ["34"], ("56",): ["78"]}),
        ([("12", "34"), ("56", "7 8")], {("12",): ["34"], ("56",): ["7", "8"]}),
        # at either end, between, and nothing else
        ([("12", "34"), (" 56", "78")], {("12",): ["34"], ("56",): ["78"]}),
        ([("12", "34"), ("56", "78 ")], {("12",): ["34"], ("56",): ["78"]}),
        ([("12", "34"), ("  5 \t\n 6  ", "78")], {("12",): ["34"], ("5", "6"): ["78"]}),
        ([("12", "34"), (" ", "78")], {("12",): ["34"], (): ["78"]}),
        # an empty text has no tokens either way and decides nothing
        ([("12", "34"), ("", "78")], {"12": "34", (): "78"}),
        ([("1 2", "34"), ("", "78")], {("1", "2"): ["34"], (): ["78"]}),
        # a list is taken as it is, and what its tokens hold decides nothing
        ([("12", ["3 4", 56])], {"12": ["3 4", "56"]}),
        ([(["12"], "34"), ([" "], ["\u00a0", 5])], {("12",): "34", (" ",): ["\u00a0", "5"]}),
        ([("1 2", ["3 4", 56]), (["a b"], "cd")], {("1", "2"): ["3 4", "56"], ("a b",): ["cd"]}),
    ],
)
def test_one_rule_of_splitting_holds_for_the_whole_file(tmp_path, items, table):
    """`table` is input → answer as sequences of tokens, of which a string is one of characters."""
    objects = [{"input": i, "answer": a, "n": 1, "a note": "with white space"} for i, a in items]
    for order in (objects, objects[::-1]):
        task = JsonLines(lines(tmp_path / "items.jsonl", *order), size="n")
        assert {tuple(k): task.solve(tuple(k)) for k in table} == {tuple(k): tuple(v) for k, v in table.items()}
        assert set(task.symbols) == {word for pair in table.items() for part in pair for word in part}
        assert not any("white space" in said for said in task.warnings())


@pytest.mark.parametrize("blank", [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()], ids=ascii)
def test_every_white_space_of_unicode_splits_and_decides(tmp_path, blank):
    """Written as it is where JSON allows it: U+0085 or U+2028 in a text ends no line of the file."""
    path = tmp_path / "items.jsonl"
    items = [{"input": "12", "answer": "34"}, {"input": f"a{blank}bc", "answer": "d"}]
    path.write_bytes("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode())
    task = JsonLines(str(path))
    assert (task.solve(["12"]), task.solve(["a", "bc"]), len(task.symbols)) == (("34",), ("d",), 5)


@pytest.mark.parametrize("mark", ["\u200b", "\u2060", "\ufeff", "\u2800"], ids=ascii)
def test_what_only_looks_like_white_space_is_a_character(tmp_path, mark):
    task = JsonLines(lines(tmp_path / "items.jsonl", {"input": f"a{mark}b", "answer": "12"}))
    assert task.solve(["a", mark, "b"]) == ("1", "2")


value = st.one_of(st.text("ab", max_size=3), st.text("ab \u3000", max_size=3), st.lists(st.sampled_from(["ab", "a b"])))


@settings(max_examples=100, deadline=None)
@given(st.lists(value, max_size=5), st.lists(value.filter(lambda v: "".join(v).strip()), min_size=1, max_size=5))
def test_splitting_follows_the_rule_in_any_file(tmp_path_factory, inputs, answers):
    asked = [{"input": text, "answer": "x", "n": 1} for text in inputs]
    told = [{"input": [number], "answer": text, "n": 1} for number, text in enumerate(answers)]
    task = JsonLines(lines(tmp_path_factory.mktemp("items") / "items.jsonl", *asked, *told), size="n")
    words = any(mark.isspace() for text in (*inputs, *answers) if isinstance(text, str) for mark in text)

    def tokens(text: str | list[str]) -> tuple[str, ...]:
        return tuple(text.split() if words and isinstance(text, str) else text)

    assert all(task.solve(tokens(text)) == ("x",) for text in inputs)
    assert [task.solve([str(number)]) for number in range(len(answers))] == [tokens(text) for text in answers]


GOOD = '{"input": "ab", "answer": "b"}\n'
SPACED = '{"input": "1 2", "answer": "xy"}\n'


@pytest.mark.parametrize(
    "text, size, said",
    [
        (GOOD + "\n{oops\n", "input length", "line 3: this is not JSON"),
        (GOOD + "[1, 2]\n", "input length", "line 2: an item is an object such as"),
        (GOOD + '{"input": "ab"}\n', "input length", "line 2: the key 'answer' is missing; it has input"),
        (
            GOOD + '{"input": "ab", "anwser": 1}\n',
            "input length",
            "line 2: the key 'answer' is missing; it has input, anwser",
        ),
        (GOOD + '{"answer": "ab"}\n', "input length", "line 2: the key 'input' is missing"),
        (
            GOOD + '{"input": "a", "answer": 5}\n',
            "input length",
            "line 2: the answer is text or a list of tokens, not 5",
        ),
        (
            GOOD + '{"input": ["a", 1.5], "answer": "b"}\n',
            "input length",
            "line 2: a token of the input is .*, not 1.5",
        ),
        (GOOD + '{"input": ["a", true], "answer": "b"}\n', "input length", "line 2: a token of the input .*, not true"),
        (GOOD + '{"input": ["a", ""], "answer": "b"}\n', "input length", 'line 2: a token of the input .*, not ""'),
        (GOOD + '{"input": "a", "answer": ""}\n', "input length", "line 2: the answer is empty"),
        (GOOD + '{"input": "a", "answer": " "}\n', "input length", "line 2: the answer is empty"),
        (GOOD + '{"input": "a", "answer": []}\n', "input length", "line 2: the answer is empty"),
        (
            GOOD + '{"input": "", "answer": "b"}\n',
            "input length",
            "line 2: the size .* is a positive whole number, not 0",
        ),
        (GOOD, "n", "line 1: there is no column 'n' to take the size from; it has input, answer"),
        (GOOD, "input lenght", "line 1: there is no column 'input lenght' .* did you mean 'input length'\\?"),
        ('{"input": "a", "answer": "b", "n": 0}\n', "n", "line 1: the size \\(n\\) is a positive whole number, not 0"),
        ('{"input": "a", "answer": "b", "n": 2.0}\n', "n", "line 1: the size \\(n\\) is .*, not 2.0"),
        ('{"input": "a", "answer": "b", "n": true}\n', "n", "line 1: the size \\(n\\) is .*, not true"),
        ('{"input": "a", "answer": "b", "n": 1e99}\n', "n", "line 1: the size \\(n\\) is .*, not 1e"),
        ('{"input": "a", "answer": "b", "n": ' + "9" * 30 + "}\n", "n", "line 1: the size \\(n\\) is .*, not 999"),
        (
            GOOD + '{"input": "a <pad> b", "answer": "b"}\n',
            "input length",
            "line 2: the input holds <pad>, which is reserved",
        ),
        (GOOD + '{"input": "a", "answer": ["<eos>"]}\n', "input length", "line 2: the answer holds <eos>"),
        (
            GOOD * 2 + '{"input": ["a", "b"], "answer": "ba"}\n',
            "input length",
            "line 3: the answer is `b a`, but line 1 .*`b`",
        ),
        (SPACED + '{"input": " 1  2", "answer": "x y"}\n', "input length", "line 2: the answer is `x y`, but .*`xy`$"),
        (GOOD + "{oops\n" + SPACED, "input length", "line 2: this is not JSON"),
        (GOOD + SPACED + "{oops\n", "input length", "line 3: this is not JSON"),
        ('{"input": "<pad>", "answer": "b"}\n' + SPACED, "input length", "line 1: the input holds <pad>"),
    ],
)
def test_item_mistakes_name_their_line(here, text, size, said):
    written(here / "items.jsonl", text)
    with pytest.raises(UsageError, match=f"^items\\.jsonl, {said}") as caught:
        JsonLines("items.jsonl", size=size).symbols
    assert "\n" not in str(caught.value)


def test_files_without_items(here):
    with pytest.raises(UsageError, match=r"^items\.jsonl cannot be read: No such file"):
        JsonLines("items.jsonl").symbols
    written(here / "items.jsonl", "\n  \n")
    with pytest.raises(UsageError, match=r"^items\.jsonl is empty; each line holds"):
        JsonLines("items.jsonl").symbols
    (here / "items.jsonl").write_bytes(GOOD.encode() + b'{"input": "\xff", "answer": "b"}\n')
    with pytest.raises(UsageError, match=r"^items\.jsonl, line 2: this is not UTF-8"):
        JsonLines("items.jsonl").symbols


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="a pipe has no name here")
def test_a_pipe_that_has_to_be_read_twice_is_refused(here):
    """It cannot be, and what is left of it after the first reading is not the file."""
    source, sink = os.pipe()
    os.write(sink, (GOOD + SPACED + GOOD.replace("a", "c")).encode())
    os.close(sink)
    try:
        with pytest.raises(UsageError, match=r"^/dev/fd/\d+ cannot be read: .*seek"):
            JsonLines(f"/dev/fd/{source}").symbols
    finally:
        os.close(source)


def test_byte_order_mark_and_windows_lines_are_read(here):
    (here / "items.jsonl").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode() * 2)
    assert JsonLines("items.jsonl").symbols == ("a", "b")
    (here / "items.jsonl").write_bytes(b"\xef\xbb\xbf" + (GOOD + SPACED).replace("\n", "\r\n").encode())
    assert JsonLines("items.jsonl").symbols == ("1", "2", "ab", "b", "xy"), "also when it is read twice"


def test_wrong_questions_to_items(here):
    written(here / "items.jsonl", GOOD + '{"input": "abab", "answer": "b"}\n')
    task = JsonLines("items.jsonl")
    with pytest.raises(UsageError, match=r"no items of size 3; .*\(tokens in the input\) begin 2, 4 and end at 4$"):
        task.draw(3, 0, [0])
    with pytest.raises(UsageError, match=r"^items\.jsonl has no input `b a`"):
        task.solve(["b", "a"])
    with pytest.raises(UsageError, match="held_out is a share"):
        JsonLines("items.jsonl", held_out=1.0)
    with pytest.raises(UsageError, match=r"the task 'jsonl' needs path, as in jsonl:path=…"):
        tasks.make("jsonl")
    with pytest.raises(UsageError, match="split is one of all, train, test"):
        tasks.make("jsonl:path=items.jsonl,split=half")


def test_an_empty_input_may_have_a_size(tmp_path):
    path = lines(tmp_path / "items.jsonl", {"input": "", "answer": "b", "n": 1}, {"input": "aa", "answer": "b", "n": 2})
    check_task(JsonLines(path, size="n"), [1, 2])


def test_items_are_read_once_and_again_when_the_file_changes(here, monkeypatch):
    written(here / "items.jsonl", GOOD)
    first = JsonLines("items.jsonl")
    assert first._items is JsonLines("items.jsonl").part("test")._items
    written(here / "items.jsonl", '{"input": "ab", "answer": "c"}\n{"input": "b", "answer": "c"}\n')
    assert JsonLines("items.jsonl").symbols == ("a", "b", "c")
    assert first.symbols == ("a", "b"), "an object keeps the items it has begun with"
    (here / "other").mkdir()
    written(here / "items.jsonl", GOOD)
    written(here / "other" / "items.jsonl", GOOD.replace("b", "d"))
    for folder, symbols in [(here, ("a", "b")), (here / "other", ("a", "d"))]:
        os.utime(folder / "items.jsonl", ns=(0, 10**18))
        monkeypatch.chdir(folder)
        assert JsonLines("items.jsonl").symbols == symbols


def test_items_spec_goes_round(tmp_path):
    path = many(tmp_path / "items.jsonl")
    task = tasks.make(f"jsonl:path={path},size=n,held_out=0.2")
    assert tasks.make(tasks.spec_of(task)) == task
    test = task.part("test")
    assert tasks.spec_of(test) == {"name": "jsonl", "path": path, "size": "n", "held_out": 0.2, "split": "test"}
    assert tasks.make(tasks.spec_of(test)) == test


token = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.lists(token, max_size=4).map(tuple), st.lists(token, min_size=1, max_size=4), min_size=1, max_size=8
    )
)
def test_what_is_written_is_what_is_drawn_and_solved(tmp_path_factory, table):
    """As lists and as text: every item drawn is a line of the file, and every line is solved."""
    table = {k: v for k, v in table.items() if not set(SPECIALS) & {*k, *v}}
    table = table or {("a",): ["b"]}
    folder = tmp_path_factory.mktemp("items")
    listed = lines(folder / "list.jsonl", *({"input": k, "answer": v, "n": 1} for k, v in table.items()))
    spaced = lines(
        folder / "text.jsonl",
        *({"input": " ".join(k), "answer": " ".join(v), "n": 1} for k, v in table.items()),
        {"input": " " + " ".join(last := [*table][-1]), "answer": " ".join(table[last]), "n": 1},
    )
    for path in (listed, spaced):
        task = JsonLines(path, size="n")
        assert set(task.symbols) == {word for k, v in table.items() for word in (*k, *v)}
        assert list(task.symbols) == sorted(task.symbols)
        assert all(list(task.solve(k)) == v for k, v in table.items())
        drawn = task.draw(1, seed=0, items=range(20))
        for prompt, answer in zip(drawn.prompts, drawn.answers, strict=True):
            assert list(task.spelled(answer)) == table[task.spelled(prompt)]


# --- another axis -----------------------------------------------------------------------------------------------------


@pytest.fixture
def runs(here):
    written(here / "runs.py", GROWING)
    return "runs.py"


def test_along_keeps_the_contract(runs):
    task = tasks.make(f"along:task={runs},axis=depth,at=3")
    assert isinstance(task, Along) and task.axes == (task.base.axes[1],)
    check_task(task, [1, 2, 3, 6])
    check_task(task.base, [1, 4])


def test_along_is_the_base_at_its_fixed_size(runs):
    task = Along(runs, "depth", 3)
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
    assert Along(runs, "depth", 1).sizes(-1, 12) == [1, 2, 3, 4, 5, 6, 7]
    assert Along(runs, "depth", 5).sizes(-1, 12) == [1, 2, 3, 4]
    assert Along(runs, "depth", 0).sizes(-1, 12) == []


def test_along_leaves_out_curves_of_the_other_axis(runs):
    task = Along(runs, "depth", 3)
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
        Along(runs, axis, 3)


def test_along_a_task_of_one_axis():
    with pytest.raises(UsageError, match="the task 'sort' has no axis 'alphabet' after its first; it has none"):
        tasks.make("along:task=sort,axis=alphabet,at=3")


def test_along_notices_a_late_change_of_symbols(runs):
    late = GROWING.replace('"abcdefghijk"[: self.letters]', '"abcdefghijk"[: self.letters + (self.depth > 4)]')
    written(Path("late.py"), late)
    task = Along("late.py", "depth", 1)
    task.draw(4, 0, [0])
    with pytest.raises(UsageError, match="its symbols at 5 are not those"):
        task.draw(5, 0, [0])


# --- the page ---------------------------------------------------------------------------------------------------------


def block(kind: str, mark: str) -> str:
    (found,) = [text for text in BLOCKS[kind] if mark in text]
    return found


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
    assert doc and list(load_task_file("mytask.py").solve(doc[1].split())) == doc[2].split()


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
    command = importlib.import_module(f"lengthwise.cli.{name}")
    parser = Parser(prog=name)
    command.add_options(parser)
    parser.add_common()
    options = parser.parse_args(arguments)
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
