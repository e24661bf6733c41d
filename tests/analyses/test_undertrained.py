"""Models that were hardly trained: nothing that reports on them may take that for a failure on longer inputs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lengthwise.analyses.agreement.predictions import predict
from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import read_content
from lengthwise.analyses.published import compare
from lengthwise.analyses.reach import heat_map
from lengthwise.analyses.reach.answer import answer
from lengthwise.cli import main
from lengthwise.oracle.check import check
from lengthwise.reports.page import render
from lengthwise.studies.results import open_study
from lengthwise.studies.spec import Study
from trained_studies import train_here

# Two steps: copying is right in few items of size 4, and parity in half of them, on every machine.
STUDY = Study(
    name="undertrained",
    question="Does it hold?",
    tasks=["copy_repeat", "parity"],
    positions=["none", "learned+offset"],
    train_size=4,
    test_size=12,
    items=80,
    seeds=2,
    model={"depth": 1, "width": 16, "heads": 1},
    training={"steps": 2, "batch": 4},
)


@pytest.fixture(scope="module")
def undertrained(tmp_path_factory) -> Path:
    return train_here(STUDY, tmp_path_factory.mktemp("studies") / "undertrained")


@pytest.fixture
def told(capsys):
    """What a command prints."""

    def call(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return call


@pytest.mark.wording
def test_the_headline_says_first_that_nothing_was_learned(undertrained):
    found = answer(read_content(undertrained))
    learned, holding, deciding = found.claims
    assert (learned.value, learned.unit) == (0, "of 4") and len(learned.evidence["not_learned"]) == 4
    assert holding.value is None and holding.status == "unknown" and deciding.value is None
    assert "learned" in found.sentences[0] and not any("hold" in sentence for sentence in found.sentences)
    assert all(word in found.sentences[0] for word in ("steps", "depth", "rate"))


@pytest.mark.wording
def test_the_heat_map_is_hatched(undertrained):
    figure = heat_map(read_content(undertrained))
    assert {name: len(rows) for name, rows in figure.data.items()} == {"learned": 0, "hatched": 4, "others": 0}
    assert all("not learned" in row["text"] and "steps" in row["state"] for row in figure.data["hatched"])
    hatched = [layer for layer in figure.template["layer"] if layer["data"]["name"] == "hatched"]
    assert any(layer["mark"].get("fill", {}).get("gradient") == "linear" for layer in hatched if layer["mark"])


@pytest.mark.wording
def test_json_and_terminal_say_not_learned(undertrained, told):
    shown = json.loads(told("study", "show", undertrained, "--json"))
    assert shown["learning"] == {"learned": 0, "not_learned": 4, "answers_drawn": 0, "little": True}
    for cell in shown["cells"]:
        assert cell["learned"] is False and cell["holds"] is None
        assert cell["seeds"]["learned"] == [] and cell["seeds"]["discarded"] == [0, 1]
    lines = told("study", "show", undertrained).splitlines()
    assert "learned" in lines[1] and lines[1].startswith("None of 4")
    assert "does not hold" not in " ".join(lines)
    assert all(cell.learned is False for cell in open_study(undertrained).cells)


def test_no_prediction_is_credited_or_blamed(undertrained, told):
    """The oracle decides most of these cells, and rightly so: their failure proves nothing all the same."""
    found = predict(read_content(undertrained), check)
    assert {row.outcome for row in found.rows} == {"not_learned"} and {row.score for row in found.rows} == {None}
    assert any(row.verdict.outlook == "cannot hold" for row in found.rows), "else there is nothing to credit"
    assert found.accuracy().value is None and found.attained().value is None and found.claims() == []
    plain = json.loads(told("check", "--against", undertrained, "--json", "--quiet"))
    assert plain["accuracy"]["value"] is None and plain["contradictions"] == []
    assert {(cell["learned"], cell["holds"], cell["score"]) for cell in plain["cells"]} == {(False, None, None)}
    assert told("check", "--against", undertrained, "--quiet")


@pytest.mark.wording
def test_nothing_is_compared_with_published_values_nor_between_encodings(undertrained):
    content = read_content(undertrained)
    assert compare(content).comparisons == () and sum(map(len, compare(content).apart.values())) == 4
    page = render(content, analyse(content))
    assert "not learned" in page and "does not hold" not in page


def test_exports_have_it_by_run(undertrained, told, tmp_path):
    path = tmp_path / "runs.csv"
    told("study", "export", undertrained, path, "--claims")
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert len(rows) == 8 and {(row["learned"], row["holds"], row["kept"]) for row in rows} == {("false", "", "false")}


@pytest.mark.wording
def test_a_single_run_says_it_first_and_so_does_its_card(told, tmp_path):
    short = "--steps 2 --batch 4 --depth 1 --width 16 --heads 1 --items 80 --train-size 4 --test-size 12".split()  # noqa: SIM905
    folder = tmp_path / "run"
    said = told("train", "copy_repeat", *short, "--folder", folder, "--quiet")
    assert "not learned" in said.lower()[:120] and all(word in said for word in ("steps", "depth", "rate"))
    again = told("train", "copy_repeat", *short, "--folder", folder, "--quiet", "--json")
    plain = json.loads(again)["records"][0]["data"]
    assert plain["learned"] is False and plain["holds"] is None and plain["multiple"] == 3
    assert "not learned" in told("measure", folder, "--items", "80", "--quiet").lower()[:200]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.index("**Not learned") < card.index("| sizes |")
    seeds = told("train", "copy_repeat", *short, "--seeds", "2", "--quiet", "--folder", tmp_path / "two")
    assert "not learned" in seeds.lower()[:200] and seeds.lower().count("not learned") >= 3


@pytest.mark.wording
def test_drawn_answers_are_not_called_a_failure(told, tmp_path):
    short = "--steps 2 --batch 4 --width 16 --items 50 --train-size 8 --test-size 16".split()  # noqa: SIM905
    said = told("train", "prose", *short, "--folder", tmp_path / "run", "--quiet")
    assert "not meaningful" in " ".join(said.split())[:200] and "not learned" not in said.lower()
    again = told("train", "prose", *short, "--folder", tmp_path / "run", "--quiet", "--json")
    plain = json.loads(again)["records"][0]["data"]
    assert plain["learned"] is None and plain["holds"] is None and plain["certain"] is False
    study = Study(
        name="drawn", tasks=["prose"], positions=["none"], train_size=8, test_size=16, items=50,
        model={"width": 16}, training={"steps": 2, "batch": 4},
    )  # fmt: skip
    content = read_content(train_here(study, tmp_path / "drawn"))
    (row,) = heat_map(content).data["others"]
    assert row["text"] == "–" and "not meaningful" in row["state"]
    found = answer(content)
    assert "not meaningful" in found.sentences[0] and not any("not hold" in text for text in found.sentences)
