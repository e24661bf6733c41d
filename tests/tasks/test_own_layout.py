"""A user's layout as a task: what is drawn, how labels make the next state, pairs of states, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lengthwise.errors import UntrustedCode, UsageError
from lengthwise.oracle.locality.trainable import layout_model
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.functions import Functions
from lengthwise.tasks.formulations.own import OwnLayout
from lengthwise.testing import check_task
from lengthwise.trust import trusting

LAYOUTS = Path(__file__).parents[1] / "layouts"
SHIPPED = {"increment": (1, 3), "odd_even_sort": (1, 5), "comparison": (1, 3)}
LEFTMOST = """
import itertools
def starts(size):
    return itertools.product("01", repeat=size)
def step(state):
    return None if len(state) == 1 else ["1" if state[0] != state[1] else "0", *state[2:]]
"""
APPENDED = """
import itertools
def starts(size):
    return [[*bits, "="] for bits in itertools.product("01", repeat=size)]
def step(state):
    size = state.index("=")
    written = state[size + 1:]
    return None if len(written) == size else [*state, state[size - 1 - len(written)]]
"""
POINTER = """
import itertools
def starts(size):
    for bits in itertools.product("01", repeat=size):
        marks = ["^", *"." * (size - 1)]
        yield [*zip(bits, marks), ("=", "."), *[("_", ".")] * size]
def step(state):
    at = next((at for at, (_, mark) in enumerate(state) if mark == "^"), None)
    if at is None:
        return None
    cell, after = state.index(("_", ".")), list(state)
    after[at], after[cell] = (state[at][0], "."), (state[at][0], ".")
    if state[at + 1][0] != "=":
        after[at + 1] = (state[at + 1][0], "^")
    return after
"""


@pytest.fixture
def layout(tmp_path: Path) -> Callable[..., OwnLayout]:
    def make(text: str, name: str = "layout.py", **more: Any) -> OwnLayout:
        (tmp_path / name).write_text(text, encoding="utf-8")
        task = tasks.make({"name": "layout", "path": str(tmp_path / name), **more})
        assert isinstance(task, OwnLayout)
        return task

    return make


def follows(task: OwnLayout, size: int, items: int = 40) -> None:
    """Every drawn state with its labels gives the state that the user's function gives, and the solver agrees."""
    samples = task.draw(size, 3, range(items))
    for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
        state, given = prompt[prompt != NOTHING], answer[prompt != NOTHING]
        (after,) = task.advance(state[None], given[None])
        read = task.read(task.spelled(state))
        assert after is not None and task.read(task.spelled(after)) == (task.step(read) or read)
        assert task.spelled(answer) == tuple(task.solve(task.spelled(state)))


@pytest.mark.system
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_layouts_are_tasks(name: str) -> None:
    text = (LAYOUTS / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 30
    task = tasks.make(f"layout:path={LAYOUTS / name}.py")
    assert isinstance(task, OwnLayout) and not task.preset["causal"]
    follows(task, 5)
    long = task.start(40, [7])
    *_, last = task.chain(long)
    assert task.step(last) is None and len(last) == len(long)


@pytest.mark.system
@pytest.mark.parametrize("name", SHIPPED)
def test_attention_is_limited_to_the_window_that_check_finds(name: str) -> None:
    plan = plan_for(f"layout:path={LAYOUTS / name}.py", train_size=8, test_size=8)
    assert isinstance(plan.task, OwnLayout) and layout_model(plan.task).window == SHIPPED[name]
    reach = SHIPPED[name][1] // 2 + 1
    assert (plan.plain()["model"]["attention"], plan.position_name) == (f"window:size={reach}", "rope")
    with trusting():
        assert Plan.from_plain(json.loads(json.dumps(plan.plain()))) == plan


def test_states_that_shrink_are_filled_and_end_in_a_fixed_point(layout: Callable[..., OwnLayout]) -> None:
    task = layout(LEFTMOST)
    assert task.symbols == ("0", "1", "keep", "drop") and task.padded and not task.preset["causal"]
    check_task(task, [1, 2, 5])
    for size in (1, 2, 6):
        follows(task, size)
    lengths = {int((row != NOTHING).sum()) for row in task.draw(6, 0, range(200)).prompts}
    assert lengths == {1, 2, 3, 4, 5, 6}, "every time of a chain is drawn, its end included"


@pytest.mark.system
def test_a_window_of_five_columns(layout: Callable[..., OwnLayout]) -> None:
    plan = plan_for(layout(LEFTMOST), train_size=6, test_size=6)
    assert plan.plain()["model"]["attention"] == "window:size=3" and plan.recipe.steps == 1000


def test_a_text_that_grows_is_for_a_decoder(layout: Callable[..., OwnLayout]) -> None:
    task = layout(APPENDED)
    assert task.preset["causal"] and not task.padded
    check_task(task, [1, 2, 5])
    follows(task, 3)
    samples = task.draw(4, 0, range(50))
    assert ((samples.answers != NOTHING).sum(axis=1) == 1).all(), "only what comes next is asked for"
    state = task._written(task.start(3, [5]), 3)
    assert task.advance(np.array([state]), np.array([[NOTHING] * 3 + [task.symbols.index("1")]]))[0] is not None


@pytest.mark.system
def test_several_windows_get_heads_that_match(layout: Callable[..., OwnLayout]) -> None:
    plan = plan_for(layout(POINTER), train_size=8, test_size=8)
    assert isinstance(plan.task, OwnLayout) and layout_model(plan.task).window == (2, 3)
    assert plan.plain()["model"]["attention"] == "window_match:size=2,match=4"
    mine = plan_for(layout(POINTER), "alibi", {"attention": "softmax", "depth": 1}, train_size=8, test_size=8)
    assert (mine.plain()["model"]["attention"], mine.position_name) == ("softmax", "alibi")


def test_labels_of_the_users_own_serve_if_they_give_the_next_state(layout: Callable[..., OwnLayout]) -> None:
    mine = layout(LEFTMOST + "def labels(state):\n    return ['keep'] * len(state)\n")
    assert len(mine.warnings()) == 1
    follows(mine, 4)
    rest = '["keep"] * (len(state) - 2)'
    first = 'str(int(state[0] != state[1])), "drop"'
    right = f'def labels(state):\n    return [{first}, *{rest}] if len(state) > 1 else ["keep"]\n'
    task = layout(LEFTMOST + right, "right.py")
    assert not task.warnings()
    follows(task, 4)


def test_first_states_drawn_one_by_one(layout: Callable[..., OwnLayout]) -> None:
    text = LEFTMOST + "def draw(size, random):\n    return [random.choice('01') for _ in range(size)]\n"
    task = layout(text)
    starts = [task.start(60, [number]) for number in range(20)]
    assert len(set(starts)) == 20 and starts == [task.start(60, [number]) for number in range(20)]
    assert {state[0] for state in starts} == {("0",), ("1",)}


REFUSED = [
    (LEFTMOST, 40, "define draw"),
    (
        "import random\ndef starts(size): return [[random.choice('0123456789') for _ in range(size)]] * 30\n"
        "def step(state): return None",
        9,
        "random.Random",
    ),
    ("def starts(size): return [['keep'] * size]\ndef step(state): return None", 1, "rename it"),
    (
        "def starts(size): return [['a'] * size]\ndef step(state): return None if 'b' in state else ['b', 'b', *state]",
        1,
        "grows to",
    ),
    (
        "def starts(size): return [['a'] * size, ['b'] * size]\n"
        "def step(state): return [*state, 'c'] if state == ['a'] else ['c'] * len(state) if 'b' in state else None",
        1,
        "grows to",
    ),
    (
        "def starts(size): return [[str(size)]]\ndef step(state): return None",
        30,
        "occurs in none of the states",
    ),
    ("def starts(size): return []\ndef step(state): return None", 1, "no first state of size 1 to 12"),
    (
        "def starts(size): return [['a'] * size] if size < 20 else []\ndef step(state): return None",
        30,
        "no first state of size 30",
    ),
]


@pytest.mark.wording
@pytest.mark.parametrize(("text", "size", "said"), REFUSED)
def test_what_cannot_be_trained_is_refused(
    layout: Callable[..., OwnLayout], monkeypatch: pytest.MonkeyPatch, text: str, size: int, said: str
) -> None:
    for module in ("functions", "layout_sources"):
        monkeypatch.setattr(f"lengthwise.tasks.formulations.{module}.LOOKED_AT", 5_000)
    with pytest.raises(UsageError, match=said):
        layout(text).draw(size, 0, range(4))


@pytest.mark.parametrize("name", ["labels", "sources"])
@pytest.mark.parametrize(
    "value", ["None", "3", "[Mute()] * len(state)", "[['x']] * (len(state) + 1)", "itertools.repeat([0])"]
)
def test_functions_that_return_something_else_are_refused(
    layout: Callable[..., OwnLayout], name: str, value: str
) -> None:
    mute = "class Mute:\n    def __str__(self):\n        raise ValueError\n"
    with pytest.raises(UsageError):
        layout(f"{LEFTMOST}{mute}def {name}(state):\n    return {value}\n").symbols


@pytest.mark.parametrize("places", ["[-5]", "[10**30]", "[len(state)]"])
def test_sources_are_places_of_the_state(layout: Callable[..., OwnLayout], places: str) -> None:
    with pytest.raises(UsageError):
        layout(f"{LEFTMOST}def sources(state):\n    return [{places}] * (len(state) - 1)\n").symbols
    assert layout(f"{LEFTMOST}def sources(state):\n    return [[0]] * (len(state) - 1)\n", "right.py").symbols


@pytest.mark.parametrize("after", ["state[::-1]", "[*state, '1']", "state * 2"])
def test_chains_that_never_end_are_refused_at_every_size(layout: Callable[..., OwnLayout], after: str) -> None:
    """Also at sizes beyond those from which the vocabulary is taken."""
    first = "def starts(size):\n    return [['1'] * size]\n"
    text = f"def step(state):\n    return None if len(state) == 1 else state[1:] if len(state) < 14 else {after}\n"
    task = layout(first + text)
    with pytest.raises(UsageError):
        all(task.chain(task.start(14, [0])))
    with pytest.raises(UsageError):
        layout(text.replace("14", "4") + first, "small.py").symbols


def test_a_layout_that_stored_data_names_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{LEFTMOST}", encoding="utf-8")
    spec = {"name": "layout", "path": str(tmp_path / "theirs.py")}
    stored = tasks.restore(spec)
    for use in (lambda: stored.symbols, lambda: plan_for(stored, train_size=4)):
        with pytest.raises(UntrustedCode):
            use()
    assert not (tmp_path / "ran").exists()
    with trusting():
        assert tasks.restore(spec).symbols and (tmp_path / "ran").exists()


# --- pairs of states -------------------------------------------------------------------------------------------------


def pairs_of(sizes: range, finished: bool = True) -> str:
    """Parity from the left, all states of these sizes."""
    lines = []
    for size in sizes:
        for bits in itertools.product("01", repeat=size):
            after = bits if size == 1 else (str(int(bits[0] != bits[1])), *bits[2:])
            if size > 1 or finished:
                lines.append(json.dumps({"state": " ".join(bits), "next": " ".join(after)}))
    return "\n".join(lines)


@pytest.mark.wording
def test_pairs_are_held_out_for_testing(layout: Callable[..., OwnLayout]) -> None:
    task = layout(pairs_of(range(1, 8)), "pairs.jsonl")
    assert task.sizes(1, 100) == list(range(1, 8)) and not task.padded
    parts = {
        role: {tuple(row) for row in task.part(role).draw(7, 0, range(2000)).prompts} for role in ("train", "test")
    }
    assert not parts["train"] & parts["test"] and 8 <= len(parts["test"]) <= 20
    follows(task.part("train"), 7)
    assert [note for note in task.warnings() if "held out" in note], "of one or two bits nothing can be held out"
    test = task.part("test")
    starts = {test.start(7, [number]) for number in range(test.ranges(7)[0])}
    assert starts <= {task.read(task.spelled(row)) for row in parts["test"]}, "chains begin at states held out"


@pytest.mark.wording
def test_a_second_file_has_the_sizes_beyond(layout: Callable[..., OwnLayout], tmp_path: Path) -> None:
    task = layout(pairs_of(range(1, 6)), "pairs.jsonl")
    with pytest.raises(UsageError, match="second file"):
        task.ranges(9)
    assert "second file" in task.lacking(9) and not task.has(9)
    (tmp_path / "longer.jsonl").write_text(pairs_of(range(1, 10)), encoding="utf-8")
    longer = layout(pairs_of(range(1, 6)), "pairs.jsonl", test=str(tmp_path / "longer.jsonl"))
    assert longer.symbols == task.symbols and longer.part("test").ranges(9) == (512,)
    *_, last = longer.chain(longer.start(9, [5]))
    assert len(last) == 1
    assert set(map(tuple, longer.part("train").draw(5, 0, range(300)).prompts)) <= set(
        itertools.product((0, 1), repeat=5)
    )
    with pytest.raises(UsageError, match="second file of pairs"):
        layout(LEFTMOST, test=str(tmp_path / "longer.jsonl")).symbols


@pytest.mark.wording
def test_pairs_without_an_end_train_and_say_so(layout: Callable[..., OwnLayout]) -> None:
    task = layout(pairs_of(range(1, 6), finished=False), "pairs.jsonl")
    follows(task, 4)
    assert [note for note in task.warnings() if "where to stop" in note]
    with pytest.raises(UsageError, match="where to stop"):
        task.ranges(4)


@pytest.mark.wording
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"state": "a", "next": "b"}\n{"state": "a", "next": "c"}', "line 2: .*another in line 2"),
        ('{"state": "a"}', "line 1: the key 'next' is missing"),
        ("", "is empty"),
        ('{"state": "a", "next": "a", "size": 0}', "positive whole number"),
    ],
)
def test_a_file_that_is_no_set_of_pairs_is_refused(layout: Callable[..., OwnLayout], text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        layout(text, "pairs.jsonl").symbols


@pytest.mark.wording
def test_a_file_that_is_not_there_and_a_class_are_refused(tmp_path: Path, layout: Callable[..., OwnLayout]) -> None:
    for path, said in (("none.jsonl", "cannot be read"), ("none.py", "No such file")):
        with pytest.raises(UsageError, match=said):
            tasks.make({"name": "layout", "path": str(tmp_path / path)}).symbols
    with pytest.raises(UsageError, match="task of its own"):
        layout(LEFTMOST).__class__("layout.py::Mine")
    with pytest.raises(UsageError, match="no function step"):
        layout("x = 1").symbols


def test_functions_are_asked_once_for_their_first_states() -> None:
    asked: list[int] = []

    def starts(size: int) -> list[list[str]]:
        asked.append(size)
        return [["a"] * size]

    functions = Functions("mine.py", lambda _: None, starts)
    assert functions.first(3) == functions.first(3) and asked == [3]
