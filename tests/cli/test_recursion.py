"""`measure --probe recursion`: the table, the object, own formulations, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lengthwise.cli import main
from lengthwise.probes.recursion import RecursionProbe
from lengthwise.tasks import tasks
from small_runs import points_of

TINY = ["--steps", "5", "--batch", "8", "--depth", "1", "--width", "16", "--heads", "1", "--items", "5"]
OWN = '''
from dataclasses import dataclass
from lengthwise.tasks.formulations.strings import ParityColumns

@dataclass(frozen=True)
class Mine(ParityColumns):
    """Write the running parity under the bits; states are made by a method of its own, which refuses odd ones.

    `1|1 0|·` → `1|1 0|1`.
    """

    def apply(self, state, labels):
        if labels[0] != "|".join(state[0]) and state[0][1] != "·":
            raise RuntimeError("no such state")
        return super().apply(state, labels)
'''


@pytest.fixture(scope="module")
def columns_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recursion") / "parity"
    sizes = ["--train-size", "3", "--test-size", "6", "--position", "rope"]
    assert main(["train", "parity_columns", *TINY, *sizes, "--folder", str(folder), "--quiet", "--json"]) == 0
    return folder


def test_a_table(cli, columns_run) -> None:
    answer = cli("measure", columns_run, "--probe", "recursion", "--sizes", "3,9", "--items", "10")
    assert answer.code == 0 and answer.err == ""
    assert "parity_columns, position rope, trained to size 3, run to the end, seed 0" in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    rows = [line.split()[0] for line in answer.out.splitlines() if line.strip()[:1].isdigit()]
    assert [row for row in rows if row in ("3", "9")] == ["3", "9"] * 3


def test_an_object(cli, columns_run) -> None:
    answer = cli("measure", columns_run, "--probe", "recursion", "--items", "4", "--seed", "7", "--json", "--quiet")
    assert answer.code == 0 and answer.out.count("\n") == 1
    (record,) = json.loads(answer.out)["records"]
    content = record["data"]
    assert [point["size"] for point in content["points"]] == [3, 6] and content["seed"] == 7
    point = content["points"][1]
    ends = [point[name] for name in ("on_time", "early", "late", "endless", "invalid")]
    assert sum(ends) == point["items"] == 4 and point["true_steps"] == 4 * 7


def test_sizes_of_a_curve_can_be_listed(cli, columns_run) -> None:
    answer = cli("measure", columns_run, "--sizes", "8,2,2", "--items", "4", "--json")
    assert [point["size"] for point in points_of(json.loads(answer.out))] == [2, 8]


def test_an_own_formulation(cli, tiny) -> None:
    Path("my.py").write_text(OWN, encoding="utf-8")
    assert cli("train", "my.py::Mine", *tiny, "--folder", "mine", "--quiet").code == 0
    answer = cli("measure", "mine", "--probe", "recursion", "--sizes", "5", "--items", "6")
    assert answer.code == 0 and "Mine" in answer.out and answer.err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "3,x"], "--sizes takes whole numbers separated by commas, such as 10,20,60 or 2-64, not '3,x'"),
        (["--sizes", "0"], "each of --sizes must be at least 1, not 0"),
        (["--sizes", "3", "--test-size", "4"], "--sizes and --test-size both say where to measure"),
        (["--probe", "recursion", "--generate"], "--generate goes with the curve"),
        (["--probe", "recursion", "--figure", "a.svg"], "--figure draws the curve"),
        (["--probe", "recursion", "--items", "0"], "--items must be at least 1, not 0"),
    ],
)
def test_what_is_refused(cli, columns_run, options, message) -> None:
    answer = cli("measure", columns_run, *options)
    assert (answer.code, answer.out) == (2, "") and message in answer.err and answer.err.count("\n") == 1


def test_a_run_without_steps_is_refused(cli, sorting_run, tmp_path) -> None:
    shutil.copytree(sorting_run, tmp_path / "sort")
    answer = cli("measure", "sort", "--probe", "recursion")
    assert answer.code == 2 and "has no steps to apply again and again" in answer.err


def test_doubling() -> None:
    task = tasks.make("parity_columns")
    sizes = RecursionProbe().sizes
    assert sizes(task, 8, 80) == [8, 16, 32, 64, 80] and sizes(task, 8, 8) == [8] and sizes(task, 8, 5) == [5]
