"""The page of `lengthwise view` in Chromium, with 1,000 and 10,000 runs: one study, or as many folders.

The runs are one plan and one curve under thousands of names, laid out as `lengthwise study` and `lengthwise train` lay
them out, without weights. Seconds are those of a clock, once the server answers: from opening the address until rows
are painted, until all runs are listed, from the end of a run until the page shows it, and from a search until its rows
are shown. Seconds of the processor, of the server and of all processes of the browser, say how much of that is work;
on a busy machine the rest is waiting for a core.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rows import Row, need, standalone

from lengthwise.errors import UsageError
from lengthwise.integrity import RECORDS, RUN, digests, record_file, sealed
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.runs.plan import plan_for
from lengthwise.studies.record import RunRecord, Summary, packed, planned_run
from lengthwise.studies.store import Store

FIRST, UPDATE = 2.0, 1.0  # seconds that the page may take
UPDATES = 5
_CURVES, _TASKS, _POSITIONS = 100, 20, ("none", "rope", "alibi", "learned+offset")
_STEPS = range(100, 2100, 100)
_WATCH = """
const seen = new MutationObserver(() => {
    const rows = document.querySelector('#run-table tbody tr');
    if (rows && !window.firstRows) requestAnimationFrame(() => { window.firstRows ??= performance.now(); });
});
seen.observe(document, {childList: true, subtree: true});
"""


@functools.cache
def curve_of(number: int) -> Curve:
    """60 sizes, right up to a size of its own."""
    edge = 10 + number % 50
    points = tuple(
        Point(n, n, 200, 200 * (n <= edge), 200 * n, 200 * n * (n <= edge), 0.1, 0.0, 0.0) for n in range(1, 61)
    )
    position = _POSITIONS[number % len(_POSITIONS)]
    return Curve(f"task_{number % _TASKS}", position, 20, 0, points)


@functools.cache
def summary_of(number: int) -> Summary:
    return Summary.of(curve_of(number))


@functools.cache
def text_of(number: int) -> str:
    return packed({"curve": curve_of(number).record()})["curve"]


def record_of(number: int) -> str:
    """The stored curve of a run: one of a hundred, with the seed of this one."""
    text = text_of(number % _CURVES)
    return text.replace('"seed": 0', f'"seed": {number}').replace(", seed 0", f", seed {number}")


def finished(number: int) -> RunRecord:
    """A run of a study."""
    curve, plan = curve_of(number % _CURVES), plain_plan(number)
    losses = [(step, 2.0 / (1 + step / 300)) for step in _STEPS]
    detail = {"losses": losses, "checks": [(step, 1.0) for step in _STEPS], "environment": {}, "digest": "0"}
    run = planned_run(f"run-{number:05}", curve.task, curve.position, plan, {"curve": {"probe": {"name": "curve"}}})
    summed = summary_of(number % _CURVES)
    return replace(run, state="done", seconds=30.0, summary=summed, detail=detail, stored={"curve": record_of(number)})


def plain_plan(number: int) -> dict[str, Any]:
    return {**PLAN, "seed": number}


PLAN = plan_for("sort", "rope", {"depth": 2}, train_size=20, test_size=60).plain()


def write_study(folder: Path, count: int) -> Callable[[int], None]:
    """A study whose last runs wait; the function ends one of them."""
    folder = folder / "study"
    folder.mkdir(parents=True)
    runs = [finished(number) for number in range(count)]
    with Store.open(folder, write=True) as store:
        store.note("study", {"name": "study", "question": "How fast is the page?"})
        store.plan(runs)
        store.finish_all(runs[:-UPDATES])

    def end(place: int) -> None:
        with Store.open(folder, write=True) as store:
            store.finish(runs[count - UPDATES + place])

    return end


def write_folders(folder: Path, count: int) -> Callable[[int], None]:
    """Runs by themselves; the function adds one."""
    for number in range(count - UPDATES):
        write_folder(folder / f"run-{number:05}", number)

    def end(place: int) -> None:
        number = count - UPDATES + place
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        write_folder(made / "run", number)
        (made / "run").rename(folder / f"run-{number:05}")

    return end


def write_folder(folder: Path, number: int) -> None:
    (folder / RECORDS).mkdir(parents=True)
    record = folder / record_file("curve")
    record.write_text(record_of(number))
    losses = [(step, 2.0 / (1 + step / 300)) for step in _STEPS]
    history = {"losses": losses, "checks": losses, "ended": "all steps done", "step": 2000, "seconds": 30.0}
    found = {"schema": 1, "digest": "0", "plan": plain_plan(number), "history": history, "environment": {}}
    found |= {"records": {"curve": {}}, "files": digests(folder, [record_file("curve")])}
    (folder / RUN).write_text(json.dumps(sealed(found)))


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[str, int]]:
    """The address of the page, and the process that serves it."""
    command = [sys.executable, "-m", "lengthwise", "view", str(folder), "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"], process.pid
        finally:
            process.send_signal(signal.SIGINT)


def until(page: Any, condition: str, most: float = 1500.0) -> float:
    """Seconds until a condition holds in the page."""
    began = time.perf_counter()
    while not page.evaluate(condition):
        if time.perf_counter() - began > most:
            raise UsageError(f"{condition} did not hold within {most:g} s")
        time.sleep(0.005)
    return time.perf_counter() - began


def visited(browser: Any, folder: Path, count: int, end: Callable[[int], None]) -> dict[str, float]:
    """What a reader waits for, and the memory of the page and of the server in MB."""
    shown = "document.getElementById('found').textContent.endsWith(' of {:,} shown')"
    with server(folder) as (address, process):
        urllib.request.urlopen(f"{address}view.css").close()  # it answers
        page = browser.new_page()
        page.add_init_script(_WATCH)
        before = processor(process), processor_of(browser)
        began = time.perf_counter()
        page.goto(address, wait_until="commit")
        until(page, "window.firstRows > 0")
        first = processor(process) - before[0], processor_of(browser) - before[1]
        listed = count - (0 if (folder / "study").exists() else UPDATES)
        until(page, shown.format(listed))
        found = {"first rows": page.evaluate("firstRows") / 1000, "all listed": time.perf_counter() - began}
        found["processor until first rows, server"], found["processor until first rows, browser"] = first
        found["processor until all listed, server"] = processor(process) - before[0]
        found["processor until all listed, browser"] = processor_of(browser) - before[1]
        until(page, "document.documentElement.dataset.ready === 'true'")
        began = time.perf_counter()
        page.fill("#search", f"run-{count - 2:05}")  # the page answers before this returns
        until(page, "document.querySelectorAll('#run-table tbody tr').length < 2")
        found["search"] = time.perf_counter() - began
        page.fill("#search", "")
        until(page, "document.querySelectorAll('#run-table tbody tr').length > 2")
        waits, work = [], []
        for place in range(UPDATES):
            page.fill("#search", f"run-{count - UPDATES + place:05}")
            done = "document.querySelector('#run-table .state-done') !== null"
            until(page, f"!({done})")
            end(place)
            before = processor(process) + processor_of(browser)
            waits.append(until(page, done))
            work.append(processor(process) + processor_of(browser) - before)
        metrics = page.context.new_cdp_session(page)
        metrics.send("HeapProfiler.collectGarbage")
        metrics.send("Performance.enable")
        heap = {one["name"]: one["value"] for one in metrics.send("Performance.getMetrics")["metrics"]}
        found |= {"update, worst": max(waits), "processor for an update, worst": max(work)}
        found |= {"page": heap["JSHeapUsedSize"] / 1e6, "server": resident(process)}
        page.close()
    return found


def processor(process: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor_of(browser: Any) -> float:
    """Seconds of the processor that all processes of a browser have used."""
    session = browser.new_browser_cdp_session()
    try:
        return sum(one["cpuTime"] for one in session.send("SystemInfo.getProcessInfo")["processInfo"])
    finally:
        session.detach()


def resident(process: int) -> float:
    """The memory of a process in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def rows(quick: bool = False) -> list[Row]:
    need("playwright", "starlette", "uvicorn")
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise UsageError("the page is measured in Chromium, which is not on this machine")
    most = {"first rows": FIRST, "update, worst": UPDATE}
    units = {"page": "MB of the page", "server": "MB of the server"}
    table = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        for count in (20,) if quick else (1000, 10_000):
            for kind, write in (("one study", write_study), ("folders", write_folders)):
                with tempfile.TemporaryDirectory() as home:
                    folder = Path(home) / "runs"
                    folder.mkdir()
                    found = visited(browser, folder, count, write(folder, count))
                for name, value in found.items():
                    what = f"view of {count:,} runs, {kind}: {name}"
                    table.append(Row(what, value, units.get(name, "s"), most=most.get(name)))
                print(f"{count:,} runs, {kind}: {found}", file=sys.stderr, flush=True)
        browser.close()
    return table


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
