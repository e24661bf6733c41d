"""Studies of any shape without training, and the browser that reports are looked at with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chances import chance_of
from lengthwise.oracle.check import Card
from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.probes.ladder import LadderProbe
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.reports.content import Content
from lengthwise.reports.page import render, write_report
from lengthwise.studies.record import RunRecord, Summary, packed
from processes import PATIENCE, wait_until
from synthetic_content import ladder_content
from synthetic_ladders import synthetic_evidence

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "'\"><svg onload=window.hacked=1>",
    "{{ 7 * 7 }} {% raw %}",
    "a[0].b\\c 'd' \"e\" `f`",
    "\u2028line\u2029 & &lt; <!-- <script>",
)


@pytest.fixture(scope="session")
def hostile() -> tuple[str, ...]:
    return HOSTILE


@pytest.fixture(scope="session")
def content_of() -> Callable[..., Content]:
    return make_content


def make_content(
    reaches: Mapping[tuple[str, str], Sequence[int | None]],
    train_size: int = 20,
    test_size: int = 60,
    unlearned: Sequence[tuple[str, str]] = (),
    others: Mapping[tuple[str, str], str] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    **facts: Any,
) -> Content:
    """A study in which each (task, encoding) has one run a reach: all right up to it, too few beyond. A reach of None
    is a run that failed. Tasks named in `variants` differ by these settings: the part after "@" is the variant."""
    runs = []
    for (task, position), seeds in reaches.items():
        name, _, variant = task.partition("@")
        for seed, reach in enumerate(seeds):
            key = f"run-{len(runs):04}"
            settings = (variants or {}).get(variant, {"depth": 2})
            record = RunRecord(key, name, position, variant, seed, train_size, test_size, 100, settings)
            learned = (task, position) not in unlearned
            runs.append(_finished(record, reach, learned) if reach is not None else _failed(record))
    for (task, position), state in (others or {}).items():
        runs.append(RunRecord(f"run-{len(runs):04}", task, position, "", 0, train_size, test_size, 100, state=state))
    study = {"question": "How far?", "keep": 0.9, **facts.pop("study", {})}
    return Content("small", tuple(runs), study=study, **facts)


def _failed(record: RunRecord) -> RunRecord:
    return RunRecord(**{**vars(record), "state": "failed", "reason": "ValueError: it broke"})


def _finished(record: RunRecord, reach: int, learned: bool) -> RunRecord:
    points, chance = [], chance_of(record.task, record.train_size)
    for size in range(1, record.test_size + 1):
        beyond = 90 if size <= record.train_size else 10  # below 95 %, but enough for a seed to be kept
        right = (100 if size <= reach else beyond) if learned else (100 if 15 < size <= reach else 50)
        points.append(Point(size, size, 100, right, 100 * size, right * size, 1.01 - right / 100, *chance))
    curve = Curve(record.task, record.position, record.train_size, record.seed, tuple(points))
    detail = {
        "losses": [(100, 1.0), (200, 0.00002)],
        "checks": [(100, 0.5), (200, 1.0)],
    }
    made = {
        "state": "done",
        "seconds": 2.0,
        "summary": Summary.of(curve),
        "detail": detail,
        "stored": packed({"curve": curve.record()}),
    }
    return RunRecord(**{**vars(record), **made})


class ToldOracle:
    """An oracle that was told what to say of each (task, encoding), and notes what it is asked."""

    def __init__(self, told: Mapping[tuple[str, str], str]) -> None:
        self.told, self.asked = told, []

    def __call__(self, task, positions, *, train_size, test_size, name, quick) -> Card:
        self.asked.append((name, tuple(positions), train_size, test_size))
        assert quick and task.symbols
        found = {position: self._verdict(name, position) for position in positions}
        return Card(name, train_size, test_size, found)

    def _verdict(self, name: str, position: str) -> Verdict:
        outlook = self.told.get((name, position), "unknown")
        status = "unknown" if outlook == "unknown" else "holds"
        claim = Claim(
            "a program exists",
            None if outlook == "unknown" else outlook == "can hold",
            "",
            "certified",
            status,
            assumptions=(Assumption("softmax attention"),),
            reference=Reference("huang2025", "Theorem 7"),
        )
        why = f"nobody knows about {position}" if outlook == "unknown" else f"a witness says that {name} {outlook}"
        return Verdict(position, (Opinion("crasp", outlook, why, claim),))


@pytest.fixture(scope="session")
def told() -> Callable[..., ToldOracle]:
    """`told({("sort", "none"): "can hold"})`: an oracle that says this, and that it does not know the rest."""
    return ToldOracle


@pytest.fixture(scope="session")
def study(tmp_path_factory, synthetic_study) -> Path:
    """A study of the usual shape: two tasks, three encodings, three seeds, one failed run."""
    return synthetic_study(tmp_path_factory.mktemp("studies") / "usual", ["sort", "(aa)*"])


@pytest.fixture(scope="session")
def large_study(tmp_path_factory, synthetic_study) -> Path:
    """5,000 runs: 100 tasks, ten encodings, five seeds."""
    tasks = [f"task_{number}" for number in range(100)]
    positions = [f"encoding_{number}" for number in range(10)]
    return synthetic_study(tmp_path_factory.mktemp("studies") / "large", tasks, positions, seeds=5)


@pytest.fixture(scope="session")
def report(study) -> Path:
    """The report, with one cell decided."""
    return write_report(study, oracle=ToldOracle({("sort", "none"): "can hold"}))


@pytest.fixture(scope="session")
def large_report(large_study) -> Path:
    """The report of 5,000 runs, by the command line."""
    path = large_study.parent / "large.html"
    command = [sys.executable, "-m", "lengthwise", "report", str(large_study), "--output", str(path)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    return path


@pytest.fixture(scope="session")
def ladder_report(tmp_path_factory) -> Path:
    """The page of 54 models on ladders of three search problems."""
    path = tmp_path_factory.mktemp("ladders") / "report.html"
    evidence = synthetic_evidence(settings=LadderProbe(12, 4, 4))
    path.write_text(render(ladder_content(evidence), ToldOracle({})), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        reason = "no Chromium on this machine: install Debian's chromium"
        if os.environ.get("LENGTHWISE_REQUIRE_BROWSER"):
            pytest.fail(f"LENGTHWISE_REQUIRE_BROWSER is set, but there is {reason}")
        pytest.skip(reason)
    if not os.environ.get("LENGTHWISE_REQUIRE_BROWSER"):
        pytest.importorskip("playwright", reason="no Playwright on this machine: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
        yield chromium
        chromium.close()


class Visit:
    """A page as a reader has it open, with whatever went wrong in it."""

    def __init__(self, browser: Any, path: Path, query: str = "", **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + query)
        self.wait("document.documentElement.dataset.ready === 'true'")
        if query == "?all":
            self.wait_for_figures()

    def wait(self, condition: str, seconds: float = PATIENCE) -> None:
        """Until a condition holds; Playwright's own way evaluates text in the page, which the page forbids."""
        wait_until(lambda: self.ask(condition), condition, seconds)

    def wait_for_figures(self) -> None:
        self.wait("[...document.querySelectorAll('.plot')].every(plot => plot.dataset.drawn)")

    def hover(self, selector: str) -> None:
        """Move the pointer to the middle of the first such element, whatever lies above it."""
        place = self.page.locator(selector).first
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.wait("document.querySelector('#vg-tooltip-element.visible') !== null")

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(expression)


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Visit]]:
    """`visit(path, "?all", color_scheme="dark")`: the page, ready."""
    opened: list[Visit] = []

    def open_page(path: Path, query: str = "", **context: Any) -> Visit:
        opened.append(Visit(browser, path, query, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()
