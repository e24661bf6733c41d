"""Every command that prints records: no line over 80 columns, whatever the names, and where the rest is found."""

from __future__ import annotations

import argparse
import ast
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from lengthwise import cli as package
from lengthwise.cli import COMMANDS
from lengthwise.cli.commands.records import MOST_LINES, elsewhere, opening, write_answer, write_record
from lengthwise.records import Claim, Column, Record, Table

WORD = "x" * 130
WIDE = "長" * 70
HOSTILE = ("word " * 40, WORD, f"a {WORD} b", WIDE, "\x1b[31m" * 40, "é" * 100, "a\u0301" * 90)


def check_columns(text: str) -> list[str]:
    """The lines, none of them too wide but those that are there to be copied: a path or a command alone."""
    lines = text.splitlines()
    for line in lines:
        copied = line.startswith("  lengthwise ") or (" " not in line and Path(line).exists())
        assert copied or cell_len(line) <= 80, line
    return lines


def hostile_record(text: str) -> Record:
    names = (Column("name", "text", text), Column("other", "text"), *(Column(f"n{i}", title=text) for i in range(4)))
    rows = tuple((text, text, *[-1.234e-100] * 4) for _ in range(40))
    tables = (
        Table("t.long", names, rows, text, text),
        Table("t.short", (Column("number"), Column("text", "text")), ((1.0, text),)),
        Table("t.detail", names, rows, text, detail=True),
    )
    claim = Claim(f"{text}.key", text, text, "measured")
    return Record("source", {}, text, (text, text), (claim,), tables, failed=text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("write", [write_record, write_answer])
def test_any_record_fits(capsys, text, write):
    write(hostile_record(text), "with --json")
    lines = check_columns(capsys.readouterr().out)
    assert any(line.startswith("More with --json:") for line in lines)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_an_answer_has_three_lines(capsys, text):
    for count in range(5):
        taken = opening([text] * count)
        assert 0 <= taken <= count and len(check_columns(capsys.readouterr().out)) <= MOST_LINES


def test_an_answer_is_cut_only_where_it_must_be_and_is_then_told_in_full(capsys):
    write_answer(Record("source", text=("one", "word " * 90)), "with --json")
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "one" and sum(line.count("word") for line in others) == 90
    write_answer(Record("source", text=("word " * 90,)), "with --json")
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("…") and lines[3] == "" and sum(line.count("word") for line in lines[3:]) == 90


def test_the_rest_is_on_the_page_where_there_is_one():
    assert "--page" not in elsewhere(argparse.Namespace())
    assert "--page FILE" in elsewhere(argparse.Namespace(page=None))
    assert "own.html" in elsewhere(argparse.Namespace(page="own.html"))


# --- every command that prints records ------------------------------------------------------------------------------

LONG = "a_name_that_no_line_can_hold_" * 5
CALLS = {
    "inspect": [["RUN"]],
    "bound": [["RUN", "--quantiser", "uniform:levels=16"]],
    "bound plan": [["--params", "7B", "--tokens", "1T", "--loss", "2.2"], ["--params", "1.7T", "--tokens", "1T"]],
    "bound shift": [["RUN", "--to", "5", "--items", "20"]],
    "bound width": [
        ["--constant", "2", "--units", "6400"],
        ["--constant", "2", "--error", "1e-9", "--smoothness", "1"],
    ],
    "bound contrastive": [
        ["--anchors", "a.npy", "--positives", "b.npy", "--negatives", "7", "--temperature", "1", "--bits", "1e9"]
    ],
    "advise": [["sort"], ["LONG.jsonl"]],
    "forecast": [["sort"], ["LONG.jsonl"]],
    "limit": [["wave:omega=4"], ["RUN", "--items", "2"]],
    "limit simulate": [["wave:omega=4", "--word", "01" * 60]],
    "limit compare": [["wave:omega=4", "wave:omega=3", "--length", "4"]],
    "measure": [["RUN", "--items", "2", "--probe", "layers", "--probe", "margins", "--probe", "curve"]],
    "train": [["LONG.jsonl", "--probe", "margins", "--position", "rope"]],
    "train-length": [
        ["simple_task", "--vary", "omega=1,4", "--error", "0.4", "--sizes", "2,3,4", "--steps", "2", "--no-report"]
    ],
    "check": [["--against", "STUDY"]],
    "study show": [["STUDY"], ["STUDY", "--analysis", "plateau"]],
}
OPENED = ("inspect", "bound")  # these, and the commands below them, open with an answer


def printing() -> set[str]:
    """The commands whose modules print records."""
    found = set()
    for name in COMMANDS:
        path = Path(package.__file__).parent / "commands" / f"{name.replace(' ', '_').replace('-', '_')}.py"
        called = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        if called & {"write_record", "write_answer", "write_records", "write_shortened"}:
            found.add(name)
    return found


def test_every_command_that_prints_records_is_called_here():
    assert printing() == {*CALLS}


@pytest.fixture
def place(tmp_path, sorting_run, synthetic_study):
    """A folder with a run, a task of data and a study of long names, and embeddings."""
    shutil.copytree(sorting_run, tmp_path / LONG)
    items = [{"input": [WORD, *"ab" * size], "answer": [WORD]} for size in range(1, 7)]
    (tmp_path / f"{LONG}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    synthetic_study(tmp_path / "runs" / "study", tasks=("sort", LONG), positions=("none", "rope", LONG))
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(0).standard_normal((80, 4)))


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.system] if name == "train-length" else []  # it starts processes


@pytest.mark.parametrize(
    ("name", "call"), [pytest.param(name, call, marks=marks(name)) for name, calls in CALLS.items() for call in calls]
)
def test_no_line_is_too_wide(cli, place, tiny, name, call):
    given = [word.replace("RUN", LONG).replace("LONG", LONG).replace("STUDY", "study") for word in call]
    if "LONG.jsonl" in call:
        given.insert(call.index("LONG.jsonl"), "--data")
    answer = cli(*name.split(), *given, *(tiny if name == "train" else ()), "--quiet")
    assert answer.code == 0, answer.err
    lines = check_columns(answer.out)
    if name.split()[0] in OPENED:
        assert 1 <= lines.index("") <= MOST_LINES


def test_a_long_table_without_rows_is_not_mentioned(capsys):
    tables = [Table(f"t.{len(rows)}", (Column("a"),), rows, detail=True) for rows in ((), ((1.0,),), ((1.0,), (2.0,)))]
    write_record(Record("source", tables=tuple(tables)))
    said = capsys.readouterr().out
    assert "t.0" not in said and "t.1 (1 row)" in said and "t.2 (2 rows)" in said
