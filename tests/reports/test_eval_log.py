"""The viewer of inspect_ai opens the log of a measurement."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fake_completions import FakeCompletions, FakeSubject, sorts
from lengthwise.outputs import is_ours
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.prompted import PromptedProbe
from lengthwise.reports.eval_log import write_eval_log
from lengthwise.tasks import make_task
from processes import free_port, listens, wait_until


@pytest.fixture
def log(tmp_path) -> Path:
    probe = PromptedProbe(folder=str(tmp_path / "kept"))
    record = ask(probe, FakeSubject(FakeCompletions(sorts)), Context(make_task("sort"), None, (2, 4), 3))
    (tmp_path / "logs").mkdir()
    write_eval_log(record, tmp_path / "logs" / "sort.eval")
    return tmp_path / "logs" / "sort.eval"


def test_the_mark_is_no_comment_of_the_archive(log):
    """The viewer looks for the directory of the archive at its very end."""
    assert log.read_bytes()[-22:].startswith(b"PK\5\6") and is_ours(log)


def test_inspect_view_shows_every_item(log, browser, tmp_path):
    port = free_port()
    command = [Path(sys.executable).with_name("inspect"), "view", "start", "--log-dir", log.parent, "--port", port]
    with (tmp_path / "view.log").open("w") as said:
        process = subprocess.Popen([*map(str, command), "--host", "127.0.0.1"], stdout=said, stderr=said)
    try:
        wait_until(lambda: process.poll() is not None or listens(port), "the start of the viewer")
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/#/logs/{log.name}")
        for item in range(3):
            page.get_by_text(f"size-4-item-{item}", exact=True).wait_for(timeout=60_000)
        page.close()
    finally:
        process.terminate()
        process.wait(30)
