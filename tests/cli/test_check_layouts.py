"""`lengthwise check --repair`, and `check --data` with chains of thought."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lengthwise.oracle.locality.repairs import original, search

LAYOUTS = Path(__file__).parents[1] / "layouts"
GOOD = [{"states": ["1 0 1", "1 1", "0"]}, {"states": ["1 1 0", "0 0", "0"]}]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(original, "BUDGET", 200)
    monkeypatch.setattr(original, "STARTS", 40)
    monkeypatch.setattr(search, "LONG_STARTS", 3)


@pytest.mark.wording
def test_a_repair_is_shown_and_written(cli, small):
    answer = cli("check", "copy_repeat_steps", "--repair", "--out", "mine.py")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    text = " ".join(answer.out.split())
    assert "Proved: one window of 3 columns" in text and "tokens per state" in text and "Answers: equal" in text
    assert "layout in mine.py" in answer.err and "def step(state)" in Path("mine.py").read_text()
    again = cli("check", "copy_repeat_steps", "--repair", "--out", "mine.py", "--json")
    found = json.loads(again.out)["repair"]["repaired"]
    assert found["window"] == [1, 3] and found["verdict"] == "PROVED" and found["source"] in Path("mine.py").read_text()


def test_what_is_local_needs_no_repair(cli, small):
    answer = cli("check", "parity_columns", "--repair", "--out", "mine.py", "--json")
    assert answer.code == 0 and not json.loads(answer.out)["repair"]["needed"] and not Path("mine.py").exists()


def test_no_repair_is_no_success(cli, small, monkeypatch):
    monkeypatch.setattr(search, "sweeps", lambda broken: iter(()))
    monkeypatch.setattr(search, "encodings", lambda broken: iter(()))
    answer = cli("check", "--formulation", str(LAYOUTS / "majority.py"), "--repair", "--json")
    assert answer.code == 3 and json.loads(answer.out)["repair"]["repaired"] is None and "Traceback" not in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--repair"],
        ["sort", "--repair"],
        ["parity_appended", "--repair", "--position", "rope"],
        ["parity_appended", "--repair", "--out", "mine.jsonl"],
        ["parity_appended", "--repair", "--figure", "graph.svg"],
        ["parity_appended", "--repair", "--page", "graph.html"],
        ["parity_appended", "--repair", "--seed", "1"],
        ["--formulation", "pairs.jsonl", "--repair"],
        ["--formulation", "none.py", "--repair"],
        ["parity_appended", "--out", "mine.py"],
        ["parity_appended", "--split", "lines"],
        ["--data", "good.jsonl", "--out", "gaps.jsonl"],
        ["--data", "good.jsonl", "--test-data", "good.jsonl", "--out", "gaps.py"],
        ["--data", "good.jsonl", "--tokenise", "("],
        ["--data", "good.jsonl", "--position", "rope"],
        ["--data", "good.jsonl", "--figure", "graph.svg"],
        ["--data", "good.jsonl", "--page", "graph.html"],
        ["--data", "good.jsonl", "--seed", "1"],
        ["--data", "good.jsonl", "--test-data", "none.jsonl"],
        ["--data", "bad.jsonl"],
        ["--data", "mixed.jsonl"],
        ["--data", "empty.jsonl", "--split", "lines"],
    ],
)
def test_what_is_wrong_gets_one_sentence(cli, arguments):
    lines = "".join(json.dumps(item) + "\n" for item in GOOD)
    Path("good.jsonl").write_text(lines)
    Path("bad.jsonl").write_text(lines + '{"states": ["1 0"\n')
    Path("mixed.jsonl").write_text(lines + '{"prompt": "1", "completion": "2"}\n')
    Path("empty.jsonl").write_text("")
    answer = cli("check", *arguments)
    assert answer.code == 2 and answer.out == "" and len(answer.err.splitlines()) == 1
    if {"bad.jsonl", "mixed.jsonl"} & set(arguments):
        assert "line 3" in answer.err


def test_chains_of_thought_are_looked_at(cli):
    training = [{"prompt": "0 1", "completion": "0 0"}] * 99 + [{"prompt": "0 1", "completion": "1 1"}]
    tests = [{"prompt": "0 1", "completion": "0 0"}, {"prompt": "2 1", "completion": "0 0"}]
    for name, items in (("train.jsonl", training), ("test.jsonl", tests)):
        Path(name).write_text("".join(json.dumps(item) + "\n" for item in items))
    both = ("check", "--data", "train.jsonl", "--test-data", "test.jsonl")
    answer = cli(*both, "--out", "gaps.jsonl")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    assert json.loads(Path("gaps.jsonl").read_text()) == tests[1]
    found = json.loads(cli(*both, "--json").out)["thoughts"]
    assert found["gaps"]["lines"] == [2] and found["conflicts"][0]["line"] == 100 and found["split"] == "lines"
    refused = cli(*both, "--out", "gaps.jsonl")  # JSON lines cannot say who wrote them
    assert refused.code == 2 and "gaps.jsonl" in refused.err
