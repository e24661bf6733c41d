"""What the base class does for every executor: order, one outcome a job, watching, stopping. No processes here."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.executors import Executor, Job, Outcome, executors
from lengthwise.executors import executor as module


@dataclass(eq=False)
class Scripted(Executor):
    """An executor whose jobs end when the test says so."""

    places: int = 2

    def __post_init__(self):
        super().__post_init__()
        self.started, self.asked, self.killed, self.ends = [], [], [], []
        self.heeds, self.broken = True, False

    @property
    def slots(self):
        return self.places

    def _start(self, job):
        if self.broken:
            raise OSError("no more\nprocesses")
        self.started.append(job.key)

    def _collect(self, seconds):
        module.time.sleep(seconds)
        ends, self.ends = self.ends, []
        return ends

    def _ask(self, key):
        self.asked.append(key)
        if self.heeds:
            self.ends.append(Outcome(key, "stopped", reason="saved"))

    def _kill(self, keys):
        self.killed += keys


class Clock:
    """The time of the executor under test; sleeping moves it."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += max(seconds, 0.001)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def job(key, beat=None):
    return Job(key, "statistics:fmean", {"data": [1]}, beat)


def test_queue_is_served_in_order_as_slots_free_up(clock):
    with Scripted(places=2) as executor:
        for key in "abc":
            executor.submit(job(key))
        assert executor.started == ["a", "b"]
        executor.ends = [Outcome("a", "done", 5)]
        assert executor.wait(10) == [Outcome("a", "done", 5)]
        assert executor.started == ["a", "b", "c"], "the slot is used before the outcome is given"
        assert executor.running() == ["b", "c"] == executor.keys()


def test_slots_may_come_and_go(clock):
    with Scripted(places=0) as executor:
        executor.submit(job("a"))
        assert executor.wait(3) == [] and executor.started == []
        assert clock.now >= 1003, "it waits, as something may still happen"
        executor.places = 1
        executor.wait(0)
        assert executor.started == ["a"]


def test_waiting_for_nothing_takes_its_time_until_the_executor_is_stopped(clock):
    with Scripted() as executor:
        assert executor.wait(20) == [] and 1020 <= clock.now < 1021, "a caller in a loop does not spin"
        executor.stop()
        assert executor.wait(1e9) == [] and clock.now < 1021


def test_job_that_cannot_be_started_is_an_outcome(clock):
    with Scripted() as executor:
        executor.broken = True
        executor.submit(job("a"))
        (outcome,) = executor.wait(1)
        assert outcome == Outcome("a", "died", reason="could not be started: OSError: no more processes")
        executor.broken = False
        executor.submit(job("a"))
        assert executor.started == ["a"]


@pytest.mark.parametrize("skew", [-3600, 0, 3600])
def test_signs_of_life_are_changes_whatever_the_clock_of_the_node(clock, tmp_path, skew):
    beat = tmp_path / "beat"
    with Scripted(silence=100) as executor:
        executor.submit(job("a", beat))
        for turn in range(1, 60):  # ten times the silence, a touch every 17 seconds
            beat.touch()
            os.utime(beat, ns=((skew + turn) * 10**9, (skew + turn) * 10**9))
            assert executor.wait(17) == []
        assert executor.wait(80) == []
        (outcome,) = executor.wait(30)
        assert outcome == Outcome("a", "silent", reason="no sign of life for 100 s")
        assert executor.killed == ["a"] and executor.keys() == []
        executor.ends = [Outcome("a", "done")]
        executor.submit(job("b"))
        assert executor.wait(1) == [], "what comes of a job after it was given up is not news"


def test_job_that_never_beats_is_silent_and_one_without_a_beat_is_not_watched(clock, tmp_path):
    with Scripted(silence=5) as executor:
        executor.submit(job("a", tmp_path / "beat"))
        executor.submit(job("b"))
        assert [outcome.key for outcome in executor.wait(60)] == ["a"]
        assert clock.now < 1007
        assert executor.wait(600) == []


def test_closed_laptop_is_not_silence(clock, tmp_path):
    with Scripted(silence=100) as executor:
        executor.submit(job("a", tmp_path / "beat"))
        executor.wait(50)
        clock.now += 86400
        assert executor.wait(20) == [], "one look after a day counts a quarter of the silence at most"
        (tmp_path / "beat").touch()
        assert executor.wait(95) == []


def test_where_a_cluster_has_its_own_queue_watching_begins_with_the_first_beat(clock, tmp_path):
    beat = tmp_path / "beat"
    beat.touch()  # of an earlier attempt
    with Scripted(silence=5) as executor:
        executor.begins_at_once = False
        executor.submit(job("a", beat))
        assert executor.wait(1000) == [] and executor.running() == []
        os.utime(beat, ns=(1, 1))
        executor.wait(1)
        assert executor.running() == ["a"]
        assert [outcome.kind for outcome in executor.wait(60)] == ["silent"]


def test_stop_asks_waits_and_kills(clock):
    with Scripted(grace=7) as executor:
        for key in "abc":
            executor.submit(job(key))
        executor.heeds = False
        executor.stop()
        ended = {outcome.key: outcome for outcome in executor.wait(0)}
        assert {outcome.kind for outcome in ended.values()} == {"stopped"}
        assert ended["c"].reason == "stopped before it began"
        assert "7 s after" in ended["a"].reason and executor.asked == executor.killed == ["a", "b"]
        assert 1007 <= clock.now < 1009
        executor.stop()
        assert executor.wait(0) == [] and executor.killed == ["a", "b"]
        with pytest.raises(UsageError, match="stopped"):
            executor.submit(job("d"))


def test_kill_happens_though_the_waiting_is_interrupted(clock):
    with Scripted() as executor:
        executor.submit(job("a"))
        executor.heeds = False

        def interrupt(seconds):
            raise KeyboardInterrupt

        executor._collect = interrupt
        with pytest.raises(KeyboardInterrupt):
            executor.stop()
        assert executor.killed == ["a"]


def test_who_stopped_a_job_decides_what_it_is_called(clock):
    with Scripted() as executor:
        executor.submit(job("a"))
        executor.ends = [Outcome("a", "stopped", reason="SIGTERM")]
        (outcome,) = executor.wait(1)
        assert (outcome.kind, outcome.reason) == ("died", "interrupted from outside: SIGTERM")
        executor.submit(job("b"))
        executor.heeds = False
        executor.ends = [Outcome("b", "died", reason="killed by SIGTERM")]
        executor.stop()
        assert executor.wait(0) == [Outcome("b", "stopped", reason="killed by SIGTERM")]


ACTIONS = st.lists(st.sampled_from(["submit", "finish", "die", "late", "wait", "fewer", "more", "long"]), max_size=40)


@given(actions=ACTIONS, broken=st.booleans())
def test_every_job_has_exactly_one_outcome_whatever_happens(tmp_path_factory, actions, broken):
    folder = tmp_path_factory.mktemp("beats")
    clock, submitted, ended = Clock(), [], []
    with pytest.MonkeyPatch.context() as patch, Scripted(silence=10) as executor:
        patch.setattr(module, "time", clock)
        executor.broken = broken
        for turn, action in enumerate(actions):
            if action == "submit":
                submitted.append(f"job {turn}")
                executor.submit(job(f"job {turn}", folder / "beat" if turn % 2 else None))
            elif action in ("finish", "die") and executor.running():
                executor.ends.append(Outcome(executor.running()[0], "done" if action == "finish" else "died"))
            elif action == "late":  # news of a job that was given up, or for the second time
                executor.ends += [Outcome(key, "died") for key in executor.killed]
            elif action in ("fewer", "more"):
                executor.places = 1 if action == "fewer" else 3
            else:
                ended += executor.wait(30 if action == "long" else 1)
            assert len(executor.running()) <= 3
        executor.stop()
        ended += executor.wait(0)
    assert sorted(outcome.key for outcome in ended) == sorted(submitted)


@pytest.mark.parametrize(
    "call",
    ["", "math", "math:", ":sqrt", "math.sqrt", "__main__:f", "a b:c", "os:path:join", "x;y:z"],
)
def test_call_that_cannot_be_imported_elsewhere_is_refused(call):
    with Scripted() as executor, pytest.raises(UsageError, match=r"package\.module:function"):
        executor.submit(Job("a", call))


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", Path("x"), 1j])
def test_arguments_that_are_not_json_are_refused(value):
    with Scripted() as executor, pytest.raises(UsageError, match="JSON-ready"):
        executor.submit(Job("a", "math:sqrt", {"x": value}))


@pytest.mark.parametrize(
    "spec", ["local:silence=0", "local:grace=-1", "local:workers=-2", "local:workers=1025", "slurm:jobs=0"]
)
def test_settings_out_of_range_are_refused(spec):
    with pytest.raises(UsageError):
        executors.make(spec)


def test_registry_knows_three_and_imports_nothing_heavy():
    code = (
        "import sys; from lengthwise.executors import executors; "
        "print(executors.names(), [name for name in ('torch', 'ray', 'submitit', 'numpy') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "['local', 'ray', 'slurm'] []"


OWN = """
from lengthwise.executors import Executor

class Own(Executor):
    slots = property(lambda self: 1)
    def _start(self, job): ...
    def _collect(self, seconds): ...
    def _ask(self, key): ...
    def _kill(self, keys): ...
"""
LACKING = {
    "no method": ("    def _ask(self, key): ...\n", "", "lacks _ask"),
    "other arguments": ("_collect(self, seconds)", "_collect(self)", "_collect is called as _collect(seconds)"),
    "no queue": ("    def _ask", "    def __post_init__(self): ...\n    def _ask", "super().__post_init__()"),
    "no property": ("property(lambda self: 1)", "1", "slots is a property"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_an_executor_of_a_file_lacks_is_one_sentence(name, tmp_path):
    before, after, sentence = LACKING[name]
    assert before in OWN
    path = tmp_path / "own.py"
    path.write_text(OWN.replace(before, after))
    with pytest.raises(UsageError) as error:
        executors.make(f"{path}::Own")
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_an_executor_of_a_file_that_has_all_is_made(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert executors.make(f"{tmp_path / 'own.py'}::Own").slots == 1
