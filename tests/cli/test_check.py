"""`lengthwise check`: the card, one object, and one sentence for what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.wording
def test_a_card_names_verdicts_reasons_and_what_to_change(cli):
    answer = cli("check", "--regex", "(aa)*")
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    text = " ".join(answer.out.split())
    assert answer.out.splitlines()[1].startswith("  advice: Use learned+offset: ")
    assert "none CANNOT HOLD (C-RASP: the obstruction is proved; that training meets it is assumed)" in text
    assert "yet if `a` follows them, different symbols may come next: {a} after the first" in text
    assert "learned+offset CAN HOLD" in text and "use learned+offset: a period of 2 is enough" in text
    assert "rope UNKNOWN" in text and "alibi UNKNOWN No number of last symbols settles every answer" in text
    assert "Can hold does not mean will hold" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["sort"],
        ["copy_repeat", "--position", "none"],
        ["d_4", "--explain"],
        ["parity_columns", "--train-size", "8", "--explain", "--position", "t5"],
        ["addition_columns", "--train-size", "3", "--items", "50", "--position", "t5"],
    ],
)
def test_cards_fit_eighty_columns(cli, arguments):
    answer = cli("check", *arguments)
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80


def test_explain_says_what_each_opinion_rests_on(cli):
    out = cli("check", "tomita_4", "--position", "learned+offset", "--explain").out
    assert "grounds:" in out and "assumed:" in out and "source: huang2025" in " ".join(out.split())
    assert "limits" in out and "2603.02238" in out  # no computable bound for two layers


def test_other_models_have_verdicts(cli):
    """Encodings are left out unless they are asked for; what is no model, or goes with another source, is refused."""
    found = json.loads(cli("check", "tomita_5", "--model", "lstm", "--json").out)
    assert [(one["encoding"], one["outlook"]) for one in found["verdicts"]] == [("lstm", "can hold")]
    both = json.loads(cli("check", "tomita_5", "--model", "lstm", "--position", "none", "--json").out)
    assert [one["outlook"] for one in both["verdicts"]] == ["cannot hold", "can hold"]
    shown = cli("check", "tomita_5", "--model", "lstm", "--explain")
    assert shown.code == 0 and "docs/explanation/recurrent.md" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    for wrong in (["tomita_5", "--model", "lstn"], ["--formulation", "x.py", "--model", "lstm"]):
        refused = cli("check", *wrong)
        assert refused.code == 2 and refused.out == "" and len(refused.err.splitlines()) == 1


def test_one_object(cli):
    found = json.loads(cli("check", "copy_repeat", "--position", "none", "--json").out)
    assert found["command"] == "check" and found["train_size"] == 20 and found["test_size"] == 60
    (verdict,) = found["verdicts"]
    assert verdict["outlook"] == "cannot hold" and verdict["opinions"][0]["grounds"]["kind"] == "proved"


def test_what_training_misses_is_listed(cli):
    found = json.loads(cli("check", "parity_leftmost", "--train-size", "4", "--position", "t5", "--json").out)
    claims = {claim["key"]: claim for claim in found["training"]}
    assert claims["locality.training_size"]["value"] == 5 and claims["locality.share_seen"]["evidence"]["unseen"]
    assert [change["key"] for change in found["changes"]] == ["longer"]


def test_torch_is_not_loaded():
    code = (
        "import sys; from lengthwise.cli import main; main(['check', 'parity', '--position', 'none', '--quiet']); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


LOOP = "def starts(size):\n    return [['0'] * size]\n\ndef step(state):\n    while True:\n        pass\n"
ENDLESS = "def starts(size):\n    return [[str(10**size)] * 3]\n\ndef step(state):\n    return state[1:] or None\n"
RAISES = "def starts(size):\n    return [['0'] * size]\n\ndef step(state):\n    return 1 / 0\n"


def automaton(**changes: object) -> str:
    data = {"alphabet": ["a", "b"], "start": 0, "accepting": [0], "transitions": {"0": {"a": 0, "b": 0}}}
    Path("machine.json").write_text(json.dumps({**data, **changes}))
    return "machine.json"


def pairs(*items: object) -> str:
    Path("pairs.jsonl").write_text("\n".join(json.dumps(item) for item in items))
    return "pairs.jsonl"


DYCK = """
opened := count("(")
closed := count(")")
next["("] := true
next[")"] := opened > closed
next["$"] := opened == closed
"""


def test_a_program_of_ones_own_is_checked(cli):
    Path("mine.txt").write_text(DYCK)
    answer = cli("check", "dyck_1", "--program", "mine.txt")
    assert answer.code == 0 and answer.out
    Path("mine.txt").write_text(DYCK.replace("opened > closed", "opened >= closed"))
    wrong = cli("check", "dyck_1", "--program", "mine.txt")
    assert wrong.code == 3 and "mine.txt does not solve the task" in wrong.err
    Path("mine.txt").write_text("next[")
    assert cli("check", "dyck_1", "--program", "mine.txt").code == 2


@pytest.mark.parametrize("more", [("--figure", "a.svg"), ("--position", "rope"), ("--explain",), ("--seed", "1")])
def test_a_program_takes_no_option_that_would_do_nothing(cli, more):
    Path("mine.txt").write_text(DYCK)
    answer = cli("check", "dyck_1", "--program", "mine.txt", *more)
    assert answer.code == 2 and answer.out == "" and f"{more[0]} cannot be used with --program" in answer.err


def test_steps_written_by_a_decoder(cli):
    """In the text of all states the running parity has to be found among copies: windows of 3 no longer settle it."""
    out = cli("check", "parity_columns", "--decoder", "--position", "t5", "--train-size", "6", "--json").out
    assert json.loads(out)["verdicts"][0]["opinions"][0]["grounds"]["value"] != "(1, 3)"


BAD = {
    "nothing": (list, "check takes one of"),
    "two tasks": (lambda: ["sort", "--regex", "a*"], "given twice"),
    "no such task": (lambda: ["sorrt"], "did you mean 'sort'"),
    "no such encoding": (lambda: ["sort", "--position", "ropes"], "ropes"),
    "sizes the wrong way": (lambda: ["sort", "--train-size", "20", "--test-size", "10"], "at least 20"),
    "a missing transition": (
        lambda: ["--dfa", automaton(transitions={"0": {"a": 0}})],
        "no transition for 'b'",
    ),
    "no such study": (lambda: ["--against", "nowhere"], "nowhere"),
    "against with an encoding": (lambda: ["--against", "quick", "--position", "none"], "the study decides it"),
    "no such formulation": (lambda: ["--formulation", "none.jsonl"], "none.jsonl"),
    "two next states": (
        lambda: ["--formulation", pairs({"state": "1 0", "next": "1"}, {"state": "1 0", "next": "0"})],
        "`1 0`",
    ),
    "a bad line": (lambda: ["--formulation", pairs({"state": "1 0"})], "line 1"),
    "a step that raises": (lambda: ["--formulation", own(RAISES)], "ZeroDivisionError"),
}


def own(text: str) -> str:
    Path("layout.py").write_text(text)
    return "layout.py"


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(cli, case):
    make, part = BAD[case]
    answer = cli("check", *make())
    assert answer.code == 2 and answer.out == ""
    assert answer.err.count("\n") == 1 and part in answer.err, answer.err


def test_two_next_states_are_both_shown_with_their_lines(cli):
    file = pairs({"state": "1 0", "next": "1"}, {"state": "1 1", "next": "0"}, {"state": "1 0", "next": "0"})
    error = cli("check", "--formulation", file).err
    assert "1" in error and "3" in error and "`1`" in error and "`0`" in error


def test_an_alphabet_without_end_is_said_to_be_one(cli):
    answer = cli("check", "--formulation", own(ENDLESS), "--position", "t5", "--json")
    opinion = json.loads(answer.out)["verdicts"][0]["opinions"][0]
    assert answer.code == 0 and opinion["grounds"]["key"] == "locality.alphabet_ends"


def test_a_step_that_never_returns_is_ended(cli, monkeypatch):
    monkeypatch.setattr("lengthwise.tasks.formulations.functions.SECONDS", 0.2)
    answer = cli("check", "--formulation", own(LOOP))
    assert answer.code == 2 and "took more than" in answer.err


@pytest.mark.system
def test_the_graph_of_a_layout_is_drawn_and_of_other_tasks_refused(cli, tmp_path):
    call = ("check", "parity_columns", "--position", "none", "--train-size", 4, "--json")
    answer = cli(*call, "--figure", "steps.svg", "--page", "steps.html")
    assert answer.code == 0 and "<svg" in (tmp_path / "steps.svg").read_text()
    assert "parity_columns" in (tmp_path / "steps.html").read_text()
    keys = [claim["key"] for claim in json.loads(answer.out)["training"]]
    assert {"premise.one_step", "premise.four_r"} <= set(keys)
    assert cli("check", "sort", "--figure", "sort.svg").code == 2 and not (tmp_path / "sort.svg").exists()
