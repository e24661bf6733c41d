"""The card: published flags, layouts of reasoning, dissent, silence, and a user's own."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.check import check, check_formulation
from lengthwise.oracle.opinion import Case, Theory, Verdict, family
from lengthwise.tasks import tasks

DATA = Path(__file__).parents[1] / "data" / "huang2025.csv"
NAMES = {"binary_majority_interleave_3": "interleaved_majority", "majority_26": "majority", "sort_unique": "sort"}
ENCODINGS = {"nope": "none", "ape_random_offset": "learned+offset"}
FLAG = {"can hold": True, "cannot hold": False, "unknown": None}


def published() -> Iterator[tuple[str, dict[str, bool]]]:
    """task → encoding → whether a program is said to exist."""
    found: dict[str, dict[str, bool]] = {}
    with DATA.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["encoding"] in ENCODINGS:
                exists = row["predicted_to_generalize"] == "True"
                found.setdefault(row["task"], {})[ENCODINGS[row["encoding"]]] = exists
    yield from found.items()


@pytest.mark.system
def test_no_verdict_contradicts_a_published_flag() -> None:
    """50 flags: 48 decided, all as published, and two for which it is not known that no program exists."""
    verdicts = {}
    for name, flags in published():
        card = check(tasks.make(NAMES.get(name, name)), tuple(flags), quick=True)
        for encoding, exists in flags.items():
            verdicts[name, encoding] = (FLAG[card.verdicts[encoding].outlook], exists)
    assert len(verdicts) == 50
    assert {cell for cell, (said, exists) in verdicts.items() if said is not None and said != exists} == set()
    unknown = {cell for cell, (said, _) in verdicts.items() if said is None}
    assert unknown == {("binary_majority_interleave_3", "none"), ("copy_unique", "none")}


@pytest.mark.parametrize(
    ("name", "encoding", "outlook"),
    [
        ("parity_columns", "t5", "can hold"),
        ("addition_columns", "rope", "can hold"),
        ("copy_pointer", "rope", "can hold"),
        ("parity_columns", "none", "can hold"),
        ("copy_pointer", "none", "cannot hold"),
        ("parity_appended", "none", "cannot hold"),
        ("parity_appended", "learned+offset", "cannot hold"),
        pytest.param("addition_appended", "none", "cannot hold", marks=pytest.mark.slow),
        ("parity_appended", "rope", "unknown"),
        ("addition_marked_alike", "rope", "unknown"),
        ("copy_distinct_steps", "rope", "unknown"),
        ("copy_repeat_steps", "learned+offset", "cannot hold"),
    ],
)
def test_layouts_of_reasoning(name: str, encoding: str, outlook: str) -> None:
    card = check(tasks.make(name), (encoding,), train_size=8, test_size=80, quick=True)
    assert card.verdicts[encoding].outlook == outlook, card.verdicts[encoding].why


def test_too_short_a_training_size_is_named_with_what_it_misses() -> None:
    verdict = check(tasks.make("parity_columns"), ("t5",), train_size=3, quick=True).verdicts["t5"]
    (change,) = verdict.opinions[0].changes
    assert verdict.outlook == "unknown" and (change.key, change.values) == ("longer", {"size": 4})


def test_theories_that_disagree_are_both_shown() -> None:
    asked = Case("a task", "none", 8, 24)
    theory = Theory("crasp", frozenset({"none"}))
    yes, no = (asked.opinion(theory, outlook, "because") for outlook in ("can hold", "cannot hold"))
    verdict = Verdict("none", (no, yes))
    assert verdict.outlook == "cannot hold" and verdict.dissent == (yes,)


def test_rows_that_are_never_trained_are_a_warning_and_no_verdict() -> None:
    """(a|ba)* held at three times the training length with a plain table (docs/findings/log.md)."""
    verdict = check("regular:expression=(a|ba)*", ("learned",), quick=True).verdicts["learned"]
    assert verdict.outlook == "unknown" and verdict.opinions[0].key == "rows"
    assert verdict.opinions[0].grounds is not None and verdict.opinions[0].grounds.value == 40
    assert [change.encodings for change in verdict.opinions[0].changes] == [("learned+offset",)]


def test_a_table_that_is_long_enough_is_not_said_to_fail() -> None:
    card = check(tasks.make("sort"), ("learned",), train_size=10, test_size=10, quick=True)
    assert card.verdicts["learned"].outlook == "unknown"


def test_an_encoding_no_theory_speaks_of_is_unknown_and_says_so() -> None:
    verdict = check(tasks.make("(aa)*"), ("rope", "fire+offset"), quick=True).verdicts["rope"]
    assert verdict.outlook == "unknown" and verdict.deciding is None and verdict.opinions[0].key == "none"


@pytest.mark.wording
def test_another_axis_is_not_judged_by_theories_of_length() -> None:
    card = check(tasks.make("along:task=dyck_k,axis=depth,at=40"), ("none",), train_size=4, test_size=8)
    assert card.verdicts["none"].outlook == "unknown" and "depth" in card.verdicts["none"].why


def test_depth_is_said_where_brackets_nest() -> None:
    keys = [claim.key for claim in check(tasks.make("d_4"), ("none",), quick=True).depth]
    assert keys[-5:-3] == ["depth.needed_bits", "depth.needed_any"]
    assert keys[-3:] == ["depth.enough_hard", "depth.needed_pointers", "depth.enough_soft"]
    assert check(tasks.make("sort"), ("none",), quick=True).depth == ()


def test_predictions_are_predicted_and_say_what_they_rest_on() -> None:
    for name in ("(aa)*", "copy_repeat", "parity", "parity_columns"):
        for verdict in check(tasks.make(name), train_size=8, quick=True).verdicts.values():
            for opinion in verdict.opinions:
                assert opinion.claim.kind == "predicted"
                assert (opinion.claim.value is None) == (opinion.outlook == "unknown")
                assert bool(opinion.standing) == (opinion.outlook != "unknown")
                assert opinion.binds and opinion.claim.evidence["binds"] == opinion.binds
                if opinion.outlook != "unknown":
                    assert opinion.grounds is not None and opinion.claim.assumptions


def test_a_card_is_json() -> None:
    plain = check(tasks.make("copy_repeat"), quick=True).plain()
    assert json.loads(json.dumps(plain, allow_nan=False))["verdicts"][0]["outlook"] == "cannot hold"


def test_families_of_encodings() -> None:
    named = {"none": "none", "learned+offset": "absolute", "learned": "table", "learned:rows=60+offset": "absolute"}
    named |= {"rope:base=500000": "other", "alibi+randomized": "other", "learned+randomized": "other"}
    assert {spec: family(spec) for spec in named} == named


@pytest.mark.parametrize(("name", "sizes"), [("tree_maze", (4, 12)), ("countdown", (3, 9)), ("sort", (20, 60))])
def test_a_task_that_ends_early_is_asked_about_at_sizes_it_has(name: str, sizes: tuple[int, int]) -> None:
    card = check(name, ("none",), quick=True)
    assert (card.train_size, card.test_size) == sizes


def test_what_is_asked_decides_and_not_what_never_comes() -> None:
    """Prefixes of words alone are tagged, and only lengths with both answers ask whether a word belongs."""
    tagged = check("regular:expression=(a|ba)*", ("none", "learned+offset")).verdicts.values()
    assert {verdict.outlook for verdict in tagged} == {"can hold"}
    for verdict in tagged:  # the program of the decision was run on all short words
        assumptions = verdict.opinions[0].claim.assumptions
        assert any((one.key, one.check) == ("crasp.program_run", "checked") for one in assumptions)
    asked = check("regular_member:expression=(aa)*,alphabet=ab", ("none",), quick=True)
    assert asked.verdicts["none"].outlook == "can hold"


def test_a_size_without_items_is_refused() -> None:
    with pytest.raises(UsageError, match="no items of size"):
        check(tasks.make("interleaved_majority"), train_size=1)


OWN = """
import itertools

def starts(size):
    return [list(bits) for bits in itertools.product("01", repeat=size)]

def step(state):
    return None if len(state) == 1 else [str(int(state[0]) ^ int(state[1])), *state[2:]]
"""


@pytest.mark.system
def test_a_layout_of_ones_own_from_functions_and_from_pairs(tmp_path: Path) -> None:
    """The same steps as `parity_leftmost`, which windows of 5 settle; training to size 5 shows all of them."""
    code = tmp_path / "layout.py"
    code.write_text(OWN)
    card = check_formulation(str(code), ("t5",), train_size=8)
    assert card.verdicts["t5"].outlook == "can hold", card.verdicts["t5"].why
    assert card.verdicts["t5"].opinions[0].grounds.value == "(1, 5)"  # pyright: ignore[reportOptionalMemberAccess]
    space: dict[str, object] = {}
    exec(OWN, space)
    pairs = tmp_path / "pairs.jsonl"
    lines = []
    for size in range(2, 9):
        for state in space["starts"](size):  # pyright: ignore[reportCallIssue]
            after = space["step"](state)  # pyright: ignore[reportCallIssue]
            lines.append(json.dumps({"state": state, "next": after}))
    pairs.write_text("\n".join(lines))
    assert check_formulation(str(pairs), ("t5",)).verdicts["t5"].outlook == "can hold"
    short = check_formulation(str(pairs), ("t5",), train_size=3).verdicts["t5"]
    assert short.outlook == "unknown" and short.opinions[0].changes[0].values == {"size": 5}


@pytest.mark.system
def test_fewer_training_items_show_fewer_windows(tmp_path: Path) -> None:
    code = tmp_path / "layout.py"
    code.write_text(OWN)
    few = check_formulation(str(code), ("t5",), train_size=8, items=20).verdicts["t5"]
    assert few.outlook == "unknown" and few.opinions[0].grounds.kind == "measured"


@pytest.mark.system
def test_a_clash_of_guessed_labels_is_no_reason_to_fail(tmp_path: Path) -> None:
    """Dropping the middle bit: where a run is long, comparing two states does not tell which bit was dropped."""
    code = tmp_path / "layout.py"
    middle = "state[: len(state) // 2] + state[len(state) // 2 + 1 :]"
    code.write_text(OWN.replace("[str(int(state[0]) ^ int(state[1])), *state[2:]]", middle))
    assert check_formulation(str(code), ("t5",), train_size=8).verdicts["t5"].outlook == "unknown"


@pytest.mark.parametrize(
    ("choice", "part"), [({"decoder": True}, "names none"), ({"items": 5}, "are the training data")]
)
def test_what_does_not_go_with_pairs_is_refused(tmp_path: Path, choice: dict[str, int], part: str) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"state": "1 0", "next": "1"}\n{"state": "1 1 0", "next": "0 0"}')
    with pytest.raises(UsageError, match=part):
        check_formulation(str(pairs), ("t5",), **choice)  # pyright: ignore[reportArgumentType]
