"""The contract of an executor, as a test, and the jobs it is tested with."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lengthwise.errors import Interrupted, UsageError
from lengthwise.executors.executor import Executor, Job, Outcome

_SILENCE, _GRACE, _PATIENCE = 3.0, 2.0, 120.0  # seconds; the last is for a whole batch of jobs on a busy machine
_VALUE = {"text": "Größe ≤ 10 \u2028\n\U0001f600\x00", "numbers": [0.1, -1e300, 2**60], "none": None, "deep": [[{}]]}


def check_executor(make: Callable[[], Executor], folder: str | Path | None = None) -> None:
    """Raise AssertionError unless the executors that `make` gives keep the contract of
    `lengthwise.executors.executor.Executor`.

    Checked: values come back as they were sent; an exception, an exit and a SIGKILL are outcomes, after which other
    jobs still run; more jobs than slots end exactly once each; an ended key may be used again, a held one may not; a
    job that falls silent is killed and one that beats is not; `stop` lets a job save what it has, kills the one that
    does not listen, and leaves nothing running. It takes about a quarter of a minute. `folder` is a place that all
    nodes see, if a temporary folder is not.
    """
    with contextlib.nullcontext(folder) if folder else tempfile.TemporaryDirectory() as place:
        root = Path(place)
        executor = make()
        executor.silence, executor.grace, executor.scratch = _SILENCE, _GRACE, root
        _refuses(executor, Job("early", _call(echo)), "a job before the executor is entered")
        with executor:
            assert executor.slots >= 1, "there is at least one slot once it is entered"
            assert executor.wait(0) == [] and executor.running() == [], "nothing runs before anything is submitted"
            _check_ends(executor)
            _check_beats(executor, root)
            beats = _check_stop(executor, root)
        _check_nothing_runs(beats)


def _check_ends(executor: Executor) -> None:
    jobs = {
        "raises": Job("raises", _call(fail), {"message": "two\nlines"}),
        "exits": Job("exits", _call(leave), {"code": 3}),
        "killed": Job("killed", _call(die)),
        "absent": Job("absent", "lengthwise.testing.executors:nothing_of_this_name"),
    }
    count = min(max(3, executor.slots - len(jobs) + 1), 12)
    jobs |= {f"echo {i}": Job(f"echo {i}", _call(echo), {"value": _VALUE}) for i in range(count)}
    for job in jobs.values():
        executor.submit(job)
    _refuses(executor, Job("echo 0", _call(echo)), "a second job with the key of one that has not ended")
    _refuses(executor, Job("set", _call(echo), {"value": {1}}), "arguments that are not JSON-ready")
    _refuses(executor, Job("call", "no function"), "a call that is not package.module:function")
    ended = _wait_for(executor, len(jobs))
    assert sorted(ended) == sorted(jobs), f"every job ends once: {sorted(jobs)}, not {sorted(ended)}"
    for key in [key for key in jobs if key.startswith("echo")]:
        assert ended[key].kind == "done", f"{key} is {ended[key]}"
        assert ended[key].value == _VALUE, f"a value comes back as it was sent, not as {ended[key].value!r}"
    assert ended["raises"].kind == "failed" and "two lines" in ended["raises"].reason, f"{ended['raises']}"
    assert "in fail" in ended["raises"].detail, "a traceback comes with an exception"
    assert ended["absent"].kind == "failed" and "nothing_of_this_name" in ended["absent"].reason, f"{ended['absent']}"
    for key in ("exits", "killed"):
        assert ended[key].kind == "died" and ended[key].reason, f"a worker that is gone is 'died', not {ended[key]}"
        assert ended[key].value is None, "a job that died has no value"
    assert executor.keys() == [] and executor.wait(0) == [], "an outcome is given once"


def _check_beats(executor: Executor, root: Path) -> None:
    silent, lively = root / "silent.beat", root / "lively.beat"
    executor.submit(Job("raises", _call(hang), beat=silent))  # a key that has been used, by a job that has ended
    executor.submit(Job("lively", _call(beat_for), {"beat": str(lively), "seconds": _SILENCE + 0.5}, beat=lively))
    ended = _wait_for(executor, 2)
    assert ended["raises"].kind == "silent" and ended["raises"].reason, f"a silent job is killed: {ended['raises']}"
    assert ended["lively"].kind == "done", f"a job that beats is left alone: {ended['lively']}"


def _check_stop(executor: Executor, root: Path) -> list[Path]:
    beats = [root / "heeding.beat", root / "deaf.beat"]
    saved, seen_at_once = root / "saved", min(2, executor.slots)
    executor.silence = _PATIENCE  # silence has been checked; a busy machine may take longer to begin a job
    executor.submit(Job("heeding", _call(heed), {"beat": str(beats[0]), "saved": str(saved)}, beat=beats[0]))
    executor.submit(Job("deaf", _call(ignore), {"beat": str(beats[1])}, beat=beats[1]))
    for i in range(executor.slots):
        executor.submit(Job(f"waiting {i}", _call(hang)))
    deadline = time.monotonic() + _PATIENCE
    while not all(_busy(beat) for beat in beats[:seen_at_once]):
        early = executor.wait(0.1)
        assert not early, f"nothing ends before it is stopped, yet {early}"
        assert time.monotonic() < deadline, f"jobs begin to run within {_PATIENCE:g} s"
    executor.wait(0.1)
    assert {"heeding", "deaf"}.issuperset(executor.running()[:1]), f"{executor.running()} run, submitted first or not"
    begun = time.monotonic()
    executor.stop()
    took = time.monotonic() - begun
    assert took < 10 * _GRACE, f"stopping takes about the {_GRACE:g} s of grace, not {took:.0f} s"
    ended = _index(executor.wait(0))
    expected = {"heeding", "deaf", *(f"waiting {i}" for i in range(executor.slots))}
    assert expected == set(ended), f"every job has an outcome when the executor is stopped, not only {sorted(ended)}"
    assert {outcome.kind for outcome in ended.values()} == {"stopped"}, f"{ended}"
    assert saved.exists(), "a job that is asked to stop can save what it has"
    _refuses(executor, Job("late", _call(echo)), "a job after it was stopped")
    return beats


def _check_nothing_runs(beats: list[Path]) -> None:
    before = [beat.stat().st_mtime_ns if beat.exists() else 0 for beat in beats]
    time.sleep(0.5)
    after = [beat.stat().st_mtime_ns if beat.exists() else 0 for beat in beats]
    assert before == after, "no job runs any more after the executor is left"


def _wait_for(executor: Executor, count: int) -> dict[str, Outcome]:
    ended: dict[str, Outcome] = {}
    deadline = time.monotonic() + _PATIENCE
    while len(ended) < count:
        new = _index(executor.wait(5))
        assert not new.keys() & ended.keys(), f"{new.keys() & ended.keys()} ended twice"
        ended |= new
        assert time.monotonic() < deadline, f"{executor.keys()} have not ended within {_PATIENCE:g} s"
    return ended


def _index(outcomes: list[Outcome]) -> dict[str, Outcome]:
    keys = [outcome.key for outcome in outcomes]
    assert len(set(keys)) == len(keys), f"a job has one outcome: {keys}"
    return {outcome.key: outcome for outcome in outcomes}


def _refuses(executor: Executor, job: Job, what: str) -> None:
    try:
        executor.submit(job)
    except UsageError:
        return
    raise AssertionError(f"an executor refuses {what} with a UsageError")


def _busy(beat: Path) -> bool:
    return beat.exists() and beat.read_bytes() != b""


def _call(function: Callable[..., Any]) -> str:
    return f"{__name__}:{function.__name__}"


# The jobs. They are importable wherever lengthwise is.


def echo(value: Any = None) -> Any:
    """What it was given."""
    return value


def fail(message: str) -> None:
    """Raise an exception."""
    raise ValueError(message)


def leave(code: int) -> None:
    """End the process, as a crash in native code would."""
    os._exit(code)


def die() -> None:
    """Be killed, as by the system when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    """Do nothing, forever."""
    while True:
        time.sleep(1)


def beat_for(beat: str, seconds: float) -> None:
    """Beat for a while."""
    end = time.monotonic() + seconds
    for _ in _beating(beat):
        if time.monotonic() > end:
            return


def heed(beat: str, saved: str) -> None:
    """Beat until asked to stop; then save something and say so."""
    asked: list[int] = []
    with _signals(lambda number, _: asked.append(number)):
        for _ in _beating(beat):
            if asked:
                Path(saved).touch()
                raise Interrupted("saved what there was")


def ignore(beat: str) -> None:
    """Beat, and do not listen."""
    with _signals(signal.SIG_IGN):
        for _ in _beating(beat):
            pass


def _beating(beat: str) -> Iterator[int]:
    for turn in itertools.count():
        Path(beat).write_text(str(turn))
        yield turn
        time.sleep(0.05)


@contextlib.contextmanager
def _signals(handler: Any) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
