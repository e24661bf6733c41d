"""Prediction and measurement on the terminal and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lengthwise.analyses.agreement.predictions import predict
from lengthwise.analyses.content import read_content
from lengthwise.oracle.check import Card, check
from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.records import Claim
from lengthwise.tasks.sizes import name_of
from paper_studies import told_by


@pytest.fixture
def study(synthetic_study):
    return synthetic_study(Path("runs/small"), ["sort", "gone.py::\x1b[31mRed"], ["none", "rope"], seeds=1, failed=1)


@pytest.mark.wording
def test_the_table_fits_80_columns_and_leaves_the_terminal_alone(study, cli):
    said = cli("check", "--against", "small", "--quiet")
    assert said.code == 0 and said.err == "" and "\x1b" not in said.out and "`" not in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert "gone.py" in said.out


def test_a_folder_is_taken_too_and_json_is_one_object(study, cli):
    said = cli("check", "--against", study, "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert said.out.count("\n") == 1 and found["command"] == "check" and found["study"] == "small"
    assert len(found["cells"]) == 4 and said.err.startswith("looking at 2 tasks …\n")
    assert sum(sum(row.values()) for row in found["counts"].values()) == 4


def test_an_unknown_study_is_a_sentence(study, cli):
    said = cli("check", "--against", "smal")
    assert said.code == 2 and "did you mean 'small'" in said.err


@pytest.mark.wording
def test_contradictions_and_what_training_missed_are_written_out(study, cli):
    content = read_content(study)
    held = {row.cell.position: row.outcome for row in predict(content, check).rows if row.cell.task == "sort"}
    judged = {position for position, outcome in held.items() if outcome in ("held", "not_held")}
    assert judged, held

    def contrary(task, positions, *, model, train_size, test_size, quick):
        """What held cannot hold, and what did not hold can."""
        found = {}
        for position in positions:
            outlook = "cannot hold" if held[position] == "held" else "can hold"
            opinion = Opinion("test", outlook, "it was told so", Claim("x", True, "", "proved"))
            found[position] = Verdict(position, (opinion,))
        return Card(name_of(task), train_size, test_size, found)

    found = predict(content, contrary)
    assert len(found.contradictions) + len(found.not_reached) == len(judged)
    with told_by(contrary):
        said = cli("check", "--against", study, "--quiet").out
    assert max(map(len, said.splitlines())) <= 80
    assert " ".join(said.split()).count("it was told so.") == len(judged)
