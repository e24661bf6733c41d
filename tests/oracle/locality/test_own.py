"""A user's own formulation: functions, classes and files of pairs, right and wrong."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.messages import sentence
from lengthwise.oracle.check import check_formulation
from lengthwise.oracle.locality import own_pairs
from lengthwise.oracle.locality.own import alphabet_note, load_formulation, new_tokens, settle_own
from lengthwise.oracle.locality.own_pairs import load_pairs
from lengthwise.oracle.locality.steps import all_combinations
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations import functions
from lengthwise.tasks.formulations.between import is_guess, labels_between, state_of
from lengthwise.tasks.formulations.formulation import Formulation, State

LEFTMOST = """
import itertools
def starts(size):
    return itertools.product("01", repeat=size)
def step(state):
    return None if len(state) == 1 else ["1" if state[0] != state[1] else "0", *state[2:]]
"""
COLUMNS = """
import itertools
def starts(size):
    for bits in itertools.product("01", repeat=size):
        yield [(bit, ".") for bit in bits]
def step(state):
    empty = [at for at, (bit, parity) in enumerate(state) if parity == "."]
    if not empty:
        return None
    at = empty[0]
    before = state[at - 1][1] if at else "0"
    return state[:at] + [(state[at][0], str(int(state[at][0] != before)))] + state[at + 1:]
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], str]:
    def write(text: str, name: str = "layout.py") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_functions_give_the_verdicts_of_the_shipped_formulation(file: Callable[..., str]) -> None:
    columns, _ = settle_own(load_formulation(file(COLUMNS)), range(1, 7))
    assert columns.window == (1, 3) and columns.by_width[-1].pairs == 92 and columns.by_width[-1].least_size == 4
    assert columns.distance.bound and columns.distance.value == 1
    own = load_formulation(file(LEFTMOST, "other.py"))
    leftmost, _ = settle_own(own, range(1, 8))
    assert leftmost.window == (1, 5) and own.notes == (sentence("own.guessed"),)


def test_labels_of_the_users_own_are_used(file: Callable[..., str]) -> None:
    text = LEFTMOST + 'def labels(state):\n    return ["keep"] * len(state)\n'
    own = load_formulation(file(text))
    assert own.other is None and settle_own(own, range(1, 5))[0].window == (1, 1)
    wrong = load_formulation(file(LEFTMOST + "def labels(state):\n    return []\n", "wrong.py"))
    with pytest.raises(UsageError, match="labels gives 0 for `0`, which takes 1"):
        settle_own(wrong, range(1, 5))


def test_sources_of_the_users_own_are_used(file: Callable[..., str]) -> None:
    text = LEFTMOST + "def sources(state):\n    return [(0, 1), *((at,) for at in range(2, len(state)))]\n"
    found, _ = settle_own(load_formulation(file(text)), range(2, 7))
    assert found.distance.value == 1 and not found.distance.bound


def test_a_refutation_that_rests_on_guessed_labels_is_not_called_one(file: Callable[..., str]) -> None:
    """Dropping the middle bit: it is far from where the comparison puts the change in a long run."""
    text = LEFTMOST.replace(
        '["1" if state[0] != state[1] else "0", *state[2:]]', "state[: len(state) // 2] + state[len(state) // 2 + 1 :]"
    )
    found, _ = settle_own(load_formulation(file(text)), range(1, 9), widths=(3,))
    assert found.by_width[0].verdict == "REFUTED" and found.claim().status == "unknown"
    assert found.by_width[0].witness is not None and found.by_width[0].witness.guessed


def test_a_class_is_a_formulation(file: Callable[..., str]) -> None:
    text = (
        "from dataclasses import dataclass\nfrom lengthwise.tasks.formulations.strings import ParityColumns\n"
        "@dataclass(frozen=True)\nclass Mine(ParityColumns):\n    '''Mine.'''\n"
    )
    own = load_formulation(file(text))
    assert own.formulation is not None and settle_own(own, range(1, 7))[0].window == (1, 3)
    with pytest.raises(UsageError, match="neither a function step nor"):
        load_formulation(file("from lengthwise.tasks.algorithmic import Sort\nclass Mine(Sort): pass\n", "task.py"))


BAD_FUNCTIONS = [
    ("def step(state): return None", "defines no function starts"),
    ("def starts(size): return [['a'] * size]\n", "neither a function step nor"),
    ("def starts(size): return [['<pad>'] * size]\ndef step(state): return None", "<pad> is reserved"),
    ("def starts(size): return [['a'] * size]\ndef step(state): return state", "comes back to `a`"),
    ("def starts(size): return [['a'] * size]\ndef step(state): return [*state, 'a']", "does not end within"),
    ("def starts(size): return [['a'] * size]\ndef step(state): return state[7]", "step on `a` raises IndexError"),
    ("def starts(size): return [['a'] * size]\ndef step(state): return 3", "a state must be text or a list"),
    ("def starts(size): return [['a'] * size]\ndef step(state): return []", "at least one column"),
    ("def starts(size): return [[1.5] * size]\ndef step(state): return None", "a column must be a token"),
    ("def starts(size):\n    yield 1 / 0\ndef step(state): return None", "starts\\(1\\) raises ZeroDivisionError"),
    ("def starts(size): return [['a'] * size]\ndef step(state):\n    while True: pass", "took more than"),
    (
        "import random\ndef starts(size): return [['a'] * size] * 50\n"
        "def step(state): return [random.choice('bc')] * len(state) if 'a' in state else None",
        "is not deterministic: from `a` it goes to",
    ),
    ("def step(", "line 1: SyntaxError"),
    (
        "def starts(size): return [['a'] * size]\ndef step(state): return ['keep'] if state == ['a'] else None",
        "keep is",
    ),
]


@pytest.mark.parametrize("text, said", BAD_FUNCTIONS)
def test_bad_functions_get_one_sentence(
    file: Callable[..., str], monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    if "while" in text:  # elsewhere a busy machine must not be taken for a function without end
        monkeypatch.setattr(functions, "SECONDS", 0.3)
    monkeypatch.setattr(functions, "LONGEST", 200)
    with pytest.raises(UsageError, match=said) as caught:
        settle_own(load_formulation(file(text)), range(1, 5))
    assert "\n" not in str(caught.value)


def test_many_or_endless_first_states_are_sampled(file: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "INSTANCES", 30)
    monkeypatch.setattr(functions, "LOOKED_AT", 500)
    text = (
        "import itertools\ndef starts(size): return ([str(n % 7)] * size for n in itertools.count())\n"
        "def step(state): return None if state[0] == 'x' else ['x'] * len(state)\n"
    )
    own = load_formulation(file(text))
    assert len(list(own.steps.chains(3))) == 30 and not own.steps.exhaustive


def test_an_endless_alphabet_is_named(file: Callable[..., str]) -> None:
    text = (
        "def starts(size): return [[str(10 ** size + n), '+', '1'] for n in range(5)]\n"
        "def step(state): return [str(int(state[0]) + 1)] if len(state) > 1 else None\n"
    )
    own = load_formulation(file(text))
    assert own.endless(range(1, 7)) is not None
    assert alphabet_note(new_tokens(load_formulation(file(LEFTMOST, "bits.py")).steps, range(2, 8))) is None


# Files of pairs.


def pairs_of(spec: str, sizes: Iterable[int]) -> list[dict[str, Any]]:
    task = tasks.make(spec)
    assert isinstance(task, Formulation)
    return [
        {"state": " ".join("|".join(c) for c in move.state), "next": ["|".join(c) for c in move.after]}
        for size in sizes
        for start in task.instances(size)
        for move in task.moves(start)
    ]


def jsonl(items: Iterable[Any]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


def test_pairs_give_the_verdicts_of_the_formulation(file: Callable[..., str]) -> None:
    own = load_formulation(file(jsonl(pairs_of("parity_columns", range(1, 8))), "pairs.jsonl"))
    assert own.sizes == (1, 2, 3, 4, 5, 6, 7) and own.other is None
    found, _ = settle_own(own, widths=(1, 3))
    assert found.window == (1, 3) and found.by_width[-1].pairs == 82 and not found.by_width[-1].exhaustive
    assert sentence("pairs.settled", {"r": 3, "windows": 82}) in own.notes
    leftmost = load_formulation(file(jsonl(pairs_of("parity_leftmost", range(2, 8))), "leftmost.jsonl"))
    assert settle_own(leftmost)[0].window == (1, 5) and leftmost.other is not None
    assert len(leftmost.notes) == 6 and sentence("pairs.compared") in leftmost.notes
    appended = load_formulation(file(jsonl(pairs_of("copy_repeat_steps", range(1, 6))), "appended.jsonl"))
    assert settle_own(appended, widths=(3,))[0].verdict == "REFUTED" and appended.steps.form == "decoder"


def test_a_size_of_its_own_and_lists_of_columns(file: Callable[..., str]) -> None:
    lines = [{"state": [["1", "."], ["0", "."]], "next": [["1", "1"], ["0", "."]], "size": 7}]
    own = load_formulation(file(jsonl(lines), "pairs.jsonl"))
    assert own.sizes == (7,) and next(own.steps.moves(7)).labels == ("1|1", "keep")


def test_what_is_kept_is_bounded_and_does_not_depend_on_the_order(
    file: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_pairs, "TELL_EVERY", 500)
    items = pairs_of("parity_leftmost", range(2, 8))
    told: list[int] = []
    one = load_pairs(file(jsonl(items), "one.jsonl"), keep=20, progress=lambda _, step, __: told.append(step))
    other = load_pairs(file(jsonl([*items[::-1], *items]), "other.jsonl"), keep=20)
    kept = [{move.state for size in pairs.sizes for move in pairs.steps.moves(size)} for pairs in (one, other)]
    assert (
        len(kept[0]) == 4 + 8 + 16 + 20 + 20 + 20 and kept[0] == kept[1] and one.distinct == other.distinct == 2**8 - 4
    )
    assert other.lines == 2 * one.lines == 2 * len(items)
    assert told == list(range(500, len(items) + 1, 500)) and len(told) > 1


def test_two_next_states_are_both_shown(file: Callable[..., str]) -> None:
    items = [*pairs_of("parity_leftmost", [4]), {"state": "0 1 1 1", "next": "0 0 0"}]
    with pytest.raises(UsageError) as caught:
        load_formulation(file(jsonl(items), "pairs.jsonl"))
    line = next(at for at, item in enumerate(items, 1) if item["state"] == "0 1 1 1")
    assert f"the state `0 1 1 1` goes to `1 1 1` in line {line} and to `0 0 0` in line {len(items)}" in str(
        caught.value
    )


BAD_LINES = [
    ("", "is empty"),
    ('{"state": "1 0", "next": "1"}\n{"state": "1"', "line 2: this is not JSON"),
    ('{"state": "1 0"}', "line 1: the key 'next' is missing"),
    ("[1, 2]", "line 1: an item must be an object"),
    ('{"state": "", "next": "1"}', "line 1: a state must have at least one column"),
    ('{"state": 7, "next": "1"}', "line 1: a state must be text or a list"),
    ('{"state": [null], "next": "1"}', "line 1: a column must be a token"),
    ('{"state": "1", "next": "1", "size": 0}', "line 1: the size must be a positive whole number"),
    ('{"state": "1 0", "next": "1 drop"}', "line 1: the token drop is reserved"),
    ('{"state": "1 0", "next": "1 <sep>"}', "line 1: the token <sep> is reserved"),
    ("[" * 100_000, r"line 1: this is not JSON \(it is nested too deeply"),
]


@pytest.mark.parametrize("text, said", BAD_LINES)
def test_bad_lines_get_one_sentence(file: Callable[..., str], text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        load_formulation(file(text, "pairs.jsonl"))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_files_that_are_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_formulation(str(tmp_path / "none.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"state": "\xe9"}')
    with pytest.raises(UsageError, match="line 1: this is not UTF-8"):
        load_formulation(str(tmp_path / "latin.jsonl"))


def test_an_endless_alphabet_in_a_file_is_noted(file: Callable[..., str]) -> None:
    items = [{"state": [f"{size}{n}", *["+"] * size], "next": "x"} for n in range(5) for size in range(1, 7)]
    own = load_formulation(file(jsonl(items), "pairs.jsonl"))
    assert own.endless(own.sizes) is not None


states = st.lists(st.sampled_from("ab"), min_size=1, max_size=6).map(lambda word: tuple((letter,) for letter in word))


@given(states, states, st.sampled_from(["left", "right"]))
def test_labels_give_the_next_state(state: State, after: State, side: Any) -> None:
    labels = labels_between(state, after, side)
    assert len(labels) == len(state)
    if is_guess(state, after):
        pairs = zip(state, labels, strict=True)
        parts = [[c] if label == "keep" else [] if label == "drop" else state_of(label) for c, label in pairs]
        assert tuple(itertools.chain.from_iterable(parts)) == after
    elif len(state) == len(after):
        pairs = zip(state, labels, strict=True)
        assert tuple(c if label == "keep" else (label,) for c, label in pairs) == after
    else:
        assert labels[-1] == after[-1][0] and set(labels[:-1]) <= {None}


COPIED = """
import itertools, random
def starts(size):
    words = itertools.product("abc", repeat=size)
    if SAMPLED:
        draw = random.Random(size)
        words = [[draw.choice("abcdefgh") for _ in range(size)] for _ in range(150)]
    return ([*word, "="] for word in words)
def step(state):
    at = state.index("=")
    return None if len(state) == 2 * at + 1 else [*state, state[len(state) - at - 1]]
"""


@pytest.mark.parametrize("sampled", [True, False])
def test_first_states_that_are_all_combinations_are_known(tmp_path: Path, sampled: bool) -> None:
    path = tmp_path / "layout.py"
    path.write_text(COPIED.replace("SAMPLED", str(sampled)))
    assert all_combinations(load_formulation(str(path)).steps, range(1, 5)) != sampled


@pytest.mark.system
def test_several_windows_of_a_sample_are_not_believed(tmp_path: Path) -> None:
    """Copying words with repeats is settled by no number of windows, but clashes of several are rare."""
    path = tmp_path / "layout.py"
    path.write_text(COPIED.replace("SAMPLED", "True"))
    assert check_formulation(str(path), ("rope",)).verdicts["rope"].outlook == "unknown"
