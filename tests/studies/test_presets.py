"""Presets: laid over the study, the first by default, each with a name of its own; and what cannot be meant."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lengthwise.errors import UnknownName, UsageError
from lengthwise.positions import make_position, positions
from lengthwise.positions.limit import LocalBias, Periodic
from lengthwise.positions.wrapping import Offset, RandomFloats, Randomized
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.index_shift import IndexShiftProbe
from lengthwise.probes.ladder import LadderProbe
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study, builtin_presets
from lengthwise.studies.study_file import preset_names, with_preset

TEXT = """
tasks = ["sort", "mine.py::Repeat"]
seeds = 2
probes = "ladder"

[model]
depth = [1, 2]
width = 16

[training]
steps = 100
batch = 8

[preset.small]
training = { steps = 50 }

[preset.full]
tasks = ["other.py::Copy", "sort"]
seeds = 5
probes = ["curve", "ladder:items=60,decoded=20,inside=10"]

[preset.full.training]
rate = 0.001

[preset.full.model]
depth = 4

[preset.plain]
probes = ["curve"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "mine.toml"


def test_the_first_is_taken_unless_another_is_named(file: Path) -> None:
    assert Study.read(file) == Study.read(file, "small")
    assert Study.read(file).name == "mine" and Study.read(file, "full").name == "mine-full"
    assert preset_names(tomllib.loads(TEXT)) == ("small", "full", "plain")


def test_tables_are_merged_key_by_key_and_all_else_is_replaced(file: Path) -> None:
    small, full = Study.read(file), Study.read(file, "full")
    assert small.training == {"steps": (50,), "batch": (8,)} and small.model == {"depth": (1, 2), "width": (16,)}
    assert full.training == {"steps": (100,), "batch": (8,), "rate": (0.001,)}
    assert full.model == {"depth": (4,), "width": (16,)}
    assert (len(small.seeds), len(full.seeds)) == (2, 5)
    assert small.probes == ("ladder",) and full.probes == ("curve", "ladder:items=60,decoded=20,inside=10")
    assert Study.read(file, "plain").probes == ("curve",)
    assert full.tasks == (f"{file.parent}/other.py::Copy", "sort"), "paths in a preset are relative to the file too"


@pytest.mark.parametrize("preset", ["small", "full", "plain"])
def test_what_is_written_has_no_presets_and_reads_back_equal(file: Path, tmp_path: Path, preset: str) -> None:
    study = Study.read(file, preset)
    assert "preset" not in study.plain() and Study.from_plain(study.plain()) == study
    (tmp_path / "study.toml").write_text(study.toml(), encoding="utf-8")
    assert Study.read(tmp_path / "study.toml") == study


def test_an_unknown_preset_is_one_sentence(file: Path) -> None:
    with pytest.raises(UnknownName) as error:
        Study.read(file, "ful")
    assert "has no preset 'ful'; did you mean 'full'? it has small, full, plain" in str(error.value)
    with pytest.raises(UsageError, match="the study quick has no presets, so the preset small chooses nothing"):
        Study.read("quick", "small")
    with pytest.raises(UsageError, match="a study has no key 'preset'"):
        Study.from_plain({"name": "x", **tomllib.loads(TEXT)})


WRONG: dict[str, tuple[Any, str]] = {
    "no table": (3, r"\[preset\] must be a table"),
    "a preset that is no table": ({"small": 3}, r"\[preset.small\] must be a table"),
    "a name inside": ({"small": {"name": "x"}}, r"\[preset.small\] has a key 'name'"),
    "presets in presets": ({"small": {"preset": {}}}, r"\[preset.small\] has a key 'preset'"),
    "a name that is no folder": ({"a/b": {}}, "ends that of a folder"),
    "an unknown key": ({"small": {"seed": 3}}, "has no key 'seed'; did you mean 'seeds'"),
    "an unknown training key": ({"small": {"training": {"step": 3}}}, "did you mean 'steps'"),
    "a number for a table": ({"small": {"training": 3}}, r"\[training\] must be a table"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant(name: str) -> None:
    given, sentence = WRONG[name]
    with pytest.raises(UsageError, match=sentence):
        Study.from_plain(with_preset({"name": "x", "tasks": "sort", "preset": given}, None))


PROBES: dict[str, tuple[str, str]] = {
    "no such probe": ("lader", "unknown probe 'lader'; did you mean 'ladder'"),
    "an unknown setting": ("ladder:item=3", "has no setting 'item'; did you mean 'items'"),
    "text": ("ladder:items=x", "items takes a whole number, not 'x'"),
    "more decoded than there are": ("ladder:items=4,decoded=8,inside=2", "at least 2 items per level"),
}


@pytest.mark.parametrize("name", PROBES)
def test_probes_that_cannot_be(name: str) -> None:
    given, sentence = PROBES[name]
    with pytest.raises(UsageError, match=sentence):
        plans(Study("x", "sort", probes=given))
    with pytest.raises(UsageError, match=sentence):
        plans(Study("x", "sort", override=[{"task": "sort", "probes": given}]))


def test_an_override_gives_one_task_a_probe_or_takes_it_away() -> None:
    few, found = "ladder:items=4,decoded=2,inside=2", (CurveProbe(), LadderProbe(4, 2, 2))
    one = Study("x", ["sort", "subset_sum"], train_size=3, override=[{"task": "subset_sum", "probes": few}])
    assert {plan.task_name: plan.probes for plan in plans(one)} == {"sort": (CurveProbe(),), "subset_sum": found}
    other = Study("x", ["sort", "subset_sum"], train_size=3, probes=few, override=[{"task": "sort", "probes": "curve"}])
    assert [plan.probes for plan in plans(other)] == [(CurveProbe(),), found]
    for study in (one, other):
        assert Study.from_plain(tomllib.loads(study.toml())) == study


@pytest.mark.system
def test_search54_is_54_configurations_with_equal_training_in_every_preset() -> None:
    assert builtin_presets()["search54"] == ("small", "full", "encodings", "steep", "extended")
    wanted = (("small", 1, 54), ("full", 3, 54), ("encodings", 3, 36), ("steep", 1, 54), ("extended", 1, 27 * 19))
    for preset, seeds, configurations in wanted:
        study = Study.read("search54", preset)
        made = plans(study)
        assert len(made) == configurations * len(study.seeds) and len(study.seeds) >= seeds
        assert len({repr(plan.recipe) for plan in made}) == 1, "unequal training would fake an effect of size"
        assert all([type(probe) for probe in plan.probes[:2]] == [CurveProbe, LadderProbe] for plan in made)
        assert all((IndexShiftProbe in map(type, plan.probes)) == (preset != "steep") for plan in made)


def test_depth_width_has_the_layers_and_widths_of_a_floor() -> None:
    for preset, seeds in (("small", 2), ("full", 5)):
        study = Study.read("depth_width", preset)
        assert len(study.model["width"]) >= 6 and (min(study.model["depth"]), max(study.model["depth"])) == (1, 8)
        assert len(study.seeds) == seeds and study.analyses[0] == "floors"


def test_extended_has_every_encoding() -> None:
    made = [make_position(text) for text in Study.read("search54", "extended").positions]
    bases = {type(one.base if isinstance(one, Offset | Randomized | RandomFloats) else one) for one in made}
    every = {positions.maker(name) for name in positions.names()}
    # ids come from the task, and some tasks give none; those of limit transformers have a study of their own
    assert bases == {one for one in every if not one.from_task} - {Periodic, LocalBias}
    assert {Offset, Randomized} <= {type(one) for one in made}


@pytest.mark.system
def test_presets_on_the_command_line(tmp_path: Path) -> None:
    def said(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lengthwise", "study", *words]
        return subprocess.run(command, text=True, capture_output=True, cwd=tmp_path, check=False)

    listed = said("--list")
    assert "small (unless another is named), full, encodings, steep, extended" in listed.stdout
    unknown = said("search54", "--preset", "fll")
    assert unknown.returncode == 2 and unknown.stderr.count("\n") == 1 and "did you mean 'full'" in unknown.stderr
