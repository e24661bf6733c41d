"""The bar for probes: one file of a user's, and it is in every command without another line."""

import json
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.probes import probes

OWN = '''
"""A probe of a user's own."""

from dataclasses import dataclass

from lengthwise.messages import explain
from lengthwise.probes import Context, Probe
from lengthwise.records import Claim, Column, Record, Table

explain({"mine.norm": "length of the embeddings, times {scale}"})


@dataclass(frozen=True)
class EmbeddingNorm(Probe):
    """How long the embeddings of tokens are."""

    needs = ("transformer",)
    scale: float = 1.0

    def measure(self, subject, context: Context) -> Record:
        weight = subject.capability("transformer").embedding.weight
        lengths = [self.scale * float(row.norm()) for row in weight.detach()]
        claim = Claim("mine.norm", sum(lengths), "", "measured", evidence={"scale": self.scale})
        columns = (Column("token", "whole"), Column("length", "number"))
        return Record("", claims=(claim,), tables=(Table("mine.lengths", columns, tuple(enumerate(lengths))),))
'''
TINY = "--steps 5 --batch 8 --depth 1 --width 16 --heads 1 --items 80 --train-size 3 --test-size 5".split()  # noqa: SIM905
STUDY = """
tasks = ["binary_majority"]
train_size = 3
test_size = 5
items = 80
probes = ["mine.py::EmbeddingNorm:scale=2"]
model = { depth = 1, width = 16, heads = 1 }
training = { steps = 5, batch = 8 }
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    assert len(OWN.splitlines()) <= 60
    return tmp_path / "mine.py"


def test_in_measure_and_train(cli, own: Path) -> None:
    assert cli("train", "binary_majority", *TINY, "--folder", "run", "--quiet").code == 0
    shown = cli("measure", "run", "--probe", "mine.py::EmbeddingNorm:scale=2", "--quiet")
    assert shown.code == 0 and "EmbeddingNorm" in shown.out
    content = json.loads(cli("measure", "run", "--probe", "mine.py::EmbeddingNorm", "--json", "--quiet").out)
    (record,) = content["records"]
    assert (record["source"], record["settings"]) == ("EmbeddingNorm", {"scale": 1.0})
    assert record["claims"][0]["key"] == "mine.norm" and len(record["tables"][0]["rows"]) > 5
    both = cli("train", "binary_majority", *TINY, "--folder", "run", "--probe", "mine.py::EmbeddingNorm", "--json")
    assert [one["source"] for one in json.loads(both.out)["records"]] == ["curve", "EmbeddingNorm"]
    inspected = cli("inspect", "run", "--probes", "mine.py::EmbeddingNorm", "--json", "--quiet")
    assert inspected.code == 0 and "mine.norm" in inspected.out
    again = cli("measure", "run", "--trust", "--json", "--quiet")
    assert again.code == 0 and "mine.py may not run" not in again.err


@pytest.mark.system
def test_in_a_study_its_table_its_export_and_its_object(cli, own: Path) -> None:
    Path("study.toml").write_text(STUDY)
    refused = cli("study", "study.toml", "--no-report", "--quiet")
    assert refused.code == 2 and "mine.py" in refused.err
    answer = cli("study", "study.toml", "--no-report", "--quiet", "--trust", "--executor", "local:workers=1")
    assert answer.code == 0, answer.err
    assert "length of the embeddings, times 2.0" in cli("study", "show", "study", "--probe", "EmbeddingNorm").out
    content = json.loads(cli("study", "show", "study", "--probe", "mine.py::EmbeddingNorm", "--json").out)
    assert content["records"][0]["record"]["settings"] == {"scale": 2.0}
    assert list(json.loads(cli("study", "show", "study", "--json").out)["probes"].values()) == [
        ["curve", "EmbeddingNorm"]
    ]
    rows = cli("study", "export", "study", "lengths.csv", "--probe", "EmbeddingNorm")
    assert rows.code == 0 and Path("lengths.csv").read_text().startswith("key,task,position,")
    assert "length" in Path("lengths.csv").read_text().splitlines()[0].split(",")
    assert cli("study", "export", "study", "claims.csv", "--claims").code == 0
    assert {"mine.norm", "curve.reach", "curve.exact"} <= set(Path("claims.csv").read_text().splitlines()[0].split(","))


def test_a_listed_probe_has_one_line_and_no_name_is_forgotten(cli) -> None:
    listed = json.loads(cli("measure", "--list-probes", "--json").out)["probes"]
    assert list(listed) == probes.names() and all(listed.values())
    assert {"curve", "ladder", "recursion", "sparsity", "representations"} <= set(listed)


def test_a_probe_that_is_none_is_refused(cli, own: Path) -> None:
    own.write_text("class EmbeddingNorm: pass\n")
    answer = cli("measure", "run", "--probe", "mine.py::EmbeddingNorm")
    assert answer.code == 2 and "Probe" in answer.err
    with pytest.raises(UsageError, match="unknown probe 'curv'; did you mean 'curve'"):
        probes.make("curv")


def test_a_run_is_asked_one_question(cli, sorting_run) -> None:
    answer = cli("ask", sorting_run, "3 1 2")
    assert answer.code == 0 and answer.err == ""
    content = json.loads(cli("ask", sorting_run, "3 1 2", "--json").out)
    assert content["truth"] == "1 2 3" and answer.out.startswith(content["answer"])
    wrong = cli("ask", sorting_run, "3 x")
    assert wrong.code == 2 and "has no symbol 'x'" in wrong.err
