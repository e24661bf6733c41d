"""Outputs: written again if nobody touched them, never in the place of a user's file; every format stays readable."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tomllib
import xml.etree.ElementTree as Xml
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lengthwise.cli import COMMANDS, main, parser_of
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.curves import curve_chart, save_figure
from lengthwise.integrity import sealed
from lengthwise.outputs import check_output, is_ours, replace_output, write_output
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.studies.coordinator import carry_out_study, check_folder
from lengthwise.studies.export import write_columns
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, Store


def _pixels(colour: int) -> Image.Image:
    return Image.new("RGB", (8, 8), (colour, 0, 0))


def _png(path: Path) -> None:
    _pixels(200).save(path, "PNG")


def _gif(path: Path) -> None:
    _pixels(200).save(path, "GIF", save_all=True, append_images=[_pixels(10), _pixels(90)])


def _npz(path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, a=np.arange(5))


def _pdf(path: Path) -> None:
    import vl_convert

    path.write_bytes(vl_convert.svg_to_pdf(vl_convert.vegalite_to_svg(curve_chart([_curve()]).to_json())))


def _svg(path: Path) -> None:
    import vl_convert

    path.write_text(vl_convert.vegalite_to_svg(curve_chart([_curve()]).to_json()))


def _parquet(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": [1, 2, 3]}), path)


def _mp4(path: Path) -> None:
    if shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg")
    source = ["-f", "lavfi", "-i", "color=c=red:s=16x16:d=0.2"]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *source, "-f", "mp4", str(path)], check=True)


def _curve() -> dict:
    points = tuple(Point(n, n, 20, 20 - 5 * n, 20, 20 - 5 * n, 0.1, 0.25, 0.25) for n in (1, 2, 3, 4))
    return Curve("sort", "rope", 2, 0, points).plain()


def _gif_frames(path: Path) -> int:
    with Image.open(path) as image:
        return getattr(image, "n_frames", 1)


def _png_pixel(path: Path) -> object:
    with Image.open(path) as image:
        image.load()
        return image.getpixel((3, 3)), image.text["Software"].split()[0]  # pyright: ignore


def _parquet_rows(path: Path) -> object:
    from pyarrow import parquet

    return parquet.read_table(path).column("a").to_pylist()


def _mp4_frames(path: Path) -> str:
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0"]
    return subprocess.run([*command, str(path)], check=True, capture_output=True, text=True).stdout.strip()


PAGE = '<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="x"><p>text</p>\n'
# How a file of a format is made, and what one who reads it finds.
FORMATS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object], object]] = {
    ".png": (_png, _png_pixel, ((200, 0, 0), "lengthwise")),
    ".gif": (_gif, _gif_frames, 3),
    ".npz": (_npz, lambda path: np.load(path)["a"].tolist(), [0, 1, 2, 3, 4]),
    ".svg": (_svg, lambda path: Xml.fromstring(path.read_text()).tag, "{http://www.w3.org/2000/svg}svg"),
    ".pdf": (_pdf, lambda path: path.read_bytes()[:5], b"%PDF-"),
    ".parquet": (_parquet, _parquet_rows, [1, 2, 3]),
    ".mp4": (_mp4, _mp4_frames, "5"),
    ".html": (lambda path: path.write_text(PAGE), lambda path: path.read_text().startswith(PAGE), True),
    ".md": (lambda path: path.write_text("# a\n"), lambda path: path.read_text().startswith("# a\n"), True),
    ".toml": (lambda path: path.write_text("a = 1\n"), lambda path: tomllib.loads(path.read_text()), {"a": 1}),
    ".json": (
        lambda path: path.write_text(json.dumps(sealed({"a": 1}))),
        lambda path: json.loads(path.read_text())["a"],
        1,
    ),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_a_format_keeps_its_meaning_and_its_owner(tmp_path: Path, ending: str) -> None:
    make, read, expected = FORMATS[ending]
    path, plain = tmp_path / f"ours{ending}", tmp_path / f"theirs{ending}"
    for _ in range(2):  # the second time it replaces the first
        with replace_output(path) as part:
            make(part)
        assert read(path) == expected
        assert is_ours(path)
    make(plain)
    if ending != ".json":  # which has its checksum from its writer
        assert not is_ours(plain)
        with pytest.raises(UsageError, match="delete it, or give --figure another name"):
            check_output(plain, "--figure")


@pytest.mark.parametrize("ending", FORMATS)
def test_any_changed_byte_makes_it_the_users(tmp_path: Path, ending: str) -> None:
    """Attack: a byte changed, added or taken away anywhere; a file that is ours in spite of it would be lost."""
    path = tmp_path / f"ours{ending}"
    with replace_output(path) as part:
        FORMATS[ending][0](part)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    places = {0, len(data) - 1, len(data) // 2, *rng.integers(0, len(data), 40).tolist()}
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1
        if ending == ".json" and _same_json(bytes(changed), data):
            continue
        path.write_bytes(bytes(changed))
        assert not is_ours(path), place
    if ending != ".json":
        for other in (data + b" ", data + b"\n", data[:-1], b" " + data, b"", data + data):
            path.write_bytes(other)
            assert not is_ours(path)


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


def test_a_mark_alone_is_not_enough(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    write_output(ours, PAGE)
    mark = ours.read_text().removeprefix(PAGE)
    theirs.write_text(f"<p>I quote a page of theirs.</p>\n{mark}")
    assert not is_ours(theirs)


def test_tables_without_comments_are_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_columns(path, {"a": [1]}, {})
    with pytest.raises(UsageError, match=r"a \.csv file cannot say who wrote it"):
        write_columns(path, {"a": [2]}, {})
    assert path.read_text().splitlines() == ["a", "1"]


def test_links_and_other_things(tmp_path: Path) -> None:
    mine, link = tmp_path / "mine.html", tmp_path / "link.html"
    mine.write_text("mine")
    link.symlink_to(mine)
    with pytest.raises(UsageError):
        write_output(link, PAGE)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(UsageError):
        write_output(tmp_path / "folder.html", PAGE)
    assert mine.read_text() == "mine"
    assert link.is_symlink()


def test_an_object_without_its_checksum_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(LengthwiseError, match="checksum"):
        write_output(tmp_path / "a.json", "{}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".svg", ".png", ".html"])
def test_a_figure_is_drawn_again_and_a_users_is_kept(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"curve{ending}"
    save_figure(path, [_curve()])
    save_figure(path, [_curve()])
    path.write_bytes(b"a photo")
    with pytest.raises(UsageError):
        save_chart(path, curve_chart([_curve()]), "a", [])
    assert path.read_bytes() == b"a photo"


# Where a user's file stands in the way of an option, by command; the file and its name.
TRAIN = "train sort --steps 2 --batch 4 --depth 1 --width 8 --heads 1 --train-size 3 --test-size 3 --items 3"
IN_THE_WAY = {
    f"{TRAIN} --figure mine.png": "mine.png",
    f"{TRAIN} --figure mine.svg": "mine.svg",
    f"{TRAIN} --folder .": "mine.md",
    "particles --n 4 --frames 2 --time 1 --out mine.csv": "mine.csv",
    "particles --n 4 --frames 2 --time 1 --out mine.npz": "mine.npz",
    "particles --n 4 --frames 2 --time 1 --page mine.html": "mine.html",
    "particles --n 4 --frames 2 --time 1 --gif mine.gif": "mine.gif",
    "particles phases --d 2 --n 3 --starts 1 --betas 2 --frames 2 --time 1 --out mine.csv": "mine.csv",
    "particles density --out mine.npz": "mine.npz",
    "particles density --figure mine.svg": "mine.svg",
    "bound plan --figure mine.svg": "mine.svg",
    "inspect . --page mine.html": "mine.html",
    "contexture . --figure mine.svg": "mine.svg",
    "shift a.jsonl b.jsonl --figure mine.svg": "mine.svg",
    "bound . --figure mine.svg": "mine.svg",
    "report somewhere --out s.toml": "s.toml",
    "report somewhere --out s.html": "s.html",
    "study export somewhere s.csv": "s.csv",
    "study mine.toml --folder .": "mine.toml",
}


@pytest.mark.parametrize("command", IN_THE_WAY)
def test_no_command_takes_a_users_file(tmp_path: Path, monkeypatch, capsys, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / IN_THE_WAY[command]
    text = 'tasks = ["sort"] # mine\n' if mine.suffix == ".toml" else "mine"
    mine.write_text(text)
    code = main([*command.split(), "--quiet"])
    said = capsys.readouterr()
    assert (code, mine.read_text()) == (2, text), said.err
    assert said.err.startswith("lengthwise: ")
    assert "Traceback" not in said.err
    assert [path.name for path in tmp_path.iterdir()] == [mine.name], "and nothing else was begun"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_output_of_any_command_takes_a_users_file(tmp_path: Path, monkeypatch, capsys, name: str) -> None:
    """Of every option that names a file to write, also of commands to come: refused before any work is done."""
    monkeypatch.chdir(tmp_path)
    parser = parser_of(name)
    required = ["x" for action in parser._actions if not action.option_strings and action.nargs is None]
    for option, endings in parser._outputs.items():
        for ending in endings:
            mine = tmp_path / f"mine{ending}"
            mine.write_text("mine")
            assert main([*name.split(), *required, option, mine.name, "--quiet"]) == 2, option
            assert f"{mine.name} is there already" in capsys.readouterr().err
            assert mine.read_text() == "mine"
            mine.unlink()


def test_a_run_keeps_a_readme_that_somebody_made_their_own(tmp_path: Path) -> None:
    run = [*TRAIN.split(), "--folder", str(tmp_path / "run"), "--quiet", "--json"]
    assert main(run) == 0
    card = tmp_path / "run" / "README.md"
    assert is_ours(card)
    card.write_text("# My model\n")
    assert main([*run, "--items", "4"]) == 0
    assert card.read_text() == "# My model\n"


@pytest.mark.parametrize("name", ["README.md", "config.json", "plan.json", "run.json", "notes.txt"])
def test_a_folder_of_somebody_else_is_no_place_for_a_run(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    assert main([*TRAIN.split(), "--folder", str(tmp_path), "--quiet"]) == 2
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "{}")]


SPECIFICATION = """# my study
name = "mine"
tasks = ["binary_majority"]   # an easy one
positions = ["none"]
train_size = 3
test_size = 6
items = 5
model = {depth = 1, width = 8, heads = 1}
training = {steps = 2, batch = 4}
"""


@pytest.mark.system
def test_a_study_in_the_folder_of_its_own_file_leaves_the_file_alone(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(SPECIFICATION)
    study = Study.read("study.toml")
    check_folder(tmp_path, study)
    assert carry_out_study(study, tmp_path).done == 1
    assert (tmp_path / "study.toml").read_text() == SPECIFICATION
    other = Study.from_plain({**study.plain(), "positions": ["rope"]})
    with pytest.raises(UsageError, match="describes another study"):
        carry_out_study(other, tmp_path)
    assert (tmp_path / "study.toml").read_text() == SPECIFICATION


def test_a_study_replaces_the_specification_that_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SPECIFICATION)
    study, folder = Study.read(tmp_path / "mine.toml"), tmp_path / "kept"
    folder.mkdir()
    write_output(folder / "study.toml", study.toml())
    check_folder(folder, Study.from_plain({**study.plain(), "positions": ["rope"]}))
    assert Study.read(folder / "study.toml") == study


def test_a_database_of_somebody_else_is_not_written_into(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / INDEX) as db:
        db.execute("create table mine (a)")
    before = (tmp_path / INDEX).read_bytes()
    with pytest.raises(UsageError, match="database of something else"):
        Store.open(tmp_path, write=True)
    assert (tmp_path / INDEX).read_bytes() == before
