"""What docs/how-to/shift.md says is true."""

import re
import shlex
from pathlib import Path

import pytest

from lengthwise.cli import main
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.samples import task_sample
from lengthwise.transport.metrics import metrics

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "shift.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
FILES = [text for kind, text in BLOCKS if kind == "json"]
COMMANDS = [(text, BLOCKS[at + 1][1]) for at, (kind, text) in enumerate(BLOCKS) if kind == "console"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, text in zip(("train.jsonl", "test.jsonl"), FILES, strict=True):
        Path(name).write_text(text)


@pytest.mark.system
@pytest.mark.wording
@pytest.mark.parametrize("command, output", COMMANDS, ids=[command.strip() for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_shows(here, capsys, command, output):
    """The page shows all of what is printed, or its beginning."""
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "lengthwise" and main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(output.rstrip("\n")) and len(output) > 100


def test_the_numbers_in_the_text():
    shift = measure_shift(task_sample("sort", 10), task_sample("sort", 40, role="second"), "edit", resamples=20)
    assert "samples are 0.79 apart" in PAGE and round(shift.distance.value, 2) == 0.79
    assert "halves of the first sample 0.57" in PAGE and round(shift.noise[0].value, 2) == 0.57


def test_the_program_prints_what_its_comments_say(capsys):
    (program,) = [text for kind, text in BLOCKS if kind == "python"]
    exec(compile(program, "page", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", program)


def test_every_metric_is_on_the_page():
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (\w+) \|$", PAGE, re.MULTILINE))
    assert sorted(rows) == metrics.names()
    for name, largest in rows.items():
        diameter = metrics.maker(name).diameter
        assert largest == ("none" if diameter is None else f"{diameter:g}")
