"""The layouts on docs/how-to/recursion.md are the files that the tests train, and its commands are understood."""

import re
import shlex
from pathlib import Path

import pytest

from lengthwise import trust
from lengthwise.cli import main, parser_of

LAYOUTS = Path(__file__).parents[1] / "layouts"
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "recursion.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["increment.py", "odd_even_sort.py", "comparison.py"])
def test_the_layouts_of_the_page_are_the_files_that_are_trained(name: str) -> None:
    (block,) = re.findall(rf"\(`{name}`\).*?```python\n(.*?)```", PAGE, re.DOTALL)
    text = (LAYOUTS / name).read_text(encoding="utf-8")
    assert block == text and len(text.splitlines()) < 30


@pytest.mark.system
def test_the_commands_of_the_page_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"^\$ lengthwise (.*)$", PAGE, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        words = shlex.split(command)
        parser_of(words[0]).parse_args(words[1:])
    dry = [word for word in shlex.split(commands[2]) if word not in ("--folder", "runs/increment")]
    dry[dry.index("increment.py")] = str(LAYOUTS / "increment.py")
    assert main([*dry, "--dry-run", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "window:size=2" in shown and "position rope" in shown.replace("\n", " ").replace("  ", " ")


@pytest.mark.system
def test_from_a_file_to_chains_at_ten_times_the_size_with_two_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "increment.py").write_text((LAYOUTS / "increment.py").read_text(encoding="utf-8"), encoding="utf-8")
    train, measure = re.findall(r"^\$ lengthwise (.* .*runs/increment.*)$", PAGE, re.MULTILINE)
    assert main([*shlex.split(train), "--steps", "400", "--quiet"]) == 0
    short = measure.replace("8,16,80", "8,80")
    trust._allowed.clear()  # as in another process
    assert main(shlex.split(short.replace(" --trust", ""))) == 2 and "--trust" in capsys.readouterr().err
    assert main([*shlex.split(short), "--items", "20", "--quiet"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if re.match(r"\s+80\s+1", line)]
    assert rows and rows[0][1] == "100", "all chains of 80 digits are right"
