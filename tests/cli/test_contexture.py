"""`lengthwise contexture`: tables, pairs and runs; text of 80 columns, one object, bad input in one sentence."""

import json

import numpy as np
import pytest

from lengthwise.cli import COMMANDS


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(COMMANDS, "contexture", "what contexts can teach")


@pytest.fixture
def table(tmp_path):
    generator = np.random.default_rng(0)
    np.save(tmp_path / "table.npy", generator.dirichlet(np.full(60, 0.3)).reshape(12, 5) + 1e-6)
    np.save(tmp_path / "phi.npy", generator.standard_normal((12, 3)))
    return tmp_path / "table.npy"


def write_pairs(path, count=600, rows=30):
    generator = np.random.default_rng(1)
    given = generator.dirichlet(np.full(4, 0.3), size=rows)
    x = generator.integers(0, rows, count)
    a = [int(generator.choice(4, p=given[i])) for i in x]
    if path.suffix == ".csv":
        path.write_text("a,x\n" + "".join(f"{c},x{i}\n" for i, c in zip(x, a, strict=True)))
    else:
        path.write_text("".join(json.dumps({"x": [int(i)], "a": c}) + "\n" for i, c in zip(x, a, strict=True)))
    return x, a, given


@pytest.mark.wording
def test_a_table_as_text(cli, table):
    answer = cli("contexture", "table.npy", "--representation", "phi.npy", "--figure", "s.svg")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    words = " ".join(answer.out.split())
    assert words.startswith("A table of 12 x and 5 a") and "ratio trace of the representation" in words
    assert "worst probe error" in words and "random representations of rank 3" in words and "τ" in words
    assert "association" in (table.parent / "s.svg").read_text()


def test_a_table_as_an_object(cli, table):
    found = json.loads(cli("contexture", "table.npy", "--representation", "phi.npy", "--json", "--quiet").out)
    assert found["exact"] and len(found["squares"]) == 4 and found["figure"] is None
    trace, correlation, error = found["representation"]
    assert trace["value"] <= trace["evidence"]["most"] and 0 <= correlation["value"] <= 1
    assert error["kind"] == "certified" and found["random"][0]["interval"]["level"] == 1
    assert {claim["kind"] for claim in found["claims"]} == {"measured", "heuristic"}


def test_the_best_representation_reaches_its_maximum(cli, table, tmp_path):
    from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
    from lengthwise.bounds.contexture.table import joint_table

    np.save(tmp_path / "best.npy", spectrum_by_svd(joint_table(np.load(table))).of_x[:, :2])
    answer = cli("contexture", "table.npy", "--representation", "best.npy", "--json")
    trace = json.loads(answer.out)["representation"][0]
    assert trace["value"] == pytest.approx(trace["evidence"]["most"], abs=1e-6)
    assert "is aligned above random ones" in " ".join(
        cli("contexture", "table.npy", "--representation", "best.npy").out.split()
    )


def test_whole_numbers_are_counts(cli, tmp_path):
    (tmp_path / "counts.csv").write_text("8,1,1\n1,8,1\n2,2,9\n")
    answer = cli("contexture", "counts.csv", "--json")
    assert not json.loads(answer.out)["exact"] and "read as counts" in answer.err
    exact = cli("contexture", "counts.csv", "--probabilities", "--json")
    assert json.loads(exact.out)["exact"] and exact.err == ""


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv"])
def test_pairs(cli, tmp_path, name):
    x, _, given = write_pairs(tmp_path / name)
    first = list(dict.fromkeys(x))  # in the order in which they appear
    np.save(tmp_path / "one.npy", given[first])
    np.save(tmp_path / "each.npy", given[x])
    outs = [json.loads(cli("contexture", name, "--representation", f, "--json").out) for f in ("one.npy", "each.npy")]
    assert outs[0] == outs[1]
    own, random = outs[0]["representation"][0], outs[0]["random"][0]
    assert own["interval"]["low"] > random["interval"]["high"]


def test_pairs_that_never_repeat_show_no_spectrum_and_say_so(cli, tmp_path):
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"x": i, "a": i % 3}) + "\n" for i in range(60)))
    answer = cli("contexture", "p.jsonl")
    said = " ".join(answer.out.split())
    assert answer.code == 0 and "spectrum: unknown (measured); assumption violated: " in said
    assert cli("contexture", "p.jsonl", "--figure", "a.svg").code == 2


def test_a_run(cli, sorting_run):
    answer = cli("contexture", sorting_run, "--items", "200", "--twins", "1", "--json", "--quiet")
    found = json.loads(answer.out)
    assert answer.code == 0 and answer.err == "" and len(found["random"]) == 1
    assert found["representation"][0]["evidence"]["of"] == "the trained network"
    assert found["squares"] == pytest.approx([1.0] * len(found["squares"]))
    assert found["claims"][-1]["status"] == "unknown"  # answers that are decided: τ abstains
    assert "states of random network 1" in cli("contexture", sorting_run, "--items", "200", "--twins", "1").err


WRONG = {
    "nothing": (["no.npy"], "there is no no.npy"),
    "ending": (["a.txt"], "is not a table"),
    "text": (["text.csv"], "not a table of numbers"),
    "negative": (["negative.csv"], "0 or more"),
    "one column": (["column.csv"], "2 rows and 2 columns"),
    "rows": (["good.csv", "--representation", "column.csv"], "one row per row of the table"),
    "constant": (["good.csv", "--representation", "same.csv"], "same for every x"),
    "constant of pairs": (["good.jsonl", "--representation", "same.csv"], "same for every x"),
    "rows of pairs": (["good.jsonl", "--representation", "column.csv"], "one for each different x (2)"),
    "no pair": (["bad.jsonl"], "line 1 of bad.jsonl is not a pair"),
    "one a": (["same.jsonl"], "every a of same.jsonl is the same"),
    "three columns": (["three.csv"], "line 2 of three.csv has 3 columns"),
    "empty": (["empty.jsonl"], "holds 0 pairs"),
    "pickle": (["object.npy"], "not a table of numbers"),
    "epsilon": (["good.csv", "--epsilon", "2"], "--epsilon must lie between 0 and 1"),
    "epsilon of pairs": (["good.jsonl", "--epsilon", "0.5"], "go with a joint table"),
    "beta": (["good.csv", "--beta", "0"], "--beta must be a number above 0"),
    "d0": (["good.csv", "--d0", "0"], "--d0 must be at least 1"),
    "items": (["good.csv", "--items", "10"], "--items goes with the folder of a run"),
    "folder": (["."], "run.json"),
    "picture": (["good.csv", "--figure", "no/a.svg"], "a folder that exists"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_sentence(cli, tmp_path, name):
    files = {
        "a.txt": "1", "text.csv": "a,b\nc,d\n", "negative.csv": "1,-2\n3,4\n", "column.csv": "1\n2\n3\n",
        "good.csv": "3,1\n1,3\n", "same.csv": "1,2\n1,2\n", "bad.jsonl": '{"x": 1}\n', "empty.jsonl": "\n",
        "same.jsonl": '{"x": 1, "a": 1}\n{"x": 2, "a": 1}\n', "three.csv": "x,a\n1,2,3\n",
        "good.jsonl": '{"x": 1, "a": 1}\n{"x": 2, "a": 2}\n{"x": 1, "a": 1}\n{"x": 2, "a": 2}\n',
    }  # fmt: skip
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    before = sorted(tmp_path.iterdir())
    call, sentence = WRONG[name]
    answer = cli("contexture", *call, "--quiet")
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1, answer
    assert sentence in answer.err and sorted(tmp_path.iterdir()) == before
