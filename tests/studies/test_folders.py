"""A study is found by its folder or by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.studies.store import study_folder, study_names


@pytest.fixture
def home(tmp_path, synthetic_study, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return synthetic_study(tmp_path / "runs" / "quick", tasks=["sort"], positions=["none"], seeds=1, failed=0).parent


def test_by_name_and_by_folder(home):
    assert study_folder("quick") == Path("runs/quick")
    assert study_folder("runs/quick") == Path("runs/quick")
    assert study_folder(home / "quick") == home / "quick"


def test_a_folder_with_an_index_comes_before_the_name(home, synthetic_study):
    synthetic_study(Path("quick"), tasks=["sort"], positions=["none"], seeds=1, failed=0)
    assert study_folder("quick") == Path("quick")


def test_a_folder_without_an_index_does_not_hide_the_study_of_its_name(home):
    (Path("quick") / "runs").mkdir(parents=True)
    assert study_folder("quick") == Path("runs/quick")


def test_a_study_that_lost_its_index_is_still_found(home):
    (home / "quick" / "index.sqlite").unlink()
    (home / "quick" / "runs").mkdir()
    assert study_folder("quick") == Path("runs/quick") and study_names() == ["quick"]


@pytest.mark.parametrize("name", ["quikc", "", " ", "a" * 5000, "a\0b", "nowhere/at/all", "runs"])
def test_what_is_no_study_is_refused_in_a_sentence(home, name):
    with pytest.raises(UsageError, match="study"):
        study_folder(name)


def test_the_nearest_name_is_suggested_and_all_are_listed(home):
    with pytest.raises(UsageError, match=r"did you mean 'quick'\? runs/ holds quick"):
        study_folder("quikc")


def test_without_any_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="holds none yet"):
        study_folder("quick")
    assert study_names() == []
