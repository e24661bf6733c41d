"""Mirror the finished runs of a study to a tracker: MLflow, Trackio or TensorBoard, offline and below the study folder.

A tracker gets each run once it is done: its parameters, its metrics by training step (the loss, the share of in-range
items right) and by size (exact match, token accuracy; there the step is the size), and its reach. A run that the
tracker has already is replaced, so nothing is there twice, whenever a mirror was interrupted.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lengthwise.errors import UnknownName, UsageError
from lengthwise.executors.call import variables
from lengthwise.registry import nearest
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store

_KEY = "lengthwise.key"


class Tracker(ABC):
    """Where finished runs are mirrored to."""

    @abstractmethod
    def __init__(self, study_name: str, folder: Path) -> None:
        """What it stores for itself goes below the folder."""

    @abstractmethod
    def mirror(self, record: RunRecord) -> None:
        """Take one run, in the place of what the tracker has of it."""


def check_tracker(name: str) -> None:
    """Refuse a tracker that does not exist or is not installed, before any work is done for it."""
    if name not in TRACKERS:
        raise UnknownName(f"unknown tracker {name!r}; {nearest(name, TRACKERS)}it is one of {', '.join(TRACKERS)}")
    try:
        found = importlib.util.find_spec(name) is not None
    except ValueError:  # how Python says that the import of a package was forbidden
        found = False
    if not found:
        raise UsageError(f"the tracker {name} is not installed: pip install 'lengthwise[track]'")


def mirror_all(folder: str | Path, name: str) -> int:
    """Mirror the finished runs of a study that the tracker does not have yet; returns how many there were."""
    folder = Path(folder)
    check_tracker(name)
    with Store.open(folder, write=True) as store:
        waiting = store.untracked(name)
        if not waiting:
            return 0
        study = (store.fact("study") or {}).get("name") or folder.absolute().name
        tracker = TRACKERS[name](study, folder.absolute())
        for record in waiting:
            tracker.mirror(record)
            store.mark_tracked(record.key, name)
    return len(waiting)


def parameters(record: RunRecord) -> dict[str, Any]:
    """What was decided about a run before it began."""
    names = ("key", "task", "position", "variant", "seed", "train_size", "test_size", "items")
    return {**{name: getattr(record, name) for name in names}, **record.settings}


def metrics(record: RunRecord) -> Iterator[tuple[str, float, int]]:
    """What came of a finished run: (name, value, step), where the step of `by size/…` is the size."""
    yield from (("training/loss", loss, step) for step, loss in record.losses)
    yield from (("training/in range", share, step) for step, share in record.checks)
    for point in record.curve.points:
        yield "by size/exact match", point.exact, point.size
        yield "by size/token accuracy", point.token, point.size
    if record.summary is not None:
        yield "reach", float(record.summary.reach), 0


class MLflow(Tracker):
    """An experiment named after the study, in folder/mlflow.db unless MLFLOW_TRACKING_URI names another place."""

    def __init__(self, study_name: str, folder: Path) -> None:
        # A mirror on this machine tells nobody else, and how a database is set up is no result of ours.
        for variable, value in (("MLFLOW_DISABLE_TELEMETRY", "true"), ("MLFLOW_LOGGING_LEVEL", "WARNING")):
            os.environ.setdefault(variable, value)
        from mlflow.tracking import MlflowClient

        place = os.environ.get("MLFLOW_TRACKING_URI")
        self._client = MlflowClient(place or f"sqlite:///{folder / 'mlflow.db'}")
        found = self._client.get_experiment_by_name(study_name)
        # Nothing is stored as an artifact, but without a place MLflow makes a folder where the command was given.
        where = None if place else (folder / "mlflow-artifacts").as_uri()
        self._experiment = (
            found.experiment_id if found else self._client.create_experiment(study_name, artifact_location=where)
        )

    def mirror(self, record: RunRecord) -> None:
        from mlflow.entities import Metric, Param

        quoted = record.key.replace("'", "")  # a filter has no escape for its quotes; keys of run folders hold none
        for old in self._client.search_runs([self._experiment], f"tags.`{_KEY}` = '{quoted}'"):
            self._client.delete_run(old.info.run_id)
        run = self._client.create_run(self._experiment, run_name=record.key, tags={_KEY: record.key}).info.run_id
        now = int(1000 * time.time())
        given = [Param(name, str(value)) for name, value in parameters(record).items()]
        values = [Metric(name, value, now, step) for name, value, step in metrics(record)]
        self._client.log_batch(run, params=given[:100], metrics=values[:800])
        for first in range(800, len(values), 800):  # a batch holds at most a thousand things
            self._client.log_batch(run, metrics=values[first : first + 800])
        self._client.set_terminated(run)


class Trackio(Tracker):
    """A local project named after the study, in folder/trackio unless TRACKIO_DIR names another place. No server is
    started; `TRACKIO_DIR=… trackio show` does that for who wants to look."""

    def __init__(self, study_name: str, folder: Path) -> None:
        wanted = os.environ.get("TRACKIO_DIR") or str(folder / "trackio")
        with variables({"TRACKIO_DIR": wanted}):  # the package reads its place once, when it is imported
            import trackio
            import trackio.utils
        if (place := Path(trackio.utils.TRACKIO_DIR)) != Path(wanted):
            raise UsageError(
                f"Trackio writes to {place} in this process already; mirror a second study from a new process, "
                "or set TRACKIO_DIR for both"
            )
        self._trackio, self._project = trackio, study_name

    def mirror(self, record: RunRecord) -> None:
        with contextlib.redirect_stdout(io.StringIO()):  # it tells how to look at a project, which is no result of ours
            self._remove(record.key)
            run = self._trackio.init(
                self._project,
                name=record.key,
                config=parameters(record),
                embed=False,
                auto_log_gpu=False,
                auto_log_cpu=False,
            )
            rows: dict[int, dict[str, float]] = {}
            for name, value, step in metrics(record):
                rows.setdefault(step, {})[name] = value
            for step, row in sorted(rows.items()):
                run.log(row, step=step)
            self._trackio.finish()

    def _remove(self, key: str) -> None:
        with contextlib.suppress(ValueError):  # there is no such project yet
            for run in list(self._trackio.Api().runs(self._project)):
                if run.name == key:
                    run.delete()


class TensorBoard(Tracker):
    """An event file for each run in folder/tensorboard/KEY. Its numbers have single precision."""

    def __init__(self, study_name: str, folder: Path) -> None:
        del study_name  # the folder says which study it is
        self._folder = folder / "tensorboard"

    def mirror(self, record: RunRecord) -> None:
        from tensorboard.compat.proto.event_pb2 import Event  # pyright: ignore[reportAttributeAccessIssue]
        from tensorboard.compat.proto.summary_pb2 import Summary  # pyright: ignore[reportAttributeAccessIssue]
        from tensorboard.plugins.hparams import summary_v2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        place = self._folder / record.key
        shutil.rmtree(place, ignore_errors=True)
        writer = EventFileWriter(str(place))
        now = time.time()
        plain = {k: v if isinstance(v, bool | int | float | str) else str(v) for k, v in parameters(record).items()}
        writer.add_event(Event(wall_time=now, step=0, summary=summary_v2.hparams_pb(plain, trial_id=record.key)))
        for name, value, step in metrics(record):
            scalar = Summary(value=[Summary.Value(tag=name, simple_value=value)])
            writer.add_event(Event(wall_time=now, step=step, summary=scalar))
        writer.close()


TRACKERS: dict[str, type[Tracker]] = {"mlflow": MLflow, "trackio": Trackio, "tensorboard": TensorBoard}
