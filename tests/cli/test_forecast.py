"""`lengthwise forecast`: before training, for a run, over the whole atlas, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.evidence import load_atlas, save_atlas
from synthetic_atlas import synthetic_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("atlas") / "atlas.json.gz"
    save_atlas(synthetic_atlas(12), path)
    return path


def record_of(answer) -> dict:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_a_forecast_before_training_as_text_and_as_an_object(cli, atlas):
    call = ["forecast", "--regex", "(ab)*|c", "--position", "alibi", "--atlas", str(atlas)]
    assert cli(*call).code == 0
    found = record_of(cli(*call, "--json"))
    keys = [claim["key"] for claim in found["claims"]]
    assert keys.count("forecast.holds") == keys.count("forecast.exact") == 3
    assert found["settings"]["train_size"] == 20


def test_outside_of_the_atlas_no_number_is_printed(cli, atlas):
    found = record_of(cli("forecast", "sort", "--position", "rope", "--atlas", str(atlas), "--json"))
    assert [claim["status"] for claim in found["claims"]] == ["refused"]
    assert found["claims"][0]["value"] is None


def test_a_damaged_atlas_is_refused_in_one_sentence(cli, atlas, tmp_path):
    damaged = tmp_path / "atlas.json.gz"
    content = bytearray(atlas.read_bytes())
    content[len(content) // 2] ^= 255
    damaged.write_bytes(content)
    for path in (damaged, tmp_path / "nowhere.gz"):
        answer = cli("forecast", "tomita_4", "--atlas", str(path))
        assert answer.code == 2 and answer.out == ""
        assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    "call",
    [
        [],
        ["tomita_4", "--check"],
        ["tomita_4", "--unlabelled", "inputs.jsonl"],
        ["tomita_4", "--level", "1.5"],
        ["tomita_4", "--train-size", "0"],
        ["tomita_4", "--position", "roep"],
        ["tomita_4", "--out", "kept.json"],
        ["tomita_4", "--evaluate"],
        ["--evaluate", "--seen", "20"],
        ["--seen", "20"],
        ["nowhere", "--seen", "20"],
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(cli, atlas, call):
    answer = cli("forecast", *call, "--atlas", str(atlas))
    assert answer.code == 2 and answer.out == ""
    assert len(answer.err.splitlines()) == 1


@pytest.mark.system
def test_the_evaluation_prints_its_table(cli, atlas):
    found = record_of(cli("forecast", "--evaluate", "--atlas", str(atlas), "--json"))
    assert {table["key"] for table in found["tables"]} >= {"forecast.scores_before", "forecast.scores_seen_2"}


@pytest.mark.system
def test_a_run_is_measured_forecast_and_checked(cli, atlas, tmp_path):
    small = ["--steps", "5", "--batch", "8", "--depth", "1", "--width", "16", "--heads", "1", "--items", "20"]
    cli("train", "tomita_4", "--position", "alibi", *small, "--test-size", "20", "--folder", "run")
    asked = ["forecast", "run", "--atlas", str(atlas), "--items", "10", "--json"]
    assert cli(*asked).code == 2  # a run, and no --seen
    assert cli(*asked, "--seen", "10").code == 2  # below the training size
    assert cli(*asked, "--seen", "400").code == 2  # beyond the atlas
    found = record_of(cli(*asked, "--seen", "40", "--check"))
    keys = {claim["key"] for claim in found["claims"]}
    assert {"forecast.crps", "forecast.brier", "forecast.exact"} <= keys or keys == {"forecast.outside"}
    Path("inputs.jsonl").write_text('{"input": "1 1 1"}\n{"input": "1 1 1 0 1 1 1 0"}\n')
    found = record_of(cli(*asked, "--seen", "20", "--unlabelled", "inputs.jsonl"))
    assert {"forecast.atc", "forecast.transported"} <= {claim["key"] for claim in found["claims"]}


# --- the card of check ----------------------------------------------------------------------------------------------


def test_the_card_has_measured_shares_where_theory_is_silent(cli, atlas, monkeypatch):
    monkeypatch.setattr("lengthwise.cli.commands.check.load_atlas", lambda: load_atlas(atlas))
    card = record_of(cli("check", "tomita_4", "--position", "rope", "--position", "learned+offset", "--json"))
    silent = [verdict["encoding"] for verdict in card["verdicts"] if verdict["outlook"] == "unknown"]
    assert [claim["evidence"]["encoding"] for claim in card["measured"]] == silent == ["rope"]
    assert {claim["kind"] for claim in card["measured"]} == {"measured"}
    grounds = json.dumps(card["verdicts"])
    assert "forecast." not in grounds  # what was measured is no ground of a verdict


def test_a_card_needs_no_atlas(cli, monkeypatch):
    def damaged():
        raise UsageError("the atlas is damaged")

    monkeypatch.setattr("lengthwise.cli.commands.check.load_atlas", damaged)
    answer = cli("check", "tomita_4", "--position", "rope", "--json")
    assert record_of(answer)["measured"] == []
    assert len(answer.err.splitlines()) == 1
