"""`lengthwise bound shift` on a run, a folder of the Hub and a GGUF file."""

import json

import numpy as np
import pytest

from lengthwise.probes.probe import Context
from lengthwise.probes.shift_bound.samples import drawn_side
from lengthwise.records import Record
from lengthwise.subjects.open import open_subject
from small_gguf import small_llama
from small_hub import small_gpt2
from small_runs import trained

KEYS = {"shift_bound.certified", "shift_bound.attacked", "shift_bound.w1"}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A run, a Hub folder, a GGUF file; two files of tokens, and a token map."""
    folder = tmp_path_factory.mktemp("subjects")
    trained(folder / "run", "binary_majority")
    small_gpt2(folder / "hub")
    small_llama(folder / "small.gguf")
    rng = np.random.default_rng(0)
    for name, odds in (("a", [0.4, 0.3, 0.1, 0.1, 0.1]), ("b", [0.3, 0.3, 0.2, 0.1, 0.1])):
        rows = rng.choice(5, size=(40, 8), p=odds) + 2
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"tokens": row.tolist()}) + "\n" for row in rows))
    table = {"<bos>": 0, "<sep>": 3, "<eos>": 2, "<pad>": None, "0": 5, "1": 6}
    (folder / "map.json").write_text(json.dumps(table))
    return folder


def record_of(answer):
    assert answer.code == 0, answer.err
    return Record.from_plain({k: v for k, v in json.loads(answer.out).items() if k != "command"})


@pytest.mark.system
@pytest.mark.parametrize("metric", ["states", "sequence"])
@pytest.mark.parametrize("name", ["hub", "small.gguf"])
def test_two_files(cli, given, name, metric):
    files = ("--from", given / "a.jsonl", "--to", given / "b.jsonl", "--items", 40)
    found = record_of(cli("bound", "shift", given / name, *files, "--metric", metric, "--json", "--quiet"))
    assert {claim.key for claim in found.claims} >= KEYS
    assert found.claim("shift_bound.certified").status == "vacuous"  # it was trained on nothing
    assert found.claim("shift_bound.target_error").value <= found.claim("shift_bound.certified").value


@pytest.mark.system
@pytest.mark.parametrize("name", ["run", "hub", "small.gguf"])
def test_a_task_and_a_level(cli, given, name, tmp_path):
    own = () if name == "run" else ("--task", "binary_majority", "--tokens", given / "map.json", "--from", "4")
    shape = ("--to", 6, "--items", 40, "--json", "--quiet", "--figure", tmp_path / "terms.svg")
    found = record_of(cli("bound", "shift", given / name, *own, *shape, "--page", tmp_path / "page.html"))
    assert {claim.key for claim in found.claims} >= KEYS and found.claim("shift_bound.fresh_error").value <= 1
    assert (tmp_path / "terms.svg").read_text().startswith("<svg")
    assert "shift_bound.certified" in (tmp_path / "page.html").read_text()


def test_a_file_gives_each_of_its_lines_once(cli, given, tmp_path):
    items, tokens = tmp_path / "items.jsonl", tmp_path / "tokens.jsonl"
    items.write_text("".join(json.dumps({"input": list(word), "answer": "0"}) + "\n" for word in ("00100", "001", "0")))
    found = record_of(cli("bound", "shift", given / "run", "--to", items, "--items", 40, "--json", "--quiet"))
    assert found.claim("shift_bound.target_error").evidence["items"] == 3
    tokens.write_text('{"tokens": [3, 4, 5, 6, 3, 4]}\n{"tokens": [3, 4]}\n{"tokens": [5, 4, 3]}\n')
    side = drawn_side(open_subject(given / "hub"), Context(), str(tokens), 40, "target")
    assert sorted(len(item.tokens) for item in side.items) == [2, 3, 6]
    items.write_text(items.read_text().splitlines()[0])
    assert cli("bound", "shift", given / "run", "--to", items).code == 2


def test_texts_are_read_whole_or_refused(cli, given, tmp_path):
    """They were cut to 64 tokens, or to what the model has room for (here 40), without a word."""
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": " ".join("ab" * half)}) + "\n" for half in (10, 15)))
    side = drawn_side(open_subject(given / "hub"), Context(), str(texts), 40, "target")
    assert [len(item.tokens) for item in side.items] == [20, 30]
    long = tmp_path / "long.jsonl"
    long.write_text(texts.read_text() + json.dumps({"text": " ".join("ab" * 25)}) + "\n")
    answer = cli("bound", "shift", given / "hub", "--from", texts, "--to", long)
    assert answer.code == 2 and "40" in answer.err and "Traceback" not in answer.err


def test_what_is_missing_is_said_and_vacuous_is_refused_on_request(cli, given):
    assert cli("bound", "shift", given / "run").code == 2
    rounded = cli("bound", "shift", given / "run", "--to", 6, "--precision", "bf16")
    assert rounded.code == 2 and "--precision" in rounded.err  # nothing in this bound would be rounded
    assert cli("bound", "shift", given / "hub", "--to", "6").code == 2
    assert cli("bound", "shift", given / "run", "--to", "nowhere 9").code == 2
    vacuous = ("--from", given / "a.jsonl", "--to", given / "b.jsonl", "--items", 20, "--require", "--quiet")
    assert cli("bound", "shift", given / "hub", *vacuous).code == 3


@pytest.mark.wording
def test_the_text_says_vacuous_and_draws_the_terms(cli, given):
    answer = cli("bound", "shift", given / "hub", "--from", given / "a.jsonl", "--to", given / "b.jsonl", "--items", 20)
    assert "vacuous" in answer.out and "certified constant" in answer.out and "sampling" in answer.out
