"""`lengthwise train-length`: what it refuses, what it plans, and a whole small question, resumed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("sort",),
        ("simpel_task",),
        ("simple_task", "--error", "0"),
        ("simple_task", "--error", "1.5"),
        ("simple_task", "--minutes", "0"),
        ("simple_task", "--minutes"),
        ("simple_task", "--sizes", "8,16"),
        ("simple_task", "--vary", "omega"),
        ("modp_task", "--position", "periodc"),
    ],
)
def test_bad_input_is_one_sentence(cli, words) -> None:
    found = cli("train-length", *words)
    assert found.code == 2 and len(found.err.strip().splitlines()) == 1 and not found.out


def test_a_dry_run_counts_the_runs(cli) -> None:
    found = cli("train-length", "kgram_law", "--vary", "k=1,2", "--dry-run", "--json")
    content = json.loads(found.out)
    assert found.code == 0 and content["runs"] == 2 * 4 * 3 and len(content["tasks"]) == 2


@pytest.mark.system
def test_a_small_question_is_answered_and_resumed(cli) -> None:
    words = ("train-length", "simple_task", "--vary", "omega=1,4", "--error", "0.4", "--sizes", "2,3,4", "--seeds", "1")
    words = (*words, "--steps", "60", "--folder", "lengths", "--executor", "local:workers=1", "--quiet", "--json")
    first = json.loads(cli(*words).out)
    record = first["record"]
    assert first["done"] == first["total"] == 6 and record["source"] == "plateau"
    keys = [claim["key"] for claim in record["claims"]]
    assert {"plateau.falls", "plateau.rises", "lengths.needed"} <= set(keys)
    assert json.loads(cli(*words).out)["record"] == record, "nothing is trained again"
    shown = cli("study", "show", "lengths", "--json")
    assert shown.code == 0 and json.loads(shown.out)["records"][0]["source"] == "plateau"


@pytest.mark.system
def test_the_commands_of_the_page_can_be_planned(cli) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "train-length.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("$ ")]
    lines = [line.removeprefix("$ lengthwise ").partition("#")[0] for line in shown]
    assert len(lines) == 7
    for line in lines:
        words = shlex.split(line)
        found = cli(*words, *([] if "--dry-run" in words else ["--dry-run"]), "--json")
        assert found.code == 0 and json.loads(found.out)["command"] == words[0], line
