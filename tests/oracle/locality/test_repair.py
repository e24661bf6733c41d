"""Repair: machines that are learned, layouts that become local, files that run, and refusals."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.bimachine import prove
from lengthwise.oracle.locality.own import load_formulation, settle_own
from lengthwise.oracle.locality.repairs import original as original_module
from lengthwise.oracle.locality.repairs import search as search_module
from lengthwise.oracle.locality.repairs.candidates import separators, sweeps
from lengthwise.oracle.locality.repairs.marks import Numbered, Pointed, Stacked
from lengthwise.oracle.locality.repairs.mealy import learned
from lengthwise.oracle.locality.repairs.original import load_broken
from lengthwise.oracle.locality.repairs.proof import machine_of_sweep
from lengthwise.oracle.locality.repairs.search import Repair, repair
from lengthwise.oracle.locality.repairs.shapes import Original, columns, cut, gathered, joined, spread
from lengthwise.registry import allow_code
from lengthwise.trust import module_in

LAYOUTS = Path(__file__).parents[2] / "layouts"
PAGE = (Path(__file__).parents[3] / "docs" / "explanation" / "locality.md").read_text(encoding="utf-8")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few states, so that a search takes well below a second."""
    monkeypatch.setattr(original_module, "BUDGET", 200)
    monkeypatch.setattr(original_module, "STARTS", 40)
    monkeypatch.setattr(search_module, "LONG_STARTS", 3)


def words_of(count: int, sizes: range) -> list[list[tuple[str, str]]]:
    """Every word of bits, with the number of ones so far modulo `count` at each."""
    found = []
    for size in sizes:
        for bits in itertools.product("01", repeat=size):
            sums = itertools.accumulate(map(int, bits))
            found.append([(bit, str(total % count)) for bit, total in zip(bits, sums, strict=True)])
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_smallest_machine_is_learned(count: int) -> None:
    machine = learned(words_of(count, range(1, 8)), most=6)
    assert machine is not None and machine.states == count
    assert all(machine.fits(word) for word in words_of(count, range(8, 10)))


def test_what_no_small_machine_writes_is_not_learned() -> None:
    words = [[(b, str(sum(map(int, bits[: at + 1])))) for at, b in enumerate(bits)] for bits in
             itertools.product("01", repeat=7)]  # fmt: skip
    assert learned(words, most=4) is None
    assert learned([[("a", "0"), ("b", "0")], [("a", "1")]], most=4) is None  # two answers to one letter


segments = st.lists(st.sampled_from("ab"), max_size=4).map(columns)


@given(
    st.lists(segments, min_size=2, max_size=3), st.sampled_from(["left", "right", "left reversed", "right reversed"])
)
@settings(max_examples=50)
def test_what_is_cut_and_spread_is_found_again(parts: list, place: str) -> None:
    between = columns("+ = "[: 2 * (len(parts) - 1)])
    assert cut(joined(parts, between), between) == parts
    assert all(gathered(spread(part, place, 5, ("-",)), place, ("-",)) == part for part in parts)


def test_separators_are_what_every_state_has_equally_often() -> None:
    states = [columns(text) for text in ("1 0 + 0 1 =", "0 0 + 1 0 =", "1 + 1 =")]
    assert separators(states) == columns("+ =")
    assert separators([columns("a b"), columns("b a")]) == ()


def test_marks_can_be_taken_away() -> None:
    state = columns("1|^ 0|· +|· 1|^ =|·")
    original = Original(lambda state: None, lambda size: [])
    for made in (Numbered(((1, "^"),)), Stacked(columns("+|· =|·"), (2, 2, 0), ("left", "left", "left"), "-")):
        encoded = made.encoded(state, original)
        assert encoded != state and made.answer(encoded) == state
    pointed = Pointed("^", "·", "left", "first")
    assert pointed.answer(pointed.begin(state, original)) == state


@pytest.mark.parametrize("name", ["parity_appended", "copy_repeat_steps", "addition_appended"])
def test_appended_layouts_become_local(small: None, name: str) -> None:
    found = repair(load_broken(name, False))
    assert found.before.verdict in ("REFUTED", None) and found.needed
    _holds(found, "PROVED", (1, 3))


def _holds(found: Repair, verdict: str, window: tuple[int, int]) -> None:
    repaired = found.repaired
    assert repaired is not None and repaired.locality.verdict == verdict and repaired.locality.window == window
    assert repaired.starts > 50 and repaired.long is not None and repaired.long[1] == 3
    before, after = repaired.costs
    assert after.tokens > 0 and after.steps >= before.steps


def test_what_the_answer_does_not_show_is_carried_along(small: None) -> None:
    found = repair(load_broken(str(LAYOUTS / "divisible_by_three.py"), True))
    _holds(found, "PROVED", (1, 3))
    assert found.repaired is not None and found.repaired.states == 3 and "carried={" in found.repaired.source


def test_a_sweep_without_what_it_carries_is_refuted(small: None) -> None:
    """The row is there because no window does without it."""
    broken = load_broken(str(LAYOUTS / "divisible_by_three.py"), True)
    found = next(one for one in sweeps(broken) if one is not None)
    assert prove(machine_of_sweep(found.sweep, found.machine)).r == 3
    bare = type(found.sweep)(**{**vars(found.sweep), "carried": None})
    assert prove(machine_of_sweep(bare, found.machine)).radius is None


def test_a_layout_that_is_local_is_left_alone(small: None) -> None:
    found = repair(load_broken("parity_columns", False))
    assert not found.needed and found.repaired is None and found.tried == 0


LIAR = """
import itertools
def starts(size):
    return ([*bits, "="] for bits in itertools.product("01", repeat=size))
def step(state):
    at, odd = state.index("="), state.count("1") % 2
    return None if state[-1] != "=" else [*state, str(odd if at < CHANGE else 1 - odd)]
"""


@pytest.mark.parametrize("draw", ["", "def draw(size, random):\n    return [*random.choices('01', k=size), '=']\n"])
def test_a_repair_says_when_its_large_chains_are_alike(small: None, tmp_path: Path, draw: str) -> None:
    path = tmp_path / "layout.py"
    path.write_text(LIAR.replace("CHANGE", "99") + draw)
    repaired = repair(load_broken(str(path), True)).repaired
    assert repaired is not None and repaired.long is not None
    assert repaired.alike == (not draw)
    assert (repaired.explain() == replace(repaired, alike=False).explain()) == bool(draw)


@pytest.mark.system
def test_answers_that_change_at_a_larger_size_are_not_called_repaired(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Parity up to a size, and the opposite from then on: at a size that is examined no machine fits; beyond it only
    the sizes tried are claimed."""
    monkeypatch.setattr(search_module, "encodings", lambda broken: iter(()))
    for change, repaired in ((6, False), (9, False), (100, True)):
        (tmp_path / f"liar{change}.py").write_text(LIAR.replace("CHANGE", str(change)))
        found = repair(load_broken(str(tmp_path / f"liar{change}.py"), True))
        assert (found.repaired is not None) is repaired


NEW_AT = """
import random
def draw(size, numbers):
    return [*(numbers.choice("01" if size < CHANGE else "012") for _ in range(size)), "="]
def starts(size):
    return [draw(size, random.Random(f"{size} {number}")) for number in range(40)]
def step(state):
    at = state.index("=")
    written = len(state) - at - 1
    if written < at:
        return [*state, "yn"[sum(map(int, state[:written + 1])) % 3 > 0]]
"""
LONGER_AT = """
import itertools
def starts(size):
    return ([*bits, "="] for bits in itertools.islice(itertools.product("01", repeat=size), 40))
def step(state):
    at = state.index("=")
    asked = [*state[:at], *("x" * (at // 13))]
    written = len(state) - at - 1
    return None if written == len(asked) else [*state, asked[written]]
"""


@pytest.mark.parametrize("text", [NEW_AT.replace("CHANGE", "8"), LONGER_AT])
def test_what_a_candidate_cannot_write_at_a_larger_size_is_no_repair(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    """A new letter at a size that is examined, and an answer that outgrows its row at ten times the size."""
    monkeypatch.setattr(search_module, "encodings", lambda broken: iter(()))
    (tmp_path / "later.py").write_text(text)
    found = repair(load_broken(str(tmp_path / "later.py"), True))
    assert found.needed and found.repaired is None and found.tried > 0


def test_a_layout_that_itself_ends_at_some_size_is_repaired(small: None, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(LIAR.replace("CHANGE else 1 - odd", "20 else 1 // 0"))
    repaired = repair(load_broken(str(tmp_path / "ends.py"), True)).repaired
    assert repaired is not None and repaired.long is None


def test_costs_are_those_of_the_same_first_states(small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also where a sample of them is examined."""
    monkeypatch.setattr(original_module, "STARTS", 20)
    broken = load_broken(str(LAYOUTS / "leftmost_one.py"), True)
    repaired = repair(broken).repaired
    assert repaired is not None
    (tmp_path / "repaired.py").write_text(repaired.source)
    allow_code(str(tmp_path / "repaired.py"))
    size, names = repaired.costs[1].size, vars(module_in(str(tmp_path / "repaired.py")))
    starts = [search_module._begun(names, names["repair"], start) for start in broken.starts(size)]
    steps = [len(search_module._chain(names["step"], start)) - 1 for start in starts]
    assert len(starts) == 20 and repaired.costs[1].steps == pytest.approx(sum(steps) / 20)


def test_a_layout_may_have_dataclasses_and_know_its_file(small: None, tmp_path: Path) -> None:
    (tmp_path / "classes.py").write_text(
        (LAYOUTS / "divisible_by_three.py").read_text()
        + "\nfrom dataclasses import dataclass\n@dataclass\nclass Kept:\n    text: str = open(__file__).read()\n"
    )
    repaired = repair(load_broken(str(tmp_path / "classes.py"), True)).repaired
    assert repaired is not None


def test_a_file_runs_by_itself(small: None, tmp_path: Path) -> None:
    """Without this package, and with the answers of the original; and it is read like any layout."""
    source = tmp_path / "quoted.py"
    source.write_text((LAYOUTS / "divisible_by_three.py").read_text() + '\nTEXT = """a \\\\ b"""\n')
    found = repair(load_broken(str(source), True))
    assert found.repaired is not None
    (tmp_path / "repaired.py").write_text(found.repaired.source)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import repaired\n"
        "state = list(repaired.starts(6))[-1]\n"
        "while state is not None: last, state = state, repaired.step(list(state))\n"
        "assert 'lengthwise' not in sys.modules\nprint(*repaired.answer(list(last)))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert ran.stdout.split() == list("111111=nnynny"), ran.stderr
    own = load_formulation(str(tmp_path / "repaired.py"))
    assert settle_own(own, range(1, 8), widths=(3,))[0].window == (1, 3)


@pytest.mark.parametrize("spec, path, said", [
    ("sort", False, "not laid out in steps"),
    ("pairs.jsonl", True, "only a file of functions"),
])  # fmt: skip
def test_what_has_no_steps_is_refused(spec: str, path: bool, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_broken(spec, path)


@pytest.mark.system
@pytest.mark.parametrize(
    "name, how, verdict",
    [
        ("addition_appended", "Sweep", "PROVED"),
        ("addition_appended:base=10", "Sweep", "PROVED"),
        ("copy_repeat_steps", "Sweep", "PROVED"),
        ("parity_appended", "Sweep", "PROVED"),
        ("parity_direct", "Sweep", "PROVED"),
        ("divisible_by_three.py", "Sweep", "PROVED"),
        ("larger.py", "Sweep", "PROVED"),
        ("leftmost_one.py", "Pointed", "CONSISTENT"),
        ("copy_pointer", "Stacked", "CONSISTENT"),
    ],
)
def test_the_repairs_of_the_page(name: str, how: str, verdict: str) -> None:
    path = name.endswith(".py")
    found = repair(load_broken(str(LAYOUTS / name) if path else name, path)).repaired
    assert found is not None and found.locality.window == (1, 3) and found.locality.verdict == verdict
    assert f"repair = {how}(" in found.source
    (row,) = (line for line in PAGE.splitlines() if re.match(rf"\| `(tests/layouts/)?{name}`.*→", line))
    before, after = found.costs
    assert f"| {before.tokens:.1f} → {after.tokens:.1f} | {before.steps:.0f} → {after.steps:.0f} |" in row


@pytest.mark.system
def test_what_no_candidate_repairs_is_unknown() -> None:
    found = repair(load_broken(str(LAYOUTS / "majority.py"), True))
    assert found.needed and found.repaired is None and found.tried > 10
