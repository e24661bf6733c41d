"""A small study that is really trained, run by run in this process, as a coordinator leaves it."""

from __future__ import annotations

from pathlib import Path

from lengthwise.runs.run import carry_out
from lengthwise.studies.grid import planned_records, plans, run_key, study_facts
from lengthwise.studies.record import read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import RUNS, Store


def train_here(study: Study, folder: Path, left: int = 0) -> Path:
    """Train all runs of a study but the last `left`; the folder."""
    todo = plans(study)
    (folder / RUNS).mkdir(parents=True)
    (folder / "study.toml").write_text(study.toml(), encoding="utf-8")
    with Store.open(folder, write=True) as store:
        for name, content in study_facts(todo).items():
            store.note(name, content)
        store.note("study", study.plain())
        store.note("toml", study.toml())
        store.plan(planned_records(todo))
        for plan in todo[: len(todo) - left]:
            carry_out(plan, folder / RUNS / run_key(plan))
            store.finish(read_finished(folder / RUNS / run_key(plan)))
    return folder
