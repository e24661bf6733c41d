"""From the folder of a study to an atlas: every finished run, each with a curve and signals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    """Add the finished runs of a study to an atlas file, which is made if it is not there; returns how many runs the
    file has then. Of equal plans the study's run counts. The oracle is asked only about tasks and encodings that the
    file does not have, so that gathering again takes seconds."""
    before = load_atlas(path) if path.exists() else Atlas(())
    facts = {run.task: run.facts for run in before.runs}
    verdicts: dict[tuple[Any, ...], Outcome] = {_asked(run): run.verdict for run in before.runs}
    with Store.open(folder) as store:
        done = [run for run in store.runs() if run.state == "done"]
    if not done:
        raise UsageError(f"no run of the study in {folder} is finished")
    known = [replace(run, settings=_given({**before.defaults, **run.settings})) for run in before.runs]
    runs = {_plan_key(run): run for run in (*known, *(_run_of(run, facts, verdicts) for run in done))}
    defaults = _usual([run.settings for run in runs.values()])
    short = (replace(run, settings=_differing(run.settings, defaults)) for run in runs.values())
    save_atlas(Atlas(tuple(short), defaults), path)
    return len(runs)


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


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    """None stands for a setting that a run does not have."""
    return {name: value for name, value in settings.items() if value is not None}


def _differing(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings.get(name) for name in defaults if settings.get(name) != defaults[name]}


def _plan_key(run: AtlasRun) -> tuple[Any, ...]:
    """What two runs of the same plan have in common."""
    settings = json.dumps(run.settings, sort_keys=True)
    return run.task, run.position, run.model, settings, run.train_size, run.sizes, run.items, run.seed


def _run_of(run: RunRecord, facts: dict[str, TaskFacts], verdicts: dict[tuple[Any, ...], Outcome]) -> AtlasRun:
    """A stored run, with all its settings."""
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
        settings=_given({name: value for name, value in run.settings.items() if name != "model"}),
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
