"""`lengthwise measure --rope`: one table of scalings by sizes, the loss on a text, and the comparison with engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lengthwise.probes.prompted.store import stored_items
from lengthwise.text import built_in_text
from small_language_models import small_decoder


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return str(small_decoder(tmp_path_factory.mktemp("models") / "m", max_position_embeddings=300))


def records(answer) -> list[dict]:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)["records"]


def table(record: dict, key: str) -> list[dict]:
    found = next(one for one in record["tables"] if one["key"] == key)
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


def trained(cli, tiny, position: str = "rope") -> str:
    assert cli("train", "sort", "--position", position, *tiny, "--folder", "run", "--quiet").code == 0
    return "run"


SCALINGS = ("own", "none", "linear:factor=2", "ntk:factor=2", "by_parts:factor=2", "llama3:factor=2")
SCALINGS += ("yarn:factor=2", "dynamic")


def test_a_run_with_every_scaling_in_one_table(cli, tiny):
    ropes = [part for one in SCALINGS for part in ("--rope", one)]
    call = ("measure", trained(cli, tiny), "--sizes", "2,4,6", "--items", 80, *ropes)
    found = records(cli(*call, "--json", "--page", "page.html", "--figure", "figure.svg"))
    assert [record["source"] for record in found] == ["scalings", *["curve"] * len(SCALINGS)]
    rows = table(found[0], "scalings.sizes")
    assert [row["scaling"] for row in rows] == [*SCALINGS]
    assert list(rows[0]) == ["scaling", "reach", "size_2", "size_4", "size_6"]
    for row, record in zip(rows, found[1:], strict=True):
        assert [row[f"size_{size}"] for size in (2, 4, 6)] == [one["exact"] for one in table(record, "curve.points")]
    assert found[7]["data"]["position"] == "rope:scaling=yarn,factor=2"
    assert rows[0] == {**rows[1], "scaling": "own"}
    alone = records(cli("measure", "run", "--sizes", "2,4,6", "--items", 80, "--json"))
    assert table(alone[0], "curve.points") == table(found[1], "curve.points")
    assert "scalings.sizes" in Path("page.html").read_text() and Path("figure.svg").exists()
    shown = cli(*call)
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.system
def test_a_language_model_with_the_loss_on_a_text(cli, model):
    Path("text.txt").write_text(built_in_text()[:3000])
    ropes = [part for one in ("own", "none", "yarn:factor=4", "dynamic") for part in ("--rope", one)]
    call = ("measure", model, "--task", "sort", "--sizes", "2,40", "--items", 2, "--plain", *ropes)
    found = records(cli(*call, "--text", "text.txt", "--json"))
    assert [record["source"] for record in found] == ["scalings"] * 2 + ["prompted", "perplexity"] * 4
    outcomes = [table(found[place], "prompted.outcomes")[1] for place in (2, 4, 6, 8)]
    assert [row["overlong"] for row in outcomes] == [2, 0, 0, 0]  # the context is that of the scaling
    rows = table(found[1], "scalings.sizes")
    lengths = [name for name in rows[0] if name.startswith("size_")]
    assert lengths[-1] == "size_1200" and rows[0]["size_1200"] is None and rows[1]["size_1200"] is not None
    assert rows[0]["size_300"] == pytest.approx(rows[1]["size_300"], abs=1e-5)
    differences = table(found[1], "scalings.differences")
    assert {row["scaling"] for row in differences} == {"none", "yarn:factor=4", "dynamic"}
    assert all(row["low"] <= row["difference"] <= row["high"] for row in differences)


def test_answers_are_kept_for_each_scaling_apart(cli, model):
    call = ("measure", model, "--task", "sort", "--sizes", "2", "--items", 3, "--plain", "--quiet", "--json")
    for ropes in ((), ("--rope", "linear:factor=2"), ("--rope", "linear:factor=4"), ("--rope", "linear:factor=4")):
        records(cli(*call, *ropes))
    folders = sorted(path.parent for path in Path("measured").rglob("items.jsonl"))
    assert len(folders) == 3 and all(len(stored_items(folder)) == 3 for folder in folders)
    requests = [json.loads((folder / "request.json").read_text()) for folder in folders]
    assert len({request["subject"] for request in requests}) == 3
    assert sum("linear:factor=4" in request["subject"] for request in requests) == 1
    assert all(len((folder / "items.jsonl").read_text().splitlines()) == 3 for folder in folders)  # asked once


def test_a_model_that_was_trained_on_symbols(cli, model):
    """Each scaling answers by its own frequencies: the losses differ, and plain RoPE is the model itself."""
    ids = {"<bos>": 1, "<sep>": 3, "<eos>": 2, "<pad>": 4, "0": 20, "1": 21}
    Path("map.json").write_text(json.dumps(ids))
    ropes = [part for one in ("own", "none", "yarn:factor=2") for part in ("--rope", one)]
    call = ("measure", model, "--task", "binary_majority", "--tokens", "map.json", "--sizes", "5,101", "--items", 80)
    found = records(cli(*call, *ropes, "--json", "--quiet"))
    own, none, yarn = ([row["loss"] for row in table(record, "curve.points")] for record in found[1:])
    assert none == pytest.approx(own, abs=1e-4) and abs(yarn[1] - own[1]) > 1e-3


def test_a_text_alone(cli, model):
    (record,) = records(cli("measure", model, "--text", __file__, "--probe", "perplexity:length=64", "--json"))
    assert record["source"] == "perplexity" and record["data"]["text"] == "test_measure_rope.py"
    (record,) = records(cli("measure", model, "--text", __file__, "--json"))
    assert record["data"]["length"] == 300


def test_transformers_agrees_with_our_frequencies(cli, model):
    ropes = [part for one in ("yarn:factor=2", "dynamic:factor=2", "llama3:factor=2") for part in ("--rope", one)]
    found = records(cli("measure", model, "--conform", "transformers", *ropes, "--json"))
    assert [record["data"]["agrees"] for record in found] == [True] * 3
    assert [row["size"] for row in table(found[0], "conformance.lengths")] == [74, 299, 599]
    assert all(row["largest"] < 1e-3 for record in found for row in table(record, "conformance.lengths"))


@pytest.mark.parametrize(
    "wrong",
    [
        ("--rope", "yran:factor=4"),
        ("--rope", "yarn"),
        ("--rope", "none", "--rope", "none"),
        ("--rope", "yarn:factor=2", "--position", "rope"),
        ("--text", "missing.txt"),
        ("--conform", "transformers", "--probe", "curve"),
    ],
)
def test_what_is_refused(cli, tiny, wrong):
    answer = cli("measure", trained(cli, tiny), *wrong)
    assert answer.code == 2 and len(answer.err.strip().splitlines()) <= 3


def test_what_has_no_rope_is_refused(cli, tiny):
    answer = cli("measure", trained(cli, tiny, "alibi"), "--rope", "yarn:factor=2")
    assert answer.code == 2 and "nothing to scale" in answer.err


def test_positions_are_dropped_from_the_command_line(cli, tiny):
    trained(cli, tiny)
    call = ("train", "--from", "run", "--steps", 3, "--folder", "dropped", "--json", "--quiet", "--items", 80)
    plan = json.loads(cli(*call, "--position", "none", "--dry-run").out)["plans"][0]
    assert plan["task"]["name"] == "sort" and plan["train_size"] == 4 and plan["model"]["position"] == "none"
    assert (plan["model"]["width"], plan["start"]["folder"]) == (16, "run")
    assert json.loads(cli(*call, "--dry-run").out)["plans"][0]["model"]["position"] == "rope"
    answer = cli(*call, "--position", "none")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["plan"]["recipe"]["steps"] == 3
    lost = cli("train", "--from", "nowhere", "--steps", 3)
    assert lost.code == 2 and "no trained model in nowhere" in lost.err
