"""README.md is short, its commands run, its pictures are drawn by a program, and its figures are on the pages it names.

That its links lead somewhere is tested with those of the documentation, in tests/site/test_links.py.
"""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import lengthwise as lw
from lengthwise.cli import main, parser_of
from site_texts import DOCS, ROOT, blocks, pages

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES, BYTES = 120, 1_500_000  # at most: lines of README, and bytes of a picture
FINDINGS = re.split(r"^\d\. ", README.split("\n## Five things it found\n")[1].split("\nAll figures")[0], flags=re.M)[1:]
NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?%?")
TINY = "--steps 2 --batch 4 --depth 1 --width 16 --heads 2 --items 5 --train-size 4 --test-size 6"
# What is added to a command, by its first words, to make it short; "" runs it as it stands.
SHORTER = {"check sort": "", "train sort": TINY, "particles": "--n 8 --time 1 --frames 3"}
SVG = "{http://www.w3.org/2000/svg}"


def commands() -> list[str]:
    lines = "".join(blocks(README, "console")).splitlines()
    assert all(line.startswith("$ ") for line in lines)
    return [line[2:] for line in lines]


OURS = [command for command in commands() if command.startswith("lengthwise ")]


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= LINES


def test_every_kind_of_block_is_checked() -> None:
    """A block of another language would be text that no test runs."""
    assert set(re.findall(r"^```(\w+)$", README, re.MULTILINE)) == {"console", "text"}
    assert [command for command in commands() if command not in OURS] == ["pip install -c constraints.txt ."]


@pytest.mark.system
@pytest.mark.parametrize("command", OURS)
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command)[1:]
    (extra,) = [added for start, added in SHORTER.items() if " ".join(words).startswith(start)]
    assert main([*words, *shlex.split(extra)]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    if words[0] == "train":
        shown, said = (text.partition("by bins\n")[2].splitlines()[0] for text in (blocks(README, "text")[0], printed))
        assert shown.split() == said.split()
        _kept_and_loaded(words, shlex.split(extra), printed, capsys)
    if "--page" in words:
        assert Path(words[words.index("--page") + 1]).stat().st_size > 10_000


def _kept_and_loaded(words: list[str], extra: list[str], printed: str, capsys: Any) -> None:
    """The run is below runs/, its weights are no pickle, and the command again shows the same without training."""
    weights = {path: path.stat().st_mtime_ns for path in Path("runs").rglob("*.safetensors")}
    assert weights and not [path for path in Path("runs").rglob("*") if path.suffix in (".pt", ".pth", ".bin", ".pkl")]
    assert main([*words, *extra]) == 0
    assert capsys.readouterr().out == printed
    assert {path: path.stat().st_mtime_ns for path in Path("runs").rglob("*.safetensors")} == weights


def test_what_is_said_of_installing_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = README.split("\n## Install\n")[1].split("\n## ")[0]
    assert f"Python {declared['requires-python'].removeprefix('>=')} or newer" in told
    extras = re.findall(r"'\.\[(\w+)\]'", told)
    assert len(extras) >= 4 and set(extras) <= set(declared["optional-dependencies"])


@pytest.mark.system
def test_the_package_installs_as_readme_says() -> None:
    """What pip would install: its metadata are built, nothing is fetched and nothing is changed."""
    (command,) = [command for command in commands() if command.startswith("pip ")]
    asked = [*shlex.split(command), "--dry-run", "--no-deps", "--no-build-isolation", "--ignore-installed"]
    done = subprocess.run([sys.executable, "-m", *asked], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "Would install lengthwise" in done.stdout, done.stderr


def test_the_output_is_that_of_the_tutorial() -> None:
    """Both show the same run, so a new run replaces the figures in both."""
    assert blocks(README, "text")[0] in blocks(pages()["tutorial/index.md"], "text")


def test_programs_that_readme_names_exist() -> None:
    named = re.findall(r"`(make|python) ([\w/.]+)`", README)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {program for program, _ in named} == {"make", "python"}
    for program, name in named:
        assert name in targets if program == "make" else (ROOT / name).is_file()


def test_there_are_five_findings() -> None:
    assert len(FINDINGS) == 5


@pytest.mark.parametrize("finding", FINDINGS, ids=[str(place) for place in range(1, len(FINDINGS) + 1)])
def test_every_number_of_a_finding_is_on_the_page_it_names(finding: str) -> None:
    ((words, target),) = re.findall(r"^(.*)\[[^]]+\]\(docs/(findings/[\w-]+\.md)\)\s*$", finding, re.DOTALL)
    numbers = NUMBER.findall(words.replace("Wasserstein-1", ""))
    assert len(numbers) >= 3
    there = set(NUMBER.findall(pages()[target]))
    assert not [number for number in numbers if number not in there], f"not on {target}"


def test_the_verdicts_are_counted_as_on_their_page() -> None:
    header, total = re.findall(r"^\| (?:page|all) \|(.*)\|$", pages()["findings/claims.md"], re.MULTILINE)
    counts = {
        name.strip(): int(count)
        for name, count in zip(header.split("|"), total.split("|"), strict=True)
        if count.strip().isdigit()
    }
    told = README.split("\nAll figures")[1].split("\n\n")[0].replace("\n", " ")
    found = re.search(r"of (\d+) statements, (\d+) were confirmed, (\d+) refuted and (\d+) are wrong as stated", told)
    assert found
    expected = (sum(counts.values()), counts["confirmed"], counts["refuted"], counts["wrong as stated"])
    assert tuple(map(int, found.groups())) == expected


# --- pictures ---------------------------------------------------------------------------------------------------------

PICTURES = re.findall(r"!\[([^]]+)\]\((docs/pictures/[\w.]+)\)", README)


def drawn(text: str) -> tuple[list[str], int]:
    """The texts of a picture, and the number of its shapes."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    words = [part.text or "" for part in root.iter(f"{SVG}text")]
    return words, sum(1 for part in root.iter() if part.tag in (f"{SVG}path", f"{SVG}line", f"{SVG}rect"))


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    """What docs/make_pictures.py defines."""
    return runpy.run_path(str(DOCS / "make_pictures.py"))


def test_readme_shows_a_heat_map_a_curve_and_a_film() -> None:
    names = [Path(target).name for _, target in PICTURES]
    assert names == ["heatmap.svg", "curve.svg", "tokens.gif"]
    for described, target in PICTURES:
        assert len(described) > 30 and 1000 < (ROOT / target).stat().st_size < BYTES


@pytest.mark.parametrize("name", ["heatmap", "curve"])
def test_a_chart_is_what_its_program_draws(name: str, maker: dict[str, Any]) -> None:
    """The same texts and as many shapes; where they are depends on the fonts of the machine."""
    kept = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    words, shapes = drawn(maker["svg"](maker["CHARTS"][name]))
    assert (words, shapes) == drawn(kept) and shapes > 50


def data_of(part: Any) -> list[list[dict[str, Any]]]:
    """The tables of a chart, wherever in it they are."""
    if isinstance(part, dict):
        own = [*part.get("datasets", {}).values(), *([part["values"]] if isinstance(part.get("values"), list) else [])]
        return [rows for rows in own if rows and isinstance(rows[0], dict)] + data_of(list(part.values()))
    return [rows for one in part for rows in data_of(one)] if isinstance(part, list) else []


def test_readme_says_what_the_heat_map_shows(maker: dict[str, Any]) -> None:
    rows = max(data_of(maker["heatmap"]()), key=len)
    tasks, encodings = {row["task"] for row in rows}, {row["encoding"] for row in rows}
    assert len(rows) == len(tasks) * len(encodings)
    assert f"How far {len(tasks)} tasks hold with {len(encodings)} position encodings" in README
    assert PICTURES[0][0].startswith(f"Heat map: {len(tasks)} tasks by {len(encodings)} position encodings")
    assert max(row["reach"] or 0 for row in rows) == 8
    atlas = lw.atlas()
    own = [run for run in atlas.runs if run.task in tasks and run.model == "transformer" and "steps" in run.settings]
    assert atlas.defaults["steps"] == 1000 and not own and "(1,000 steps, one seed)" in " ".join(README.split())


def test_the_curve_falls_only_beyond_training(maker: dict[str, Any]) -> None:
    sets = data_of(maker["curve"]())
    rows = next(rows for rows in sets if "encoding" in rows[0])
    (trained,) = next(rows for rows in sets if "to" in rows[0])
    assert all(row["exact"] == 1 for row in rows if row["size"] <= trained["to"])
    assert len({row["encoding"] for row in rows if row["exact"] < maker["BAR"]}) == 4
    assert {row["encoding"] for row in rows} == set(maker["CURVE_ENCODINGS"]) and len(maker["CURVE_ENCODINGS"]) == 5


def test_the_film_moves() -> None:
    from PIL import Image

    with Image.open(DOCS / "pictures" / "tokens.gif") as film:
        assert getattr(film, "n_frames", 1) > 30 and film.info["loop"] == 0 and film.size[0] <= 1000


@pytest.mark.system
def test_the_film_shows_what_the_command_simulates(maker: dict[str, Any], capsys: Any) -> None:
    (command,) = [command for command in OURS if command.startswith("lengthwise particles")]
    ours, shown = (parser_of("particles").parse_intermixed_args(words) for words in _simulations(command, maker))
    assert {**vars(ours), "page": None} == vars(shown)
    assert main(["particles", *maker["SIMULATION"], "--json", "--quiet"]) == 0
    groups = json.loads(capsys.readouterr().out)["moments"]["groups"]
    assert groups[-1] == 4 < groups[0] and "gather in four groups" in PICTURES[2][0]


def _simulations(command: str, maker: dict[str, Any]) -> tuple[list[str], list[str]]:
    return shlex.split(command)[2:], maker["SIMULATION"]


def test_the_film_is_made_from_the_page(maker: dict[str, Any], browser: Any, tmp_path: Path) -> None:
    from PIL import Image

    film = maker["film"]
    film.__globals__.update(SIMULATION=["--n", "8", "--d", "3", "--time", "4", "--frames", "6"], MOMENTS=[0, 2, 5])
    film(tmp_path / "film.gif", browser)
    with Image.open(tmp_path / "film.gif") as made:
        assert getattr(made, "n_frames", 1) == 3
