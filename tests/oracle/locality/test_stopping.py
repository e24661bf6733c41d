"""Where chains stop: part of a layout, however it is given, and judged apart from its steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lengthwise.messages import sentence
from lengthwise.oracle.check import check_formulation
from lengthwise.oracle.locality.own import load_formulation, settle_own
from lengthwise.oracle.locality.settle import settle, stopping
from lengthwise.oracle.locality.steps import Steps, is_end
from lengthwise.tasks.formulations.formulation import StepMove

# Odd-even transposition sort: neighbours are compared in turns, which marks tell. Each step is local; that all is
# sorted, so that the marks stay as they are, is not.
ODD_EVEN = """
import itertools
def starts(size):
    for bits in itertools.product("01", repeat=size):
        yield [(bit, "LR"[at % 2]) for at, bit in enumerate(bits)]
def step(state):
    bits = [bit for bit, _ in state]
    if bits == sorted(bits):
        return None
    for at, (_, mark) in enumerate(state[:-1]):
        if mark == "L" and bits[at] > bits[at + 1]:
            bits[at], bits[at + 1] = bits[at + 1], bits[at]
    return [(bit, "R" if mark == "L" else "L") for bit, (_, mark) in zip(bits, state)]
"""
# A 1 spreads to the right until nothing changes: a finished state is one on which the step does nothing.
FLOOD = """
import itertools
def starts(size):
    return itertools.product("01", repeat=size)
def step(state):
    after = [bit if at == 0 else max(bit, state[at - 1]) for at, bit in enumerate(state)]
    return None if after == list(state) else after
"""
# Letters are dropped from the front until one is left.
SHORTEN = """
import itertools
def starts(size):
    return itertools.product("ab", repeat=size)
def step(state):
    return None if len(state) == 1 else list(state[1:])
"""
# A text is written to its double length with x; only the count says where it ends.
DOUBLE = """
def starts(size):
    return [["a"] * size + ["="]]
def step(state):
    written = state[state.index("=") + 1:]
    return None if len(written) == state.index("=") else [*state, "x"]
"""
LAYOUTS = {
    "odd-even sort": (ODD_EVEN, "unknown", False),
    "flood": (FLOOD, "can hold", True),
    "shorten": (SHORTEN, "can hold", True),
    "double": (DOUBLE, "unknown", False),
}


def both(text: str, folder: Path) -> tuple[str, str]:
    """The layout as functions and as the pairs of all its chains, the finished states among them."""
    (folder / "layout.py").write_text(text)
    space: dict[str, Any] = {}
    exec(text, space)
    lines = {}
    for size in range(1, 9):
        for state in map(list, space["starts"](size)):
            while True:
                after = space["step"](state)
                lines[json.dumps(state)] = {"state": state, "next": state if after is None else after}
                if after is None:
                    break
                state = list(after)
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines.values()))
    return str(folder / "layout.py"), str(folder / "pairs.jsonl")


@pytest.mark.system
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_as_functions_and_as_pairs_gets_the_same_verdict(name: str, tmp_path: Path) -> None:
    text, outlook, local = LAYOUTS[name]
    for path in both(text, tmp_path):
        card = check_formulation(path, ("rope",), train_size=8)
        assert card.verdicts["rope"].outlook == outlook, (path, card.verdicts["rope"].why)
        claim = next(claim for claim in card.training if claim.key == "locality.stopping")
        assert claim.value is local, (path, claim.evidence)


def test_the_steps_of_odd_even_sort_are_local_and_its_end_is_not(tmp_path: Path) -> None:
    for path in both(ODD_EVEN, tmp_path):
        own = load_formulation(path)
        sizes = own.sizes or range(1, 8)
        found, steps = settle_own(own, sizes)
        assert found.verdict == "REFUTED" and any(is_end(move) for size in sizes for move in steps.moves(size))
        end = stopping(found, steps, sizes)
        assert end.steps is not None and end.steps.window == (1, 3), end.sentence
        witness = [one.witness for one in found.by_width if one.witness][-1]
        states = [[bit for bit, _ in state] for state in (witness.state, witness.other_state)]
        assert sum(state == sorted(state) for state in states) == 1, "one of the two is finished"


def test_pairs_that_never_end_say_that_stopping_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    pairs = [("1 0", "1"), ("1 1", "0"), ("0 1 1", "1 1"), ("0 0 1", "0 1")]
    path.write_text("".join(json.dumps({"state": state, "next": after}) + "\n" for state, after in pairs))
    own = load_formulation(str(path))
    assert sentence("pairs.no_end", {"left": 3}) in own.notes
    assert stopping(*settle_own(own), own.sizes).local is None


def test_the_labels_of_a_finished_state_are_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "layout.py"
    path.write_text(SHORTEN + 'def labels(state):\n    return ["end" if len(state) == 1 else "go"] * len(state)\n')
    moves = list(load_formulation(str(path)).steps.moves(2))
    assert [move.labels for move in moves if is_end(move)] == [("end",)] * 4


def test_an_end_is_not_blamed_for_what_steps_of_the_next_size_refute() -> None:
    def move(text: str, after: str, label: str) -> StepMove:
        state, onward = (tuple((token,) for token in one) for one in (text, after))
        return StepMove(state, onward, (label, *["keep"] * (len(text) - 1)), ())

    step, end = move("abbbbbbb", "xbbbbbbb", "x"), move("ccccccc", "ccccccc", "keep")
    clash = move("abbbbbbbb", "ybbbbbbbb", "y")
    steps = Steps("layout", lambda size: [[step, end] if size == 1 else [clash]], exhaustive=False, sourced=False)
    found = settle(steps, [1], widths=(3,), further=[2])
    assert found.verdict == "REFUTED"
    assert stopping(found, steps, [1], widths=(3,), further=[2]).local is None
