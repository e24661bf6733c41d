"""Which files of code may run: those that the user names, and those that data name where the data are trusted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lengthwise
from lengthwise.analyses.analysis import analyses_of
from lengthwise.analyses.content import StudyContent
from lengthwise.errors import UsageError
from lengthwise.probes import probes
from lengthwise.tasks import tasks
from lengthwise.trust import trusting
from own_tasks import REPEAT, SEARCH, written
from planted import CANARY, TASKS_OF_RUNS, planted_file

PACKAGE = Path(lengthwise.__file__).parent

# The modules in which text of the user becomes an object. Whatever is read from a file goes through `restore`: look
# twice at a new place before you add it here.
OF_THE_USER = {
    "bounds/compression/__init__.py",
    "cli/commands/advise.py",
    "cli/commands/attentions.py",
    "cli/commands/bound_shift.py",
    "cli/commands/check.py",
    "cli/commands/doctor.py",
    "cli/commands/forecast.py",
    "cli/commands/measure.py",
    "cli/commands/positions.py",
    "cli/commands/shift.py",
    "cli/commands/study.py",
    "cli/commands/study_show.py",
    "cli/commands/tasks.py",
    "cli/commands/train_length.py",
    "evidence/search_layers.py",
    "executors/__init__.py",
    "forecasts/advice.py",
    "forecasts/forecast.py",
    "models/folder.py",
    "oracle/check.py",
    "oracle/locality/own.py",
    "oracle/locality/repairs/original.py",
    "positions/__init__.py",
    "probes/guarantee/bound.py",
    "probes/inspection.py",
    "probes/probe.py",
    "probes/recursion/walk.py",
    "registry.py",
    "runs/plan.py",
    "runs/run.py",
    "runs/selection.py",
    "shift/compare.py",
    "shift/ladder.py",
    "shift/samples.py",
    "studies/coordinator.py",
    "studies/lengths.py",
    "tasks/__init__.py",
    "testing/text.py",
}


REGISTRIES = "tasks|positions|wrappers|attentions|forms|schedules|metrics|executors|probes|analyses|quantisers|registry"


def holding(pattern: str) -> set[str]:
    """The modules of the package in which some line holds a pattern."""
    paths = [path for path in PACKAGE.rglob("*.py") if re.search(pattern, path.read_text())]
    return {path.relative_to(PACKAGE).as_posix() for path in paths}


def test_only_text_of_the_user_is_made():
    assert holding(rf"\b({REGISTRIES})\.make\b|\bmake_(task|position)\((?!spec: )") == OF_THE_USER


def test_code_is_run_and_models_are_loaded_in_one_place_each():
    assert holding(r"(?<![.\w])(exec|eval|__import__)\(|torch\.load\(|pickle\.loads?\(|allow_pickle=True") == {
        "trust.py",
        "oracle/locality/repairs/original.py",  # in the text of a file that it writes, around the user's own layout
    }
    assert holding("from_pretrained") == {"models/huggingface.py", "subjects/tokenizer.py"}


@pytest.mark.parametrize("task", TASKS_OF_RUNS)
def test_stored_names_do_not_run(tmp_path, task):
    with pytest.raises(UsageError, match=r"evil\.py"):
        tasks.restore(TASKS_OF_RUNS[task](str(planted_file(tmp_path))))
    assert not (tmp_path / CANARY).exists()


def test_a_stored_study_allows_no_file_by_the_name_of_a_probe(tmp_path, monkeypatch):
    """The analyses that a study gets by default are made from the names of its records."""
    path = planted_file(tmp_path)
    monkeypatch.setattr(StudyContent, "shown_probes", (f"{path}::Slope",))
    analyses_of(StudyContent("study", ()))
    with pytest.raises(UsageError, match=r"evil\.py"):
        probes.restore(f"{path}::Slope")
    assert not (tmp_path / CANARY).exists()


def test_what_the_user_named_may_be_stored(tmp_path):
    path = written(tmp_path / "mine.py", REPEAT)
    task = tasks.make(f"{path}::Repeat:letters=3")
    assert tasks.restore(tasks.spec_of(task)) == task


def test_a_link_to_what_was_named_is_the_same_file(tmp_path, monkeypatch):
    path = written(tmp_path / "mine.py", REPEAT)
    tasks.make(path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.py").symlink_to(path)
    assert tasks.restore("mine.py") == tasks.restore({"name": "./mine.py"})
    assert type(tasks.restore("link.py::Repeat")).__name__ == "Repeat"


def test_trust_ends_with_its_block(tmp_path):
    one, two = (written(tmp_path / name, REPEAT) for name in ("one.py", "two.py"))
    with trusting() as refused:
        tasks.restore(one)
        with trusting(False):  # no less than around it
            tasks.restore(one)
    assert refused == []
    tasks.restore(one)  # it was allowed once, and has run
    with trusting(False) as refused, pytest.raises(UsageError):
        tasks.restore(two)
    assert refused == [two]


def test_trusted_data_may_name_a_task_inside_another(tmp_path):
    path = written(tmp_path / "search.py", SEARCH)
    spec = {"name": "along", "task": f"{path}::Reach", "axis": "nothing", "at": 3}
    with pytest.raises(UsageError, match="named by stored data"):
        tasks.restore(spec)
    with trusting(), pytest.raises(UsageError, match="has no axis 'nothing'"):
        tasks.restore(spec)
