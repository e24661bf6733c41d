"""From the folder of a study to an atlas: every finished run that has a curve and signals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence.atlas import TRANSFORMER, Atlas, AtlasRun, load_atlas, save_atlas
from lengthwise.evidence.deriving import facts_of, verdict_of
from lengthwise.evidence.task_facts import Outcome, TaskFacts, group_of
from lengthwise.models.named import brief_spec
from lengthwise.positions import positions
from lengthwise.probes.signals import SIGNALS, SIZES
from lengthwise.runs.plan import SETTINGS, Plan, plan_for
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store
from lengthwise.tasks import tasks

LOSSES = 12  # of a run, evenly spaced


def gather_atlas(folder: Path, path: Path) -> int:
    """Write the finished runs of a study to an atlas file; returns how many there are. Facts and verdicts are taken
    from the file if it is there, so that gathering again takes seconds: the oracle is asked once for each task and
    encoding."""
    before = load_atlas(path) if path.exists() else Atlas(())
    facts = {run.task: run.facts for run in before.runs}
    verdicts: dict[tuple[Any, ...], Outcome] = {_asked(run): run.verdict for run in before.runs}
    with Store.open(folder) as store:
        done = [run for run in store.runs() if run.state == "done"]
    if not done:
        raise UsageError(f"no run of the study in {folder} is finished")
    settings = [{name: value for name, value in run.settings.items() if name != "model"} for run in done]
    defaults = _usual(settings)
    found = [_run_of(run, defaults, facts, verdicts) for run in done]
    save_atlas(Atlas(tuple(found), defaults), path)
    return len(found)


def plan_of(run: AtlasRun, atlas: Atlas) -> Plan:
    """The plan that makes a run of an atlas again, whatever presets and defaults are today."""
    settings = {**atlas.defaults, **run.settings, "model": None if run.model == TRANSFORMER else run.model}
    return plan_for(
        tasks.restore(run.task),
        positions.restore(run.position),
        {name: SETTINGS[name].restored(value) for name, value in settings.items() if value is not None},
        train_size=run.train_size,
        test_size=run.sizes[-1],
        items=run.items,
        seed=run.seed,
        probes=("curve:grid=geometric", "signals"),
    )


def _usual(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The value that most runs have of each setting; None where most have none."""
    names = dict.fromkeys(name for own in settings for name in own)
    counted = {name: Counter(json.dumps(own.get(name)) for own in settings) for name in names}
    return {name: json.loads(counts.most_common(1)[0][0]) for name, counts in counted.items()}


def _run_of(
    run: RunRecord,
    defaults: Mapping[str, Any],
    facts: dict[str, TaskFacts],
    verdicts: dict[tuple[Any, ...], Outcome],
) -> AtlasRun:
    signals = run.record("signals")
    if signals is None or run.summary is None:
        raise UsageError(f"the run {run.key} has no signals; an atlas is made of a study with the probe `signals`")
    task, asked = tasks.restore(run.task), _asked(run)
    if run.task not in facts:
        facts[run.task] = facts_of(task)
    if asked not in verdicts:
        verdicts[asked] = verdict_of(task, run.position, _model_of(run), run.train_size, run.test_size)
    points, table = run.curve.points, signals.table(SIZES)
    if table.column("size") != [point.size for point in points]:
        raise UsageError(f"the run {run.key} has its curve and its signals at different sizes")
    columns = {name: table.column(name) for name in SIGNALS}
    known = {name: tuple(map(_number, values)) for name, values in columns.items() if None not in values}
    losses = [loss for _, loss in run.losses]
    places = np.linspace(0, len(losses) - 1, min(LOSSES, len(losses))).round().astype(int)
    return AtlasRun(
        task=run.task,
        group=group_of(task),
        facts=facts[run.task],
        position=run.position,
        verdict=verdicts[asked],
        settings={name: run.settings.get(name) for name in defaults if run.settings.get(name) != defaults[name]},
        train_size=run.train_size,
        seed=run.seed,
        learned=bool(run.summary.learned),
        sizes=tuple(point.size for point in points),
        exact=tuple(point.exact for point in points),
        items=run.items,
        signals=known,
        losses=tuple(losses[place] for place in places),
        model=_model_of(run),
    )


def _model_of(run: AtlasRun | RunRecord) -> str:
    if isinstance(run, AtlasRun):
        return run.model
    return brief_spec(run.settings["model"]) if "model" in run.settings else TRANSFORMER


def _asked(run: AtlasRun | RunRecord) -> tuple[Any, ...]:
    """What the oracle's verdict is about."""
    largest = run.sizes[-1] if isinstance(run, AtlasRun) else run.curve.points[-1].size
    return run.task, run.position, _model_of(run), run.train_size, largest


def _number(value: Any) -> float:
    return float(value)
