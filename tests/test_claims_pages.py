"""The pages on what became of the claims: their commands print what they show, and the counted verdicts are theirs."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lengthwise.cli import main

DOCS = Path(__file__).parents[1] / "docs"
WRITTEN = ("claims-attention.md", "claims-limits.md", "claims-reasoning.md")
NAMES = ("claims.md", "claims-search.md", *WRITTEN)
TEXTS = {name: (DOCS / "findings" / name).read_text(encoding="utf-8") for name in NAMES}
BAR = "\\|"  # in a cell


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_claims", DOCS / "make_claims.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def shown() -> list[tuple[str, tuple[str, ...]]]:
    """Every command of the written pages, with the lines of its output that they show."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for name in WRITTEN:
        for block in re.findall(r"```console\n(.*?)```", TEXTS[name], re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, *lines = part.strip().splitlines()
                found.append((command, tuple(lines)))
    return found


@pytest.mark.system
@pytest.mark.wording
@pytest.mark.parametrize(("command", "lines"), shown(), ids=[command for command, _ in shown()])
def test_a_command_prints_what_the_page_shows(command: str, lines: tuple[str, ...], capsys) -> None:
    name, *words = shlex.split(command)
    assert name == "lengthwise" and lines
    assert main([*words, "--quiet"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for line in lines:
        before, found, said = said.partition(" ".join(line.split()))
        assert found, f"{line!r} is not in what is printed after {before[-200:]!r}"


@pytest.mark.system
@pytest.mark.parametrize("name", WRITTEN)
def test_python_gives_what_the_page_shows(name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(TEXTS[name], {}, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 5


@pytest.mark.parametrize("name", NAMES[1:])
def test_every_claim_has_a_number_and_a_known_verdict(name: str, maker: ModuleType) -> None:
    rows = maker.ROW.findall(TEXTS[name])
    lines = [line for line in TEXTS[name].splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == len(lines) and {row[2] for row in rows} <= set(maker.WORDS)
    numbers = [tuple(map(int, row[0].split("."))) for row in rows]
    assert len(set(numbers)) == len(numbers) and numbers == sorted(numbers)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_row_says_what_it_rests_on(name: str) -> None:
    for line in TEXTS[name].splitlines():
        if re.match(r"\| \d", line):
            cells = line.replace(BAR, "").strip("| ").split(" | ")
            assert len(cells) == 4 and all(cells), line


def test_the_overview_counts_the_verdicts(maker: ModuleType) -> None:
    assert TEXTS["claims.md"] == maker.overview(), "run `python docs/make_claims.py`"
    counts = [sum(maker.verdicts(TEXTS[name]).values()) for name in NAMES[1:]]
    assert min(counts) >= 10 and sum(counts) > 90


@pytest.mark.system
@pytest.mark.wording
def test_the_page_on_search_is_made_from_the_data(maker: ModuleType) -> None:
    assert TEXTS["claims-search.md"] == maker.page(), "run `python docs/make_claims.py`"


def test_without_data_nothing_is_claimed_from_them(maker: ModuleType) -> None:
    page = maker.page({})
    rows = maker.ROW.findall(page)
    given = {one.number for one in maker.STATEMENTS if one.verdict}
    assert len(rows) == len(maker.STATEMENTS) and page.count("not run") == len(maker.FILES)
    assert all(verdict == "undecided" for number, _, verdict in rows if number not in given)
