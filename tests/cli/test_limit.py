"""`lengthwise limit`: constants, stand-ins and comparisons of limit transformers, and what is refused."""

from __future__ import annotations

import json

import pytest

from lengthwise.oracle.limit.examples import EXAMPLES, example, majority, rare_pair
from limit_models import plain


def claims_of(answer) -> dict:
    return {claim["key"]: claim for claim in json.loads(answer.out)["claims"]}


def test_a_file_and_an_example_of_the_same_model_say_the_same(cli, tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(plain(rare_pair())))
    found = claims_of(cli("limit", path, "--bits", 10, "--json"))
    assert found == claims_of(cli("limit", "rare_pair", "--bits", 10, "--json"))
    assert found["limit.logit_margin"]["value"] == 1 and found["limit.logit_margin"]["kind"] == "proved"
    assert found["limit.hard_predicted"]["value"] == found["limit.hard_observed"]["value"] == 1024
    assert found["limit.constant"]["value"] == pytest.approx(3**0.5)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_described_in_80_columns(cli, name):
    answer = cli("limit", name)
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    listed = cli("limit")
    assert listed.code == 0 and name in listed.out


def test_the_positional_margin_is_that_of_infinite_precision(cli):
    found = claims_of(cli("limit", "bigram", "--json"))
    assert found["limit.positional_margin"]["value"] == 1 and "limit.logit_margin" not in found
    assert found["limit.theorem_two"]["evidence"]["exponent"] == 3
    assert "limit.logit_margin" not in claims_of(cli("limit", "previous_token", "--mode", "infinite", "--json"))


def test_a_stand_in_of_a_file(cli, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("c" * 900 + "\n" + "a" * 30 + " " + "b" * 10 + "\n")
    answer = cli("limit", "simulate", "rare_pair", "--file", path, "--json")
    content = json.loads(answer.out)
    assert "".join(content["word"]) == "aaaaaabcb"
    found = {claim["key"]: claim for claim in content["claims"]}
    assert found["limit.stand_in"]["value"] == 9 and found["limit.difference"]["value"] == pytest.approx(0, abs=1e-12)
    refused = cli("limit", "simulate", "wave:omega=9", "--word", "0" * 70 + "1" * 37, "--length", 5, "--require")
    assert refused.code == 3 and "wave:omega=9" in refused.out
    assert "".join(example("rare_pair").symbols) == "abc"


def test_two_models_are_compared(cli, tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(plain(majority())))
    same = cli("limit", "compare", path, "majority", "--length", 20, "--json", "--require")
    assert same.code == 0 and claims_of(same)["limit.agreement"]["status"] == "holds"
    other = cli("limit", "compare", "share_in_class:period=4", "share_in_class:period=2", "--json", "--require")
    claim = claims_of(other)["limit.agreement"]
    assert other.code == 3 and claim["status"] == "refuted" and len(claim["evidence"]["word"]) == 3
    text = cli("limit", "compare", "bigram", "bigram:strength=8", "--error", 0.2, "--length", 6)
    assert text.code == 0 and "certified" in text.out


@pytest.mark.parametrize(
    "call",
    [
        ("no_such_example",),
        ("gone.json",),
        ("rare_pair", "--items", 3),
        ("rare_pair", "--mode", "soft"),
        ("bigram", "--bits", 4),
        ("wave:omga=3",),
        ("wave:omega=x",),
        (".",),
        ("simulate", "rare_pair"),
        ("simulate", "rare_pair", "--word", "abx"),
        ("simulate", "rare_pair", "--word", " "),
        ("simulate", "bigram", "--word", "ab"),
        ("simulate", "rare_pair", "--file", "gone.txt"),
        ("compare", "rare_pair", "majority"),
        ("compare", "rare_pair"),
    ],
)
def test_bad_input_is_one_sentence(cli, call):
    answer = cli("limit", *call)
    assert answer.code == 2 and answer.out == "" and len(answer.err.strip().splitlines()) == 1


@pytest.mark.wording
def test_arithmetic_is_called_exact_only_where_it_is(cli):
    assert "the arithmetic is exact." in " ".join(cli("limit", "rare_pair", "--mode", "hardmax").out.split())
    assert "exact where differences" in " ".join(cli("limit", "rare_pair", "--mode", "finite").out.split())
