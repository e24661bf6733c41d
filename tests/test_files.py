"""Files that are whole or not there, whatever somebody else has put beside them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.files import remove_parts, replace_file, write_text
from lengthwise.studies.lock import LOCK, locked


def test_a_link_under_the_name_that_used_to_be_taken_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    for name in (f".page.html.{os.getpid()}.part", ".page.html.part", "page.html.part"):
        (tmp_path / name).symlink_to(victim)
    write_text(tmp_path / "page.html", "content")
    assert victim.read_text() == "mine"
    assert (tmp_path / "page.html").read_text() == "content"


def test_two_writers_never_take_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "one"
    with replace_file(path) as first, replace_file(path) as second:
        assert first != second
        assert first.parent == second.parent == tmp_path
        assert path.name not in first.name
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the outer block ends last
    assert os.listdir(tmp_path) == ["one"]


def test_a_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("kept")
    link.symlink_to(target)
    write_text(link, "new")
    assert (target.read_text(), link.read_text(), link.is_symlink()) == ("kept", "new", False)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_new_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_text(tmp_path / "ours", "x")
        (tmp_path / "theirs").write_text("x")
    finally:
        os.umask(before)
    ours, theirs = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs"))
    assert ours == theirs


def test_what_is_not_whole_yet_is_for_one_alone(tmp_path: Path) -> None:
    with replace_file(tmp_path / "one") as part:
        part.write_text("half")
        assert stat.S_IMODE(part.stat().st_mode) & 0o077 == 0


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replace_file(path) as part:
        part.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["one"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with replace_file(tmp_path / "one") as part:
            part.write_text("half")
            os._exit(1)
    os.waitpid(child, 0)
    (tmp_path / ".mine.part").write_text("a download of somebody")
    assert len(os.listdir(tmp_path)) == 2
    remove_parts(tmp_path)
    assert os.listdir(tmp_path) == [".mine.part"]


def test_a_lock_that_is_a_link_is_refused_and_its_target_kept(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / LOCK).symlink_to(victim)
    with pytest.raises(UsageError, match="is a link"), locked(folder, "the study"):
        pass
    assert victim.read_text() == "mine"
