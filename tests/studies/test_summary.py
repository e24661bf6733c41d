"""The summary of a study: small, the same bytes each time, and what findings need is in it."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

import pytest

from lengthwise.analyses.content import read_content
from lengthwise.analyses.evidence import summed_up
from lengthwise.cli import main
from lengthwise.errors import UsageError
from lengthwise.integrity import sealed
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.levels import Calibrated, Example, Inside, Ladder, LevelPoint
from lengthwise.studies.record import packed
from lengthwise.studies.shifts import write_shifts
from lengthwise.studies.store import Store
from lengthwise.studies.summary import is_summary, read_summary, write_summary

METRICS = ("features", "edit")
AXES = ("depth", "branching", "content")


def made_up(seed: int, position: str, task: str, depth: int) -> Ladder:
    """A ladder as large as a real one, of numbers that do not compress too well."""
    draw = random.Random(seed)

    def point(axis: str, value: int) -> LevelPoint:
        lengths = [draw.randint(10, 60) for _ in range(48)]
        wrong = [draw.randint(0, length // 2) for length in lengths]
        bins = tuple((draw.randint(0, 900), draw.random(), draw.random()) for _ in range(10))
        return LevelPoint(
            axis=axis, value=value, right=draw.randint(0, 48), tokens=sum(lengths),
            tokens_right=sum(lengths) - sum(wrong), loss=draw.random(),
            errors=tuple(one / length for one, length in zip(wrong, lengths, strict=True)),
            calibration=Calibrated(draw.random(), draw.random(), bins),
            decoded=16, valid=draw.randint(0, 16), solved=draw.randint(0, 16),
            inside=tuple(
                Inside(draw.random(), draw.randint(1, 900), 30 * draw.random(), draw.random() if layer else None)
                for layer in range(depth + 1)
            ),
            slope=100 * draw.random(),
        )  # fmt: skip

    points = [point("training", 0), *(point(axis, value) for axis in AXES for value in range(4, 10))]
    example = Example("training", "a " * 30, "b " * 60, "c " * 60, 3, False, False, "a sentence about it")
    return Ladder(
        task, position, 3, seed, LadderProbe(), tuple(points), (example,) * 8, 1234.56789, "a metric in words"
    )


@pytest.fixture(scope="module")
def study(synthetic_study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of a study with ladders, as a coordinator leaves them: 2 tasks, encodings as they come, 3 seeds."""
    folder = synthetic_study(tmp_path_factory.mktemp("summary") / "study", tasks=["sort", "parity"], seeds=3)
    with Store.open(folder, write=True) as store:
        for number, run in enumerate(store.runs("done")):
            ladder = made_up(number, run.position, run.task, int(run.settings["depth"]))
            ladder = dataclasses.replace(ladder, seed=run.seed, train_size=run.train_size)
            stored = {**run.stored, **packed({"ladder": ladder.record()})}
            store.finish(dataclasses.replace(run, stored=stored))
    sizes = {(run.task, run.train_size) for run in gather_runs(folder)}
    write_shifts(
        folder,
        [
            {"task": task, "train_size": size, "axis": axis, "value": value, "metric": metric, "unit": "tokens",
             "items": 200, "w1": value / 3, "null": 1 / 7, "low": value / 4, "high": value / 2}
            for task, size in sorted(sizes) for metric in METRICS for axis in AXES for value in range(4, 10)
        ],
    )  # fmt: skip
    return folder


def gather_runs(folder: Path):
    with Store.open(folder) as store:
        return store.runs("done")


@pytest.mark.parametrize("name", ["summary.json", "summary.json.gz"])
def test_findings_can_be_drawn_from_it(study: Path, tmp_path: Path, name: str) -> None:
    many = write_summary(study, tmp_path / name)
    whole, short = read_content(study).evidence, summed_up(read_summary(tmp_path / name))
    assert whole is not None
    assert len(short.climbs) == len(whole.climbs) == many > 5 and len(short.shifts) == len(whole.shifts) > 0
    for one, two in zip(whole.climbs, short.climbs, strict=True):
        assert (one.configuration, one.seed) == (two.configuration, two.seed)
        assert two.ladder.examples == () and two.ladder.metric == one.ladder.metric
        assert two.ladder.certified == pytest.approx(one.ladder.certified, rel=1e-3)
        for a, b in zip(one.ladder.points, two.ladder.points, strict=True):
            assert (a.name, a.right, a.tokens_right, a.valid, a.solved) == (
                b.name,
                b.right,
                b.tokens_right,
                b.valid,
                b.solved,
            )
            assert b.errors == pytest.approx(a.errors, abs=5e-5 + 1e-12) and b.risk == pytest.approx(a.risk, abs=5e-5)
            assert b.calibration.error == pytest.approx(a.calibration.error, abs=1e-4)
            assert [one.rank for one in b.inside] == pytest.approx([one.rank for one in a.inside], rel=1e-3)
    assert [shift.w1 for shift in short.shifts] == pytest.approx([shift.w1 for shift in whole.shifts], rel=1e-5)


def test_the_same_study_gives_the_same_bytes_and_they_are_few(study: Path, tmp_path: Path) -> None:
    many = write_summary(study, tmp_path / "a.json.gz")
    write_summary(study, tmp_path / "b.json.gz")
    data = (tmp_path / "a.json.gz").read_bytes()
    assert data == (tmp_path / "b.json.gz").read_bytes()
    assert len(data) / many < 1.5e6 / 162, "162 runs are to fit into 1.5 MB"


@pytest.mark.wording
@pytest.mark.parametrize("name", ["search.json", "search.json.gz"])
def test_a_report_is_written_from_it(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_summary(study, name)
    assert main(["report", name, "--quiet"]) == 0
    page = (tmp_path / "search.html").read_text(encoding="utf-8")
    assert all(run.task in page for run in gather_runs(study)) and "configurations that learned" in page
    assert not is_summary(study / "index.sqlite") and not is_summary(tmp_path / "search.html")


def test_what_is_no_summary_is_named(study: Path, trained_once: Path, tmp_path: Path) -> None:
    assert write_summary(trained_once, tmp_path / "plain.json")
    assert summed_up(read_summary(tmp_path / "plain.json")).climbs == ()
    with pytest.raises(UsageError, match="cannot write"):
        write_summary(study, tmp_path / "no" / "x.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_summary(tmp_path / "x.json")
    write_summary(study, tmp_path / "good.json")
    good = json.loads((tmp_path / "good.json").read_text())
    lies = ({"runs": [{}]}, {"schema": 9}, {"study": 3}, {"shifts": [3]}, {"shifts": [{"task": []}]})
    told = [json.dumps(sealed({**plain, **lie})) for plain in [{**good, "sha256": ""}] for lie in lies]
    for bad in ("{", "[]", "3", json.dumps({**good, "command": "another"}), *told):
        (tmp_path / "bad.json").write_text(bad)
        with pytest.raises(UsageError, match=r"bad\.json"):
            read_content(tmp_path / "bad.json")
    for edited in ({**good, "study": 7}, {**good, "shifts": []}, {k: v for k, v in good.items() if k != "sha256"}):
        (tmp_path / "bad.json").write_text(json.dumps(edited))
        with pytest.raises(UsageError, match=r"bad\.json was changed"):
            read_summary(tmp_path / "bad.json")
    (tmp_path / "bad.json.gz").write_bytes(b"no gzip")
    with pytest.raises(UsageError, match=r"bad\.json\.gz"):
        read_summary(tmp_path / "bad.json.gz")
