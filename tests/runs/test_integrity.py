"""Attack: whatever is changed in the folder of a run, nobody gets numbers of another model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.cli import main
from lengthwise.integrity import CONFIG, COORDINATES, PLAN, RUN, WEIGHTS, sealed
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import carry_out, load_run, measure
from refusals import refused

CURVE, LADDER = "records/curve.json", "records/ladder-items=2-decoded=1-inside=1.json"
FEW = LadderProbe(2, 1, 1)
MODEL = {"depth": 1, "width": 16, "heads": 1}
TRAINING = {"steps": 5, "batch": 8}


def _plan(**settings: object) -> Plan:
    chosen = {"train_size": 4, "test_size": 6, "items": 5, "settings": {**MODEL, **TRAINING}, **settings}
    return plan_for("sort:alphabet=20", "rope", **chosen)  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry_out(_plan(), tmp_path_factory.mktemp("runs") / "whole").folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def _edited(name: str, change: Callable[[dict], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        change(content)
        (folder / name).write_text(json.dumps(content, indent=2))

    return edit


def _flipped(folder: Path) -> None:
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-5] ^= 1
    (folder / WEIGHTS).write_bytes(bytes(data))


def _flipped_with_its_hash(folder: Path) -> None:
    """What a careless forger does: the weights, and the hash beside them."""
    import hashlib

    _flipped(folder)
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    _edited(CONFIG, lambda config: config.update(weights_sha256=digest))(folder)


CHANGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "attention looks ahead": (CONFIG, _edited(CONFIG, lambda config: config.update(causal=False))),
    "another base": (CONFIG, _edited(CONFIG, lambda config: config.update(position="rope:base=100.0"))),
    "a space in the config": (CONFIG, lambda folder: (folder / CONFIG).open("a").write(" ") and None),
    "a bit of the weights": (WEIGHTS, _flipped),
    "weights and their hash": (CONFIG, _flipped_with_its_hash),
    "half the weights": (WEIGHTS, lambda folder: _halved(folder / WEIGHTS)),
    "no weights": (WEIGHTS, lambda folder: (folder / WEIGHTS).unlink()),
    "a better curve": (CURVE, _edited(CURVE, lambda curve: curve["data"].update(certain=False))),
    "another history": (RUN, _edited(RUN, lambda record: record["history"].update(step=10_000))),
    "another training size": (RUN, _edited(RUN, lambda record: record["plan"].update(train_size=5))),
    "no hashes": (RUN, _edited(RUN, lambda record: record.pop("files"))),
    "coordinates of another run": (COORDINATES, lambda folder: (folder / COORDINATES).write_text("x") and None),
}


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_run_is_refused_and_the_file_named(folder: Path, change: str) -> None:
    name, make = CHANGES[change]
    make(folder)
    for use in (lambda: load_run(folder), lambda: measure(folder)):
        assert name in refused(use)
    if name == CURVE:
        assert carry_out(_plan(), folder).curve == load_run(folder).curve, "what was measured is measured again"
    else:
        assert name in refused(lambda: carry_out(_plan(), folder))


@pytest.mark.parametrize("command", ["measure", "inspect", "bound", "train", "shift"])
@pytest.mark.parametrize("change", ["attention looks ahead", "another base", "a bit of the weights"])
def test_no_command_gives_numbers_of_another_model(folder: Path, capsys, command: str, change: str) -> None:
    name, make = CHANGES[change]
    make(folder)
    tiny = "--position rope --steps 5 --batch 8 --depth 1 --width 16 --heads 1 --train-size 4 --test-size 6 --items 5"
    arguments = {
        "train": ["sort:alphabet=20", *tiny.split(), "--folder", str(folder)],
        "shift": ["sort:alphabet=20", "--from", "4", "--to", "6", "--metric", f"hidden:model={folder}"],
    }
    code = main([command, *arguments.get(command, [str(folder)])])
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert name in said.err


def test_what_is_whole_is_used_again(folder: Path) -> None:
    before = (folder / RUN).stat().st_mtime_ns
    assert carry_out(_plan(), folder).curve == load_run(folder).curve
    assert (folder / RUN).stat().st_mtime_ns == before


def test_weights_that_are_damaged_before_the_measurement_are_not_measured(folder: Path) -> None:
    """As after a kill: the model is trained, nothing is measured yet."""
    record = json.loads((folder / RUN).read_text())
    (folder / PLAN).write_text(json.dumps(record))
    (folder / RUN).unlink()
    assert carry_out(_plan(), folder).curve
    (folder / PLAN).write_text(json.dumps(record))
    (folder / RUN).unlink()
    _edited(CONFIG, lambda config: config.update(causal=False))(folder)
    assert CONFIG in refused(lambda: carry_out(_plan(), folder))


@pytest.mark.system
@pytest.mark.parametrize("last", [CURVE, "records/ladder-items=3-decoded=1-inside=1.json", RUN])
def test_killed_while_a_finished_run_is_measured_otherwise(tmp_path: Path, last: str) -> None:
    """The files of two measurements never pass for one: whatever was written last, the same call gives a whole run."""
    folder = carry_out(_plan(probes=[FEW]), tmp_path / "run").folder
    asked = _plan(items=7, probes=[LadderProbe(3, 1, 1)])
    code = (
        "import os, sys, lengthwise.files as files; from pathlib import Path; replace = os.replace\n"
        f"def killed(part, path):\n    replace(part, path); str(path).endswith({last!r}) and os._exit(9)\n"
        "files.os.replace = killed\n"
        "from lengthwise.runs.run import carry_out; from lengthwise.runs.plan import Plan; import json\n"
        "carry_out(Plan.from_plain(json.loads(sys.argv[1])), sys.argv[2])"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(asked.plain()), str(folder)], check=False)
    assert done.returncode == 9
    run = carry_out(asked, folder)
    assert {point.items for point in run.curve.points} == {7}
    assert load_run(folder).curve == run.curve
    assert Ladder.from_record(run.record("ladder-items=3-decoded=1-inside=1")).settings == asked.probes[-1]


def test_an_edited_record_is_named_and_measured_again(tmp_path: Path) -> None:
    asked = _plan(probes=[FEW])
    folder = carry_out(asked, tmp_path).folder
    before = (folder / LADDER).read_bytes()
    (folder / LADDER).write_bytes(before.replace(b'"seed": 0', b'"seed":  0'))
    assert LADDER in refused(lambda: load_run(folder))
    carry_out(asked, folder)
    assert (folder / LADDER).read_bytes() == before and Ladder.from_record(load_run(folder).record("ladder"))


@pytest.mark.parametrize("slug", ["../run", "a/b", ".hidden", "", "curve\x00"])
def test_a_record_is_never_read_from_outside_its_place(folder: Path, slug: str) -> None:
    record = json.loads((folder / RUN).read_text())
    entry = record["records"]["curve"]
    record["files"][f"records/{slug}.json"] = record["files"][CURVE]
    (folder / RUN).write_text(json.dumps(sealed({**record, "records": {slug: entry}})))
    assert "is not the name of a probe's record" in refused(lambda: load_run(folder))
