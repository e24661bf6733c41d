"""The coordinator: gives the runs of a study to an executor, writes down what became of each, and survives.

The run folders are the truth. A run is finished when its folder has a run.json, which the worker writes last; the index
follows. So the coordinator may die at any moment: the same call again finds every finished run, resumes the interrupted
ones from their checkpoints, and repeats none.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from lengthwise.errors import Interrupted, LengthwiseError, UsageError
from lengthwise.executors import executors
from lengthwise.executors.executor import Executor, Job, Outcome
from lengthwise.executors.local import Local
from lengthwise.files import check_inside, write_text, writing
from lengthwise.hardware import current
from lengthwise.integrity import MODEL, RUN, check_files, damage, read_record
from lengthwise.interrupts import Stop
from lengthwise.outputs import is_ours, write_output
from lengthwise.runs.plan import Plan
from lengthwise.studies.costs import relative_cost
from lengthwise.studies.grid import planned_records, plans, run_key, study_facts
from lengthwise.studies.lock import BEAT, locked
from lengthwise.studies.reach import check_plans
from lengthwise.studies.record import RunRecord, read_finished
from lengthwise.studies.shifts import measure_on, missing_shifts
from lengthwise.studies.spec import Study
from lengthwise.studies.store import INDEX, RUNS, SPECIFICATION, Store

ERROR, SCRATCH = "error.txt", "executor"
ATTEMPTS = 2
_MANY = 200  # runs, with which no core waits long at the end whatever their order
_LOOK = 0.5  # seconds between two looks at the workers
_LATE = 10.0  # seconds in which a network file system shows here what a worker wrote elsewhere
_NO_WORKERS = 120.0  # seconds after which a cluster without a single free place is given up


@dataclass(frozen=True)
class StudyProgress:
    """Where a study stands. `newest` is the run that has just ended, if that is what there is to tell."""

    total: int
    done: int
    running: int
    failed: int
    seconds_left: float | None = None
    newest: RunRecord | None = None

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.running - self.failed

    def __str__(self) -> str:
        return f"{self.done} of {self.total} runs done, {self.running} running"


Told = Callable[[StudyProgress], None]


def default_folder(study: Study) -> Path:
    return Path("runs") / study.name


def carry_out_study(
    study: Study,
    folder: Path | None = None,
    executor: str | Executor = "local",
    told: Told = lambda _: None,
    command: str = "",
) -> StudyProgress:
    """Run the remaining part of a study. Returns its status when nothing remains to be done or the budget is spent; it
    counts failed runs. One coordinator at a time works in a folder.
    """
    todo = plans(study)
    check_plans(todo, f"the study {study.name}")
    workers = executors.make(executor) if isinstance(executor, str) else executor
    if isinstance(workers, Local) and current().device not in (None, "cpu"):
        from lengthwise.models.placed import device_of  # torch

        device_of(str(current().device))  # one that is not here is said before anything is written
    folder = folder or default_folder(study)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder, study)
        check_inside(folder / RUNS, folder).mkdir(exist_ok=True)
    workers.scratch = check_inside(folder / SCRATCH, folder)
    with locked(folder, f"the study {study.name}"), Store.open(folder, write=True) as store:
        with writing(folder):
            if not _says(folder / SPECIFICATION, study):
                write_output(folder / SPECIFICATION, study.toml())
        for name, content in study_facts(todo).items():
            store.note(name, content)
        store.note("study", study.plain())
        store.note("toml", study.toml())
        store.note("command", command)
        store.note("executor", executors.spec_of(workers).get("name", type(workers).__name__))
        store.plan(planned_records(todo))
        return _Sitting(study, folder, todo, store, told).do(workers)


def check_folder(folder: Path, study: Study) -> None:
    """Refuse a folder that holds files of somebody else, or a specification that was edited and says otherwise."""
    place = folder / SPECIFICATION
    ours = not place.exists() or is_ours(place) or _says(place, study)
    if not ours:
        raise UsageError(
            f"{place} was not written by lengthwise, or was edited since, and describes another study; choose "
            "another folder"
        )
    others = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".") and path.name != RUNS)
    if others and not place.exists() and not (folder / INDEX).exists():
        raise UsageError(f"{folder} holds other files ({others[0]} is one) and no study; choose another folder")


def _says(path: Path, study: Study) -> bool:
    """Whether a file describes this very study, in whatever words."""
    try:
        return Study.read(path) == study
    except UsageError:
        return False


class _Sitting:
    """One sitting of a coordinator."""

    def __init__(self, study: Study, folder: Path, todo: list[Plan], store: Store, told: Told) -> None:
        self.study, self.folder, self.store, self.told = study, folder, store, told
        self.plans = {run_key(plan): plan for plan in todo}
        self.costs = {key: _cost(plan) for key, plan in self.plans.items()}
        self.attempts = dict.fromkeys(self.plans, 0)
        self.active: dict[str, float] = {}  # key → when it was given away
        self.spent, self.earned = 0.0, 0.0  # seconds and costs of the runs that ended in this sitting
        self.stopping, self.how = False, current()
        self.began, self.before = time.monotonic(), store.fact("seconds") or 0.0
        self.known = {run.key: run for run in store.runs(detail=False)}
        self.queue = deque(self._left())
        self.shifts = missing_shifts(folder, store.fact("shifts") or [])

    def _left(self) -> list[str]:
        """What is to be done: the longest first so that no core waits at the end, or of many runs the first seeds first
        and of each seed a random order, so that whatever is finished is a fair part of the whole. Finished folders are
        taken in. A damaged one is a run that failed, and its reason names it; if only records of probes are damaged,
        these are measured again."""
        left, found = [], []
        for key, plan in self.plans.items():
            place, reason = self._place(key), ""
            try:
                check_inside(place, self.folder)
                record = read_record(place) if (place / RUN).exists() else {}
                if record:
                    check_files(place, record, MODEL)
                    reason = "; ".join(filter(None, (damage(place, record, slug) for slug in record["records"])))
                there = record.get("records", {})
                if record and not reason and all(there.get(slug) == how for slug, how in plan.asked().items()):
                    if self.known[key].state != "done" or self.known[key].asked != there:
                        found.append(read_finished(place))
                    continue
            except UsageError as error:
                self.store.mark(key, "failed", str(error))
                continue
            left.append(key)
            self.store.mark(key, "waiting", reason)
        self.store.finish_all(found)
        if len(self.plans) < _MANY:
            return sorted(left, key=lambda key: -self.costs[key])
        return sorted(left, key=lambda key: (self.plans[key].seed, hashlib.blake2b(key.encode()).digest()))

    def do(self, workers: Executor) -> StudyProgress:
        if not self.queue and not self.shifts:
            return self._tell(1)
        if self.how.device is None and workers.gives_gpus:
            self.how = replace(self.how, device="cuda")  # who asks for GPUs wants the runs there
        minutes = self.study.budget.minutes
        idle_since = time.monotonic()
        with Stop() as stop, workers:
            while self.active or self.queue:
                over = minutes is not None and time.monotonic() - self.began > 60 * minutes
                if over and not self.active:
                    break
                while self.queue and not over and len(self.active) < workers.slots:
                    self._give(self.queue.popleft(), workers)
                if self.active:
                    idle_since = time.monotonic()
                elif time.monotonic() - idle_since > _NO_WORKERS:
                    raise LengthwiseError(f"no worker was free for {_NO_WORKERS:.0f} s; is the cluster still there?")
                for outcome in workers.wait(_LOOK):
                    self._settle(outcome, workers.slots)
                self.told(self._progress(workers.slots))  # the time that is left goes down meanwhile
                if stop.asked:
                    self._stop(workers)
            self.store.note("shifts_failed", measure_on(workers, self.folder, self.shifts, lambda: stop.asked))
            if stop.asked:
                self._stop(workers)
        return self._tell(1)

    def _give(self, key: str, workers: Executor) -> None:
        place = self._place(key).absolute()
        plan = {"plan": self.plans[key].plain(), "trust": True}  # its task was made here, so it may be made there
        arguments = {**plan, "threads": self.study.threads, "how": vars(self.how)}
        self.store.mark(key, "running", attempts=self.attempts[key])
        workers.submit(Job(key, "lengthwise.studies.worker:work", arguments, place / BEAT, place))
        self.active[key] = time.monotonic()
        self._tell(workers.slots)

    def _settle(self, outcome: Outcome, slots: int) -> None:
        """Write down how a run ended; what failed once is tried once more."""
        key, reason = outcome.key, outcome.reason
        began = self.active.pop(key)
        if outcome.kind == "done":
            try:
                record = self._finished(key)
            except UsageError as error:
                reason = f"the worker said it was done, but {error}"
            else:
                self.store.finish(record)
                self.spent += time.monotonic() - began
                self.earned += self.costs[key]
                self._tell(slots, record)
                return
        if outcome.kind == "stopped" and self.stopping:
            self.store.mark(key, "waiting", attempts=self.attempts[key])
            return
        self._fail(outcome, reason)
        self._tell(slots, replace(self.known[key], state="failed", attempts=self.attempts[key], reason=reason))

    def _finished(self, key: str) -> RunRecord:
        """The record of a run that its worker finished; its files may be seen here somewhat later than they were
        written."""
        deadline = time.monotonic() + _LATE
        while True:
            try:
                return read_finished(self._place(key))
            except UsageError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _fail(self, outcome: Outcome, reason: str) -> None:
        key = outcome.key
        self.attempts[key] += 1
        if outcome.detail:
            with contextlib.suppress(OSError):  # a disk that is full is no reason to stop the others
                self._place(key).mkdir(parents=True, exist_ok=True)
                write_text(self._place(key) / ERROR, outcome.detail)
        again = self.attempts[key] < ATTEMPTS
        self.store.mark(key, "waiting" if again else "failed", reason, self.attempts[key])
        if again:
            self.queue.append(key)

    def _stop(self, workers: Executor) -> NoReturn:
        """Let the workers save what they have, and go."""
        self.stopping = True
        workers.stop()
        for outcome in workers.wait(0):
            if outcome.key in self.active:  # else it is a distance, which is measured another time
                self._settle(outcome, 1)
        for key in self.active:
            self.store.mark(key, "waiting", attempts=self.attempts[key])
        counts = self.store.counts()
        done = f"{counts['done']} of {sum(counts.values())} runs are done"
        raise Interrupted(f"stopped; {done}; run the same command again to resume")

    def _place(self, key: str) -> Path:
        return self.folder / RUNS / key

    def _progress(self, workers: int, newest: RunRecord | None = None) -> StudyProgress:
        counts = self.store.counts()
        rate = self.spent / self.earned if self.earned else None
        now, left = time.monotonic(), None
        if rate is not None:
            costs = sum(self.costs[key] for key in self.queue) * rate
            costs += sum(max(0.0, self.costs[key] * rate - (now - began)) for key, began in self.active.items())
            left = costs / max(1, min(workers, len(self.queue) + len(self.active)))
        return StudyProgress(len(self.plans), counts["done"], counts["running"], counts["failed"], left, newest)

    def _tell(self, workers: int, newest: RunRecord | None = None) -> StudyProgress:
        progress = self._progress(workers, newest)
        self.store.note("progress", {"seconds_left": progress.seconds_left, "at": time.time()})
        self.store.note("seconds", self.before + time.monotonic() - self.began)
        self.told(progress)
        return progress


def _cost(plan: Plan) -> float:
    """How long a run takes compared with others; a user's task that raises an error here counts as short."""
    try:
        return relative_cost(plan)
    except Exception:  # its run will say how
        return 1.0
