"""The campaign: thousands of hostile invocations, each in a fork of a process that has everything loaded.

    python -m attack.campaign --count 10000 --seed 0

Each invocation gets an empty folder, 4 GB of memory and 30 seconds of processor time. What is wrong with one:
`traceback`, `hang` (no end and no line of progress, or no end after Ctrl-C), `memory` (it asked for more than 4 GB),
`signal` (killed by one), `code` (an exit code that is not documented, or an exit that was let through). A failure is
minimised, and kept as a test by `--keep`. The same seed and number give the same invocation: `--only 17` shows one.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from attack.damage import STORE, STUDY, make_models
from attack.invocations import Invocation, invocation
from attack.reproducers import keep

SECONDS, MEMORY = 30.0, 4 << 30
SERVED = 3.0  # seconds after which a page that answers visitors is ended with Ctrl-C
PATIENCE = 4  # how many times as long something may take that hardly computes: it waits, or others use the cores
SOON = 3.0  # seconds after which what has a time limit ends here, so that ten thousand do not take a day
_LIMITS = (
    ("lengthwise.trust", "USER_SECONDS"),
    ("lengthwise.tasks.formulations.functions", "SECONDS"),
    ("lengthwise.cli.commands.check", "THINKING_SECONDS"),
    ("lengthwise.limits", "PACED_SECONDS"),
)
CODES = (0, 2, 3, 4, 130)  # those documented, but for 1, an internal error
OUT_OF_MEMORY = "this takes more memory than the machine gives"


@dataclass(frozen=True)
class Outcome:
    """How an invocation ended; `fault` is empty where that is as it should be. The seconds are of processor time.
    `stopped`: it took too long, or served a page, and was ended as by Ctrl-C."""

    fault: str
    code: int
    seconds: float
    text: str
    stopped: bool = False


def warm() -> None:
    """Load what commands load, once for all forks."""
    from lengthwise.cli import COMMANDS

    for name in COMMANDS:
        importlib.import_module(f"lengthwise.cli.commands.{name.replace(' ', '_').replace('-', '_')}")
    from lengthwise.models.named import models
    from lengthwise.positions import positions
    from lengthwise.tasks import tasks

    for registry in (tasks, positions, models):
        registry.names()
    importlib.import_module("transformers.models.auto.modeling_auto")
    importlib.import_module("tokenizers")
    for module, name in _LIMITS:
        setattr(importlib.import_module(module), name, SOON)


def run(one: Invocation) -> Outcome:
    """Carry out an invocation in a fork, in an empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                _child(one, folder, output.fileno())
            served = _serves(one)
            status, seconds, stopped, told = _waited(child, output.fileno(), served)
            output.seek(0)
            text = output.read(1 << 20).decode("utf-8", errors="replace")
        code = os.waitstatus_to_exitcode(status)
        told = told or "--quiet" in one.arguments  # it was asked to tell nothing, and has to end at Ctrl-C
        return Outcome(_fault(code, text, stopped, told, served), code, seconds, text, stopped)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _child(one: Invocation, folder: Path, output: int) -> None:
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        one.write(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(number, target)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", errors="replace") for number in (1, 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()  # a crash is reported by its status
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from lengthwise.cli import main

        code = main(one.arguments)
    except BaseException as error:
        print(f"ESCAPED {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 255 if isinstance(code, int) else 98)


def _serves(one: Invocation) -> bool:
    """Whether it answers visitors until it is stopped, if it is right; a bundle is written and ends by itself."""
    return one.arguments[:1] == ["view"] and not any(word.startswith("--bundle") for word in one.arguments)


def _waited(child: int, output: int, served: bool = False) -> tuple[int, float, bool, bool]:
    """The status and the seconds of processor time; whether it had to be stopped, and whether it had told of its
    progress before. What serves a page is stopped once it has said where. What would compute if it got a core is not
    late: others use the cores."""
    began, stopped, told = time.monotonic(), False, False
    most, busy = SECONDS, began
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return status, used.ru_utime + used.ru_stime, stopped, told
        elapsed = time.monotonic() - began
        if elapsed > 1:
            seconds, computes = _session(child)
            busy = time.monotonic() if computes else busy
            waits = elapsed > PATIENCE * SECONDS and time.monotonic() - busy > SECONDS
            ready = served and elapsed > SERVED and os.fstat(output).st_size > 0
            over = seconds > most or waits
            if not stopped and (ready or over):
                stopped, told, began, most = True, os.fstat(output).st_size > 0, time.monotonic(), seconds + SECONDS
                os.kill(child, signal.SIGINT)
            elif stopped and over:
                os.killpg(child, signal.SIGKILL)
        time.sleep(0.005 if elapsed < 1 else 0.2)


def _session(leader: int) -> tuple[float, bool]:
    """The seconds of processor time of a process and of those that it started, and whether one of them computes, or
    would if it got a core or a page."""
    found = [_stat(path) for path in Path("/proc").glob("[0-9]*")]
    found = [fields for fields in found if fields and fields[3] == str(leader)]
    ticks = sum(int(fields[11]) + int(fields[12]) for fields in found)
    return ticks / os.sysconf("SC_CLK_TCK"), any(fields[0] in "RD" for fields in found)


def _stat(process: Path) -> list[str]:
    """State, parent, group, session and so on of a process; nothing of one that has ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _fault(code: int, text: str, stopped: bool, told: bool, served: bool = False) -> str:
    if stopped:
        return "" if told and code == (0 if served else 130) else "hang"
    if "Traceback (most recent call last)" in text or "internal error: " in text:
        return "traceback"
    if "ESCAPED" in text:
        return "code"
    if OUT_OF_MEMORY in text:
        return "memory"
    if code < 0:
        return "signal"
    if code == 2 and not text.rstrip().rpartition("\n")[2].startswith("lengthwise: "):
        return "code"
    return "" if code in CODES else "code"


def minimised(one: Invocation, fault: str) -> Invocation:
    """The same fault with fewer arguments, found by leaving out one or two of them at a time."""
    width, place = 2, 1
    while width:
        if place + width > len(one.arguments):
            width, place = width - 1, 1
            continue
        shorter = replace(one, arguments=one.arguments[:place] + one.arguments[place + width :])
        if run(shorter).fault == fault:
            one = shorter
        else:
            place += 1
    return one


@contextmanager
def models_made(where: str | None = None) -> Iterator[None]:
    """A folder with the models that are damaged, unless there is one."""
    with tempfile.TemporaryDirectory(prefix="attack-models-") as made:
        os.environ[STORE] = where or made
        if not (Path(os.environ[STORE]) / STUDY).exists():
            make_models(Path(os.environ[STORE]))
        yield


def campaign(seed: int, numbers: Sequence[int], told: bool = True) -> list[tuple[Invocation, Outcome]]:
    """Carry out invocations; the failures among them."""
    failures, seconds, stopped = [], list[tuple[float, int]](), 0
    for done, number in enumerate(numbers):
        if told and done and done % 50 == 0:
            print(f"{done} of {len(numbers)} done, {len(failures)} failures", flush=True)
        one = invocation(seed, number)
        outcome = run(one)
        seconds.append((outcome.seconds, number))
        stopped += outcome.stopped and not _serves(one)
        if outcome.fault:
            failures.append((one, outcome))
            if told:
                last = (outcome.text.strip().splitlines() or [""])[-1]
                print(f"{number} {outcome.fault} ({outcome.code}): {_shown(one)} → {last[:200]!r}", flush=True)
    if told:
        print(
            f"{stopped} of {len(numbers)} told of their progress until they were stopped after {SECONDS:g} s",
            flush=True,
        )
    for most, number in sorted(seconds, reverse=True)[: 3 * told]:
        print(f"among the slowest: {most:.1f} s, {number}: {_shown(invocation(seed, number))}", flush=True)
    return failures


def _shown(one: Invocation) -> str:
    words = (word if len(word) < 60 else f"{word[:50]}…[{len(word)}]" for word in one.arguments)
    return repr(" ".join(words))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--models", help="a folder for the models that are damaged, kept for the next time")
    parser.add_argument("--only", type=int, help="run one invocation and show all it prints")
    parser.add_argument("--keep", action="store_true", help="minimise failures and add them to reproducers.json")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.count} invocations", flush=True)
    with models_made(options.models):
        warm()
        if options.only is not None:
            one = invocation(options.seed, options.only)
            outcome = run(one)
            print(one.arguments, outcome.fault or "as it should be", outcome.code, f"{outcome.seconds:.1f} s")
            print(outcome.text)
            return 0
        began = time.monotonic()
        counted = _in_workers(options)
        minutes = (time.monotonic() - began) / 60
    told = ", ".join(f"{count} {fault}" for fault, count in sorted(counted.items())) or "no failures"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    each = (used.ru_utime + used.ru_stime) / max(1, options.count)
    print(f"{options.count} invocations in {minutes:.1f} min, {each:.2f} s of processor time each")
    print(f"seed {options.seed}: {told}")
    return 1 if counted else 0


def _in_workers(options: argparse.Namespace) -> Counter[str]:
    """Every worker takes each n-th number and writes its failures to a pipe of its own, as one JSON text."""
    pipes = []
    for worker in range(options.workers):
        source, sink = os.pipe()
        if os.fork() == 0:
            os.close(source)
            numbers = range(options.first + worker, options.first + options.count, options.workers)
            failures = campaign(options.seed, numbers)
            if options.keep:
                for one, outcome in failures:
                    keep(minimised(one, outcome.fault), outcome.fault)
            with os.fdopen(sink, "w") as file:
                json.dump([outcome.fault for _, outcome in failures], file)
            os._exit(0)
        os.close(sink)
        pipes.append(source)
    faults: Counter[str] = Counter()
    for source in pipes:
        with os.fdopen(source) as file:
            faults.update(json.load(file))
        os.wait()
    return faults


if __name__ == "__main__":
    sys.exit(main())
