"""Processes on this machine, attacked: killed, stopped, flooded, orphaned."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from lengthwise.executors import Job, executors
from lengthwise.executors.local import Local
from lengthwise.testing.executors import check_executor
from processes import PATIENCE, alive, wait_until

pytestmark = pytest.mark.system

ECHO = "lengthwise.testing.executors:echo"
HANG = "lengthwise.testing.executors:hang"


@pytest.fixture(scope="module")
def single():
    """One worker that most tests share, so that what one job leaves behind would show in the next."""
    with Local(workers=1) as executor:
        yield executor


@pytest.fixture
def run(single, collect, write_module, request):
    def run_source(source, **arguments):
        """Run the function `job` of a module with this source."""
        name = write_module(f"user_{abs(hash(request.node.name))}", source)
        single.submit(Job("job", f"{name}:job", arguments))
        return collect(single)["job"]

    return run_source


@pytest.fixture
def write_and_submit(write_module):
    def submit(executor, name, source, key="job", beat=None, **arguments):
        executor.submit(Job(key, f"{write_module(name, source)}:job", arguments, beat))

    return submit


def pid_of(executor, collect):
    executor.submit(Job("pid", "os:getpid"))
    return collect(executor)["pid"].value


def test_keeps_the_contract():
    check_executor(lambda: executors.make("local:workers=2"))


def test_workers_start_when_needed_and_stay(collect):
    with Local(workers=4) as executor:
        assert len({pid_of(executor, collect) for _ in range(3)}) == 1


def test_user_module_is_found_by_the_path_of_the_parent(run):
    assert run("def job(): return __name__").value.startswith("user_")


def test_one_thread_and_a_group_of_its_own(run):
    source = """
        import os
        def job():
            return [os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"], os.getpgrp() == os.getpid()]
    """
    assert run(source).value == ["1", "1", True]


def test_printing_does_not_disturb(run, capfd):
    source = """
        import os, sys
        def job():
            print('{"kind": "done", "value": "forged"}')
            print("to stderr", file=sys.stderr)
            os.write(1, b'{"kind": "failed"}\\n' * 10000)
            os.system("echo from a shell")
            return input is not None and sys.stdin.read()
    """
    assert run(source).value == ""
    assert capfd.readouterr() == ("", "")


def test_huge_traceback_is_shortened_at_both_ends(run):
    source = """
        def job(depth=300):
            if not depth:
                raise RuntimeError("x" * 1_000_000 + "the end")
            try:
                job(depth - 1)
            except Exception as error:
                raise ValueError(f"level {depth}") from error
    """
    outcome = run(source)
    assert outcome.kind == "failed" and outcome.reason == "ValueError: level 300"
    assert len(outcome.detail) < 10_000 and outcome.detail.rstrip().endswith("ValueError: level 300")


@pytest.mark.parametrize(
    "body, reason",
    [
        ("return {1, 2}", "returned a set that is not JSON-ready"),
        ("loop = []; loop.append(loop); return loop", "returned a list that is not JSON-ready"),
        ("return lambda: 0", "returned a function that is not JSON-ready"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()", "cannot be printed"),
        ("raise ValueError", "ValueError"),
        ("raise ValueError('y' * 10**6)", "ValueError: yyy"),
        ("return job(1)", "TypeError"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_what_goes_wrong_in_a_job_is_a_sentence_and_the_worker_stays(run, single, collect, body, reason):
    before = pid_of(single, collect)
    outcome = run(f"def job():\n    {body}")
    assert outcome.kind == "failed" and reason in outcome.reason
    assert "\n" not in outcome.reason and len(outcome.reason) <= 400
    assert pid_of(single, collect) == before


def test_what_a_job_changes_does_not_reach_the_next(run, tmp_path):
    source = """
        import os, signal
        def job():
            before = [os.getcwd(), str(signal.getsignal(signal.SIGTERM)), str(signal.getsignal(signal.SIGINT))]
            os.chdir("/")
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            return before
    """
    assert run(source).value == run(source).value == [os.getcwd(), "0", "1"]


def test_megabytes_each_way(single, collect):
    value = "ä" * 500_000
    single.submit(Job("job", ECHO, {"value": value}))
    assert collect(single)["job"].value == value


@pytest.mark.parametrize(
    "end, reason",
    [
        ("os._exit(7)", "its worker ended with exit code 7"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL (out of memory?)"),
        ("os.closerange(3, 1000); time.sleep(60)", "its worker closed the channel"),
        ("[os.write(n, b'not json\\n') for n in range(3, 1000) if is_socket(n)]; time.sleep(60)", "unreadable"),
    ],
)
def test_death_is_told_with_the_last_words(run, single, collect, end, reason):
    source = f"""
        import os, signal, stat, sys, time
        def is_socket(n):
            try: return stat.S_ISSOCK(os.fstat(n).st_mode)
            except OSError: return False
        def job():
            print("x" * 5000 + "these are my last words", file=sys.stderr, flush=True)
            {end}
    """
    outcome = run(source)
    assert outcome.kind == "died" and reason in outcome.reason
    assert outcome.detail.endswith("these are my last words") and len(outcome.detail) <= 2000
    single.submit(Job("next", ECHO, {"value": 1}))
    assert collect(single)["next"].value == 1


def test_idle_worker_that_is_killed_is_replaced_without_a_word(single, collect):
    pid = pid_of(single, collect)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(pid))
    assert single.wait(0) == []
    assert pid_of(single, collect) != pid


def test_sigterm_from_others_is_not_our_stopping(single, collect, tmp_path):
    beat = tmp_path / "beat"
    single.submit(
        Job("job", "lengthwise.testing.executors:heed", {"beat": str(beat), "saved": str(tmp_path / "saved")})
    )
    wait_until(lambda: beat.exists() and beat.read_text())
    os.kill(single._worker("job").process.pid, signal.SIGTERM)
    outcome = collect(single)["job"]
    assert outcome.kind == "died" and outcome.reason == "interrupted from outside: Interrupted: saved what there was"
    assert (tmp_path / "saved").exists()


def test_frozen_worker_is_noticed_with_what_it_started(collect, write_and_submit, tmp_path):
    source = """
        import os, pathlib, signal, subprocess
        def job(told):
            child = subprocess.Popen(["sleep", "300"])
            pathlib.Path(told + ".new").write_text(f"{os.getpid()} {child.pid}")
            os.rename(told + ".new", told)
            os.kill(os.getpid(), signal.SIGSTOP)
    """
    with Local(workers=1, silence=1.5) as executor:
        write_and_submit(executor, "freezing", source, beat=tmp_path / "beat", told=str(tmp_path / "told"))
        executor.submit(Job("next", ECHO, {"value": "next"}))
        ended = collect(executor, 2)
        assert ended["job"].kind == "silent" and ended["job"].reason == "no sign of life for 1.5 s"
        assert ended["next"].value == "next"
    pids = [int(pid) for pid in (tmp_path / "told").read_text().split()]
    wait_until(lambda: not any(alive(pid) for pid in pids), "the end of a frozen job and its child")


def test_stop_before_the_worker_is_up_is_quick():
    with Local(workers=2, grace=10 * PATIENCE) as executor:
        for key in "abc":
            executor.submit(Job(key, HANG))
        begun = os.times().elapsed
        executor.stop()
        assert os.times().elapsed - begun < PATIENCE, "a job that has no handler for SIGTERM goes at once"
        assert [outcome.kind for outcome in executor.wait(0)] == ["stopped"] * 3


def test_thread_that_submitted_may_end_before_the_job(collect):
    with Local(workers=1) as executor:
        job = Job("job", "lengthwise.testing.executors:beat_for", {"beat": os.devnull, "seconds": 1})
        thread = threading.Thread(target=executor.submit, args=[job])
        thread.start()
        thread.join()
        assert collect(executor)["job"].kind == "done", "the kernel's parent is a thread, ours is the process"


HOLDING = """
import ctypes, os, pathlib, time

def job(told, holding):
    pathlib.Path(told).with_suffix(".new").write_text(str(os.getpid()))
    os.rename(pathlib.Path(told).with_suffix(".new"), told)
    if holding:
        ctypes.PyDLL(None).sleep(300)  # inside C, with the interpreter locked: no Python thread runs
    time.sleep(300)
"""

# Without a guard on purpose: a worker must not run this script again.
SCRIPT = """
import pathlib, sys, threading
from lengthwise.executors import Job, executors

folder = pathlib.Path(__file__).parent
with open(folder / "starts", "a") as file:
    file.write("started\\n")
with executors.make("local:workers=2") as executor:
    def submit():
        for i in range(2):
            executor.submit(Job(f"{i}", "holding:job", {"told": f"{folder}/{i}.pid", "holding": sys.argv[1] == "main"}))
    if sys.argv[1] == "main":
        submit()
    else:
        thread = threading.Thread(target=submit); thread.start(); thread.join()
    while True:
        executor.wait(5)
"""


@pytest.mark.parametrize("thread", ["main", "other"])
def test_killed_parent_leaves_no_worker(tmp_path, thread):
    (tmp_path / "holding.py").write_text(HOLDING)
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    parent = subprocess.Popen([sys.executable, str(tmp_path / "script.py"), thread], cwd="/")
    try:
        told = [tmp_path / "0.pid", tmp_path / "1.pid"]
        wait_until(lambda: parent.poll() is not None or all(path.exists() for path in told), "two jobs")
        pids = [int(path.read_text()) for path in told]
        assert all(alive(pid) for pid in pids)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(alive(pid) for pid in pids), "the end of the orphans")
    assert (tmp_path / "starts").read_text() == "started\n"
