"""Links in an output folder: nothing is written through one that leads out of the folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.executors.luggage import write_files
from lengthwise.files import check_inside
from lengthwise.probes.prompted.store import ITEMS, ItemStore
from lengthwise.records import Record
from lengthwise.runs.stored import write_record
from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, Store
from lengthwise.training.journal import add_to_journal
from lengthwise.view.bundle import write_bundle
from lengthwise.view.watch import FolderWatch


def study_of(folder: Path) -> None:
    carry_out_study(Study(name="one", tasks="sort", positions="none", train_size=4, test_size=6), folder)


def bundle(folder: Path) -> None:
    runs = folder.parent / "watched"
    runs.mkdir()
    write_bundle(FolderWatch(runs), folder)


# What writes, by the name below its folder that is a link: of a folder, or of a file where it has an ending.
WRITERS: dict[str, Callable[[Path], object]] = {
    "records": lambda folder: write_record(folder, "curve", Record("curve")),
    "runs": study_of,
    "executor": study_of,
    "data": bundle,
    "journal.jsonl": lambda folder: add_to_journal(folder / "journal.jsonl", 1, 0.5, None),
    ITEMS: lambda folder: ItemStore(folder, {}).add({"size": 1}),
    INDEX: lambda folder: Store.open(folder, write=True),
    "below": lambda folder: write_files(folder, {"below/file": b"1"}),
}


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    if name == "data":  # a bundle that is there already
        bundle(inner)
        (tmp_path / "watched").rmdir()
        for path in (inner / name).iterdir():
            path.unlink()
        (inner / name).rmdir()
    target = outer / "mine" if "." in name else outer
    if target is not outer:
        target.touch()
    (inner / name).symlink_to(target)
    with pytest.raises(UsageError):
        WRITERS[name](inner)
    assert [(path.name, path.read_bytes()) for path in outer.iterdir()] in ([], [("mine", b"")])


def test_what_is_inside(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "near").symlink_to("a")
    (tmp_path / "far").symlink_to("/")
    (tmp_path / "round").symlink_to("round")
    for name in ("a", "near", "none", "a/none"):
        assert check_inside(tmp_path / name, tmp_path) == tmp_path / name
    for name in ("far", "far/tmp", "..", "round"):
        with pytest.raises(UsageError, match="leads out of"):
            check_inside(tmp_path / name, tmp_path)
