"""`lengthwise bound contrastive`: a bound from embeddings of a user's own."""

import json
import math

import numpy as np
import pytest

from lengthwise.cli import COMMANDS


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(COMMANDS, "bound contrastive", "a bound for InfoNCE")


@pytest.fixture
def call(tmp_path):
    generator = np.random.default_rng(0)
    anchors = generator.standard_normal((4001, 8))
    np.save(tmp_path / "a.npy", anchors)
    np.save(tmp_path / "b.npy", anchors + 0.2 * generator.standard_normal((4001, 8)))
    np.save(tmp_path / "noise.npy", generator.standard_normal((4001, 8)))
    np.save(tmp_path / "zero.npy", np.zeros((4001, 8)))
    np.save(tmp_path / "short.npy", anchors[:7])
    return ["bound", "contrastive", "--anchors", "a.npy", "--negatives", "7", "--temperature", "1"]


@pytest.mark.wording
def test_a_bound_below_chance(cli, call):
    answer = cli(*call, "--positives", "b.npy")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    words = " ".join(answer.out.split())
    assert words.startswith("Below chance") and "in 500 blocks with 7 negatives each" in words and "bits" in words
    assert answer.err == "warning: the last 1 pairs fill no block of 8 and are left out\n"


def test_noise_is_vacuous_and_bits_are_paid(cli, call):
    noise = json.loads(cli(*call, "--positives", "noise.npy", "--json", "--quiet").out)
    assert noise["status"] == "vacuous" and noise["bound"] > noise["chance"] == pytest.approx(math.log(8))
    held_out, trained = (
        json.loads(cli(*call, "--positives", "b.npy", "--bits", bits, "--json", "--quiet").out) for bits in (0, 400)
    )
    assert held_out["loss"] == trained["loss"] and held_out["status"] == "holds" and trained["status"] == "vacuous"
    gap = held_out["bound"] - held_out["loss"]
    width = math.log((1 + 7 * math.exp(2)) / (1 + 7 * math.exp(-2)))
    assert gap == pytest.approx(width * math.sqrt(math.log(20) / 1000))


def test_disjoint_tuples_have_the_same_guarantee(cli, call):
    found = [json.loads(cli(*call, "--positives", "b.npy", "--tuples", how, "--json", "--quiet").out)
             for how in ("batches", "disjoint")]  # fmt: skip
    assert found[0]["loss"] == pytest.approx(found[1]["loss"], abs=0.05) and found[0]["loss"] != found[1]["loss"]
    gaps = [one["bound"] - one["loss"] for one in found]
    assert gaps[0] == pytest.approx(gaps[1])


WRONG = {
    "no positives": ([], "--positives is missing"),
    "zero": (["--positives", "zero.npy"], "length 0"),
    "short": (["--positives", "short.npy"], "one shape"),
    "no file": (["--positives", "no.npy"], "no.npy cannot be read"),
    "negatives": (["--positives", "b.npy", "--negatives", "0"], "--negatives must be at least 1"),
    "many": (["--positives", "b.npy", "--negatives", "5000"], "need 5001 pairs or more"),
    "temperature": (["--positives", "b.npy", "--temperature", "0"], "temperature"),
    "delta": (["--positives", "b.npy", "--delta", "0"], "delta between 0 and 1"),
    "bits": (["--positives", "b.npy", "--bits", "-3"], "0 bits or more"),
    "tuples": (["--positives", "b.npy", "--tuples", "all"], "--tuples must be batches or disjoint"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_sentence(cli, call, name):
    more, sentence = WRONG[name]
    answer = cli(*call, *more, "--quiet")
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1 and sentence in answer.err, answer
