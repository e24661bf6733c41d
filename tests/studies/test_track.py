"""Runs mirrored to trackers: read back by each tracker's own reader, offline, and nothing twice."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lengthwise.errors import UnknownName, UsageError
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store
from lengthwise.studies.track import check_tracker, metrics, mirror_all, parameters

# What each tracker has of a project, as JSON: the runs, with a parameter and the metrics by step.
READERS = {
    "tensorboard": """
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from pathlib import Path
for place in sorted((folder / "tensorboard").iterdir()):
    events = EventAccumulator(str(place), {"scalars": 0}).Reload()
    found = {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    plugin = events.PluginTagToContent("hparams")["_hparams_/session_start_info"]
    from tensorboard.plugins.hparams import metadata
    hparams = metadata.parse_session_start_info_plugin_data(plugin).hparams
    given = {name: getattr(value, value.WhichOneof("kind")) for name, value in hparams.items()}
    runs.append([place.name, given, found])
""",
    "trackio": """
import trackio
from trackio.sqlite_storage import SQLiteStorage
for run in trackio.Api().runs(name):
    found = {}
    for row in SQLiteStorage.get_logs(name, run.name, run_id=run.id):
        for key in set(row) - {"timestamp", "step"}:
            found.setdefault(key, []).append([row["step"], row[key]])
    runs.append([run.name, run.config, found])
""",
    "mlflow": """
from mlflow.tracking import MlflowClient
client = MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
experiment = client.get_experiment_by_name(name).experiment_id
for run in client.search_runs([experiment]):
    found = {
        key: [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, key)] for key in run.data.metrics
    }
    assert run.info.status == "FINISHED"
    runs.append([run.info.run_name, run.data.params, found])
""",
}
# Mirrored twice; then again, as after a mirror that was killed before it could note what it had done.
MIRROR = """
from lengthwise.studies.store import Store
from lengthwise.studies.track import mirror_all
many = [mirror_all(folder, tracker), mirror_all(folder, tracker)]
with Store.open(folder, write=True) as store:
    store._change("update runs set tracked = '' where key = ?", [(store.runs("done")[0].key,)])
many.append(mirror_all(folder, tracker))
"""


def mirrored(folder: Path, tracker: str) -> tuple[list[int], dict[str, Any]]:
    """How many runs were mirrored each time, and the runs the tracker has then: parameters, and metrics by step. All
    in a process of its own that has no network to reach, in a folder where it may leave nothing."""
    head = f"""
import json, socket, sys
from pathlib import Path
def refuse(self, address, *rest):
    if self.family != socket.AF_UNIX: raise OSError(f"no network here: {{address}}")
socket.socket.connect = socket.socket.connect_ex = refuse
folder, name, tracker, runs = Path({str(folder)!r}), "study", {tracker!r}, []
"""
    away = folder.parent / "elsewhere"
    away.mkdir(exist_ok=True)
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW", "TRACKIO"))}
    code = head + MIRROR + READERS[tracker] + "print(json.dumps([many, runs]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=away, timeout=200, env=plain
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and done.stdout.count("\n") == 1, "the tracker has something to say"
    assert list(away.iterdir()) == [], "something was left where the command was given"
    many, found = json.loads(done.stdout)
    assert len({run[0] for run in found}) == len(found), "a run is there twice"
    return many, {key: (given, {name: dict(rows) for name, rows in by.items()}) for key, given, by in found}


@pytest.fixture
def study(synthetic_study, tmp_path) -> Path:
    return synthetic_study(tmp_path / "study", tasks=["(aa)*"], positions=["none", "rope"], seeds=2, failed=1)


def expected(run: RunRecord) -> dict[str, dict[int, float]]:
    assert run.summary is not None
    return {
        "training/loss": dict(run.losses),
        "training/in range": dict(run.checks),
        "by size/exact match": {point.size: point.exact for point in run.curve.points},
        "by size/token accuracy": {point.size: point.token for point in run.curve.points},
        "reach": {0: run.summary.reach},
    }


@pytest.mark.system
@pytest.mark.parametrize("tracker", READERS)
def test_a_tracker_has_every_finished_run_once(study, tracker):
    if importlib.util.find_spec(tracker) is None:
        pytest.skip(f"{tracker} is not installed")
    many, found = mirrored(study, tracker)
    with Store.open(study) as store:
        runs = store.runs("done")
        assert many == [3, 0, 1] and store.untracked(tracker) == []
    assert set(found) == {run.key for run in runs}
    for run in runs:
        given, by_step = found[run.key]
        for name, value in parameters(run).items():
            assert given[name] == value or str(given[name]) == str(value) or float(given[name]) == value
        assert set(by_step) == set(expected(run))
        for name, values in expected(run).items():
            assert by_step[name] == pytest.approx(values, rel=1e-6), name


def test_parameters_and_metrics_of_a_run(study):
    with Store.open(study) as store:
        run = store.runs("done")[0]
    given = parameters(run)
    assert given["task"] == "(aa)*" and given["depth"] == 2 and given["train_size"] == 20 and given["seed"] == 0
    rows = list(metrics(run))
    assert len(rows) == len({(name, step) for name, _, step in rows}) == 2 * 20 + 2 * 60 + 1


def test_a_tracker_that_does_not_exist(study):
    with pytest.raises(UnknownName, match="did you mean 'mlflow'"):
        mirror_all(study, "mlflo")
    with pytest.raises(UnknownName, match="mlflow, trackio, tensorboard"):
        check_tracker("wandb")


@pytest.mark.parametrize("tracker", READERS)
def test_a_tracker_that_is_not_installed(study, tracker, monkeypatch):
    monkeypatch.setitem(sys.modules, tracker, None)
    with pytest.raises(UsageError, match=r"pip install 'lengthwise\[track\]'"):
        check_tracker(tracker)
    with pytest.raises(UsageError):
        mirror_all(study, tracker)
    with Store.open(study) as store:
        assert len(store.untracked(tracker)) == 3


def test_what_was_mirrored_before_an_accident_is_noted(study, monkeypatch):
    from lengthwise.studies import track

    class Broken(track.TensorBoard):
        def mirror(self, record: RunRecord) -> None:
            if (self._folder).exists() and len(list(self._folder.iterdir())) == 2:
                raise OSError(28, "No space left on device")
            super().mirror(record)

    with monkeypatch.context() as patch:
        patch.setitem(track.TRACKERS, "tensorboard", Broken)
        with pytest.raises(OSError):
            mirror_all(study, "tensorboard")
    assert mirror_all(study, "tensorboard") == 1
