"""Files of trajectories: what is read, and one sentence for what cannot be."""

import json
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.shift.samples import read_samples


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(name: str, *lines) -> str:
        Path(name).write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
        return name

    return written


def read(write, first: list, second: list | None = None):
    return read_samples(write("a.jsonl", *first), write("b.jsonl", *(second or [{"text": "x"}])))


def test_the_ways_to_write_a_trajectory(write):
    lines = [
        {"trajectory": ["12", 3, "a b"]},
        {"trajectory": "12 3"},
        {"text": "12 3"},
        {"input": "5 + 7", "answer": "12"},
    ]
    one, two = read(write, lines)
    assert [t.tokens for t in one.trajectories] == [
        ("12", "3", "a b"),
        ("12", "3"),
        ("5", "+", "7", "12"),
    ]
    assert [t.asked for t in one.trajectories] == [None, None, 3]
    assert one.weights == pytest.approx([0.25, 0.5, 0.25]) and one.name == "a.jsonl" and two.name == "b.jsonl"


def test_one_splitting_rule_for_both_files(write):
    one, two = read(write, [{"text": "312"}], [{"text": "3 1"}, {"text": "12"}])
    assert one.trajectories[0].tokens == ("312",) and two.trajectories[1].tokens == ("12",) and one.glue == " "
    one, two = read(write, [{"text": "312"}], [{"text": "31"}])
    assert one.trajectories[0].tokens == ("3", "1", "2") and two.text(0) == "31"


def test_weights_depth_and_features(write):
    lines = [
        {"text": "a", "weight": 0.25, "depth": [0, 1.5], "features": {"nodes": 3, "cost": 0.5}},
        {"text": "b", "weight": 0.75, "depth": [2], "features": {"cost": 1, "nodes": 4}},
    ]
    one, _ = read(write, lines)
    assert one.weights.tolist() == [0.25, 0.75] and one.weighted
    assert one.trajectories[0].depth == (0, 1.5) and one.trajectories[1].features == (("cost", 1), ("nodes", 4))


WRONG = {
    "empty file": ([], ["a.jsonl is empty", '"text"']),
    "blank lines": (["", "  "], ["a.jsonl is empty"]),
    "not JSON": (['{"text": '], ["a.jsonl, line 1", "not JSON"]),
    "not an object": (["3"], ["line 1", "an object such as"]),
    "no trajectory": ([{"words": "a"}], ["'trajectory', 'text' and 'input'", "words"]),
    "two trajectories": ([{"text": "a", "trajectory": "b"}], ["one of", "trajectory and text"]),
    "no answer": ([{"input": "a"}], ["'answer' is missing"]),
    "empty text": ([{"text": "a"}, {"text": ""}], ["line 2", "empty"]),
    "wrong token": ([{"trajectory": ["a", 1.5]}], ["1.5"]),
    "reserved token": ([{"trajectory": ["<sep>"]}], ["<sep>", "reserved"]),
    "depth no list": ([{"text": "a", "depth": 3}], ["the depth must be a list"]),
    "depth NaN": (['{"text": "a", "depth": [NaN]}'], ["finite number", "NaN"]),
    "negative depth": ([{"text": "a", "depth": [-1]}], ["from 0 on"]),
    "features no object": ([{"text": "a", "features": [1]}], ["numbers by name"]),
    "feature NaN": (['{"text": "a", "features": {"x": NaN}}'], ["finite number"]),
    "feature text": ([{"text": "a", "features": {"x": "3"}}], ["'x'", "finite number"]),
    "depth on some lines": ([{"text": "a"}, {"text": "b", "depth": [1]}], ["line 2", "'depth' is on some lines"]),
    "weight on some lines": ([{"text": "a", "weight": 1}, {"text": "b"}], ["line 2", "'weight'"]),
    "negative weight": ([{"text": "a", "weight": -1}, {"text": "b", "weight": 2}], ["hold -1"]),
    "weights that do not sum": ([{"text": "a", "weight": 1}, {"text": "b", "weight": 2}], ["sum to 3, not to 1"]),
    "weight NaN": (['{"text": "a", "weight": NaN}'], ["NaN is not a finite number"]),
    "weight true": ([{"text": "a", "weight": True}], ["the weight must be a finite number"]),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("second", [False, True])
def test_what_cannot_be_read_is_told(write, name, second):
    lines, parts = WRONG[name]
    good = [{"text": "a"}]
    with pytest.raises(UsageError) as caught:
        read_samples(*(write(f, *(lines if (f == "b.jsonl") == second else good)) for f in ("a.jsonl", "b.jsonl")))
    sentence = str(caught.value)
    assert all(part.replace("a.jsonl", "b.jsonl" if second else "a.jsonl") in sentence for part in parts), sentence
    assert ("b.jsonl" if second else "a.jsonl") in sentence and len(sentence) < 300


def test_a_missing_file_is_told(write):
    with pytest.raises(UsageError, match=r"nowhere.jsonl cannot be read: No such file"):
        read_samples(write("a.jsonl", {"text": "a"}), "nowhere.jsonl")


def test_text_that_is_not_utf8_is_told(write, tmp_path):
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "\xff"}\n')
    with pytest.raises(UsageError, match="UTF-8"):
        read_samples(write("a.jsonl", {"text": "a"}), "b.jsonl")
