"""Studies on disk that were never trained, and their reports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent
from lengthwise.probes.ladder import LadderProbe
from lengthwise.reports.page import render, write_report
from paper_studies import ToldOracle, content_of, told, told_by
from synthetic_content import ladder_content
from synthetic_ladders import synthetic_evidence

__all__ = ["content_of", "told"]


def rendered(study: StudyContent, oracle: Any = None) -> str:
    """The page of a study, with the predictions of an oracle that knows nothing unless one is given."""
    with told_by(oracle or ToldOracle({})):
        return render(study, analyse(study))


@pytest.fixture(scope="session")
def page_of() -> Callable[..., str]:
    return rendered


@pytest.fixture(scope="session")
def report_of() -> Callable[..., Path]:
    """`report_of(folder, oracle)`: the report of a study, with the predictions of this oracle."""

    def write(folder: Path, oracle: Any, output: Path | None = None) -> Path:
        with told_by(oracle):
            return write_report(folder, output)

    return write


@pytest.fixture(scope="session")
def study(tmp_path_factory, synthetic_study) -> Path:
    """A study of the usual shape: two tasks, three encodings, three seeds, one failed run."""
    return synthetic_study(tmp_path_factory.mktemp("studies") / "usual", ["sort", "(aa)*"])


@pytest.fixture(scope="session")
def large_study(tmp_path_factory, synthetic_study) -> Path:
    """5,000 runs: 100 tasks, ten encodings, five seeds."""
    tasks = [f"task_{number}" for number in range(100)]
    positions = [f"encoding_{number}" for number in range(10)]
    return synthetic_study(tmp_path_factory.mktemp("studies") / "large", tasks, positions, seeds=5)


@pytest.fixture(scope="session")
def report(study) -> Path:
    """The report, with one cell decided."""
    with told_by(ToldOracle({("sort", "none"): "can hold"})):
        return write_report(study)


@pytest.fixture(scope="session")
def large_report(large_study) -> Path:
    """The report of 5,000 runs, by the command line."""
    path = large_study.parent / "large.html"
    command = [sys.executable, "-m", "lengthwise", "report", str(large_study), "--out", str(path)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    return path


@pytest.fixture(scope="session")
def ladder_report(tmp_path_factory) -> Path:
    """The page of 54 models on ladders of three search problems."""
    path = tmp_path_factory.mktemp("ladders") / "report.html"
    evidence = synthetic_evidence(settings=LadderProbe(12, 4, 4))
    path.write_text(rendered(ladder_content(evidence), ToldOracle({})), encoding="utf-8")
    return path
