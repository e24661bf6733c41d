"""A task that a user brings as a file of items."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, SPECIALS
from lengthwise.tasks.jsonl import JsonLines
from lengthwise.testing import check_task
from own_tasks import PAGE, lines, written


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
        f"{path}: no item is held out at size 1, 2, 3, 4, 5, 6, 7, 8 and 4 more, so test items of that size were also trained on"
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
        ('{"input": "a", "answer": "b", "n": ' + "9" * 30 + "}\n", "n", "line 1: .*64 bits, not the 30 digits"),
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
def test_a_pipe_is_refused(here):
    """A file may have to be read twice, and what is left of a pipe after the first reading is not the file."""
    source, sink = os.pipe()
    os.write(sink, (GOOD + SPACED + GOOD.replace("a", "c")).encode())
    os.close(sink)
    try:
        with pytest.raises(UsageError, match=r"^/dev/fd/\d+ cannot be read: it is a pipe"):
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
