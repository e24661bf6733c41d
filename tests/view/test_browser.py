"""The page in a browser: what is live, what can be opened, compared and saved, a static copy, and hostile names."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store
from lengthwise.training.journal import add_to_journal, begin_journal
from processes import kill_parent
from synthetic_runs import write_plan, write_run

TEXTS = "[...document.querySelectorAll('#run-table tbody tr')].map(row => [...row.children].map(td => td.textContent))"
DRAWN = "[...document.querySelectorAll('{} figure:not([hidden]) .plot')].filter(plot => plot.dataset.drawn).length"
LONG = 600.0  # seconds that a study of two small models may take on a busy machine
POINTS = "document.querySelectorAll('#compare figure:nth-child(2) .mark-symbol path').length"


@pytest.fixture
def served() -> Iterator[Callable[[Path], str]]:
    """`served(folder)`: the address of its page, by the command line."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path) -> str:
        command = [sys.executable, "-m", "lengthwise", "view", str(folder), "--json", "--quiet"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        line = started[-1].stdout
        assert line is not None
        return json.loads(line.readline())["url"]

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 0, "Ctrl-C is how it ends"


def rows_of(opened: Any) -> list[list[str]]:
    return opened.ask(TEXTS)


def test_a_run_that_begins_grows_and_ends_is_followed(visit, served, tmp_path: Path) -> None:
    write_run(tmp_path / "first")
    opened = visit(served(tmp_path))
    opened.wait("document.querySelectorAll('#run-table tbody tr').length === 1")
    folder = write_plan(tmp_path / "second", seed=1)
    begin_journal(folder / "journal.jsonl", [(20, 2.0)], [(20, 0.1)])
    opened.wait("document.querySelector('.state-running') !== null")
    opened.wait(f"{DRAWN.format('#compare')} === 2")
    opened.wait(f"{POINTS} === 3")  # one of the run in training, two of the finished one
    for step in (40, 60):
        add_to_journal(folder / "journal.jsonl", step, 1.0, 0.5)
    opened.wait(f"{POINTS} === 5")
    (folder / "plan.json").unlink()
    write_run(folder, seed=1)
    opened.wait("document.querySelectorAll('.state-done').length === 2")
    opened.wait("document.querySelectorAll('#compare figure:nth-child(1) .mark-line path').length === 2")
    assert opened.complaints == []
    assert {url.partition("/api/")[0].split("/")[2] for url in opened.requests if url.startswith("http")} == {
        opened.page.url.split("/")[2]
    }, "nothing is asked of anybody else"


def test_a_study_runs_is_killed_and_is_resumed_under_the_open_page(visit, served, tmp_path: Path) -> None:
    shape, home = {"depth": 1, "width": 16, "heads": 1}, tmp_path / "runs"
    small: Any = {"train_size": 4, "test_size": 8, "items": 20, "model": shape, "training": {"steps": 1500}}
    study = Study(name="live", tasks="binary_majority", positions=["none", "learned+offset"], **small)
    (tmp_path / "live.toml").write_text(study.toml(), encoding="utf-8")
    home.mkdir()
    words = ["study", str(tmp_path / "live.toml"), "--folder", str(home / "live"), "--no-report", "--quiet"]
    command = [sys.executable, "-m", "lengthwise", *words]
    opened = visit(served(home))
    opened.ask("window.openedOnce = true")
    assert rows_of(opened) == []
    progress = "document.querySelector('.study .bar-{}')?.style.width"
    first = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        opened.wait(f"document.querySelector('.state-running') !== null && {POINTS} > 0", LONG)
    finally:
        kill_parent(first)
    opened.wait("document.querySelector('.state-stopped') && !document.querySelector('.state-running')", LONG)
    assert opened.ask(progress.format("stopped")) != "0%" and opened.ask(progress.format("running")) == "0%"
    again = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        opened.wait("document.querySelector('.state-running') && !document.querySelector('.state-stopped')", LONG)
        opened.wait("document.querySelectorAll('.state-done').length === 2", LONG)
        assert again.wait(LONG) == 0
    finally:
        kill_parent(again)
    opened.wait(f"{progress.format('done')} === '100%'")
    opened.wait("document.querySelectorAll('#compare figure:nth-child(1) .mark-line path').length === 2")
    assert opened.ask("window.openedOnce") is True, "the page was not loaded again"
    assert opened.complaints == []


@pytest.mark.system
def test_the_command_answers_this_host_with_its_token_alone(served, tmp_path: Path) -> None:
    write_run(tmp_path / "one")
    address = served(tmp_path)
    host, token = address.split("/")[2:4]
    asked = [
        (f"{address}api/changes", host, 200),
        (f"{address}api/changes", "evil.example", 403),
        (f"http://{host}/api/changes", host, 403),
        (f"http://{host}/{token[:-1]}/api/changes", host, 403),
    ]
    assert [status_of(url, to) for url, to, _ in asked] == [status for _, _, status in asked]


@pytest.mark.system
def test_another_page_that_asks_for_a_socket_is_refused_without_a_word(tmp_path: Path) -> None:
    """Any page in the user's browser can ask for that, and what it asks is not news for the user."""
    write_run(tmp_path / "one")
    command = [sys.executable, "-m", "lengthwise", "view", str(tmp_path), "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host = json.loads(process.stdout.readline())["url"].split("/")[2]
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        assert status_of(f"http://{host}/", host, {**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}) == 403
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == ""


def status_of(url: str, host: str, headers: Mapping[str, str] = {}) -> int:
    asked = urllib.request.Request(url, headers={"Host": host, **headers})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_runs_are_filtered_compared_opened_and_saved(visit, served, tmp_path: Path, synthetic_study) -> None:
    folder = synthetic_study(tmp_path / "runs" / "usual", ["sort", "(aa)*"], seeds=2)
    write_run(folder.parent / "alone")
    opened = visit(served(folder.parent))
    page = opened.page
    opened.wait("document.querySelectorAll('#run-table tbody tr').length === 13")
    page.locator("#search").fill("rope (aa)*")
    opened.wait("document.querySelectorAll('#run-table tbody tr').length === 2")
    page.locator("#search").fill("")
    page.locator("#filter-state").select_option("failed")
    opened.wait("document.querySelectorAll('#run-table tbody tr').length === 1")
    page.locator("#filter-state").select_option("")
    page.locator("#run-table thead button", has_text="reach").click()
    reaches = [int(row[-3].lstrip("≥")) for row in rows_of(opened) if row[-3]]
    assert reaches == sorted(reaches, reverse=True) and len(reaches) == 12
    for place in (1, 2, 3):
        page.locator(f"#run-table tbody tr:nth-child({place}) input").check()
    opened.wait(f"{DRAWN.format('#compare')} === 2")
    opened.wait("document.querySelectorAll('#compare figure:nth-child(1) .mark-line path').length === 3")
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as saving:
            page.locator(f"#compare figure:nth-child(1) [data-save={kind}]").click()
        assert Path(saving.value.path()).read_bytes().startswith(start)
    page.locator("#run-table tbody tr:nth-child(1) button").click()
    opened.wait("document.getElementById('opened').open")
    page.locator(".record", has_text="curve").click()
    opened.wait("document.querySelectorAll('#opened-record .claims tbody tr').length > 1")
    page.keyboard.press("Escape")
    opened.wait("!document.getElementById('opened').open")
    page.go_back()
    opened.wait("document.getElementById('opened').open")
    assert opened.complaints == []


@pytest.mark.parametrize("copied", [False, True], ids=["served", "copied"])
def test_hostile_names_stay_text(visit, served, tmp_path: Path, synthetic_study, hostile, copied: bool) -> None:
    folder = synthetic_study(tmp_path / "runs" / "bad", list(hostile), ["<i>none</i>"], seeds=1, failed=1)
    with Store.open(folder, write=True) as store:
        store.note("study", {"name": hostile[0], "question": hostile[1]})
    (folder.parent / "<img src=x onerror=window.hacked=1>" / "records").mkdir(parents=True)
    if copied:
        command = [sys.executable, "-m", "lengthwise", "view", str(folder.parent), "--bundle", str(tmp_path / "site")]
        subprocess.run(command, check=True, capture_output=True)
        opened = visit(tmp_path / "site" / "index.html")
    else:
        opened = visit(served(folder.parent))
    opened.wait(f"document.querySelectorAll('#run-table tbody tr').length === {len(hostile) + 1}")
    shown = [row[1] for row in rows_of(opened)]
    assert set(hostile) < set(shown) and len(shown) == len(hostile) + 1
    assert opened.ask("document.querySelector('.study .link').textContent") == hostile[0]
    opened.wait(f"{DRAWN.format('#compare')} === 2")
    opened.page.locator("#run-table tbody tr:nth-child(3) button").click()
    opened.page.locator(".record").first.click()
    opened.wait("document.querySelectorAll('#opened-record .claims tbody tr').length > 1")
    assert (
        opened.ask("window.hacked") is None and opened.ask("document.querySelectorAll('main i, main img').length") == 0
    )
    assert opened.complaints == []
    assert not copied or all(url.startswith(("file:", "data:", "blob:")) for url in opened.requests)


def test_it_fits_a_phone_and_follows_the_colour_scheme(visit, served, tmp_path: Path, synthetic_study) -> None:
    address = served(synthetic_study(tmp_path / "runs" / "usual", ["sort"], seeds=2).parent)
    papers = set()
    for scheme in ("light", "dark"):
        opened = visit(address, viewport={"width": 390, "height": 844}, color_scheme=scheme)
        opened.wait(f"{DRAWN.format('#compare')} === 2")
        assert opened.ask("document.documentElement.scrollWidth") <= 390
        papers.add(opened.ask("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2
