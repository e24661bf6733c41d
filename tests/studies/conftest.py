"""A small study that was really trained, for the tests that read run folders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store
from trained_studies import train_here

TINY = Study(
    name="tiny",
    tasks=["binary_majority"],
    positions=["none", "rope"],
    seeds=2,
    train_size=3,
    test_size=6,
    items=10,
    keep=0.5,
    model={"depth": 1, "width": 16, "heads": 1},
    training={"steps": [5, 6], "batch": 8},
)


@pytest.fixture(scope="session")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small study as a coordinator leaves it: all but the last of its runs are finished."""
    return train_here(TINY, tmp_path_factory.mktemp("studies") / "tiny", left=1)


@pytest.fixture
def trained_study(trained_once: Path, tmp_path: Path) -> Path:
    """A copy of the small study that a test may break."""
    return Path(shutil.copytree(trained_once, tmp_path / "tiny"))


@pytest.fixture
def tiny_spec() -> Study:
    return TINY


@pytest.fixture
def contents() -> Callable[[Path], dict[str, object]]:
    """All that an index says."""

    def read(folder: Path) -> dict[str, object]:
        with Store.open(folder) as store:
            return {"facts": store.facts(), "runs": store.runs(), "tracked": store.tracked()}

    return read
