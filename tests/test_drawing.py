"""What draws figures has a process of its own: its end is one sentence, and it comes back for the next figure."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from typing import Any

import pytest

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.figures import drawing
from lengthwise.figures.drawing import svg_of

SPEC = {
    "data": {"values": [{"x": 1}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
UNDER_A_LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from lengthwise.cli import main
plan = ["bound", "plan", "--params", "7B", "--tokens", "140B", "--loss", "2.2"]
sys.exit(main([*plan, "--figure", sys.argv[1], "--quiet"]))
"""


def test_one_process_draws_many_figures_and_a_wrong_one_is_an_error() -> None:
    assert svg_of(SPEC).startswith("<svg")
    first = drawing._drawers[os.getpid()].pid
    with pytest.raises(LengthwiseError, match="could not be drawn"):
        svg_of({"mark": 7})
    assert svg_of(SPEC).startswith("<svg")
    assert drawing._drawers[os.getpid()].pid == first


def test_a_process_that_ends_is_a_sentence_and_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = drawing._exchanged

    def ended(drawer: subprocess.Popen[bytes], *given: Any) -> Any:
        drawer.send_signal(signal.SIGTRAP)
        drawer.wait()
        return whole(drawer, *given)

    with monkeypatch.context() as patched:
        patched.setattr(drawing, "_exchanged", ended)
        with pytest.raises(UsageError, match=r"the process that draws ended \(SIGTRAP\)"):
            svg_of(SPEC)
    assert svg_of(SPEC).startswith("<svg")


def test_a_figure_of_too_many_points_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST", 50)
    with pytest.raises(UsageError, match="ask for fewer points"):
        svg_of(SPEC)


@pytest.mark.system
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="the system knows no limit of memory")
def test_where_memory_is_limited_a_command_is_not_killed_by_a_signal(tmp_path) -> None:
    """V8 reserves more than 4 GB of addresses, and ends its process by signal 5 where it does not get them."""
    command = [sys.executable, "-c", UNDER_A_LIMIT, str(tmp_path / "plan.svg")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 2), done
    assert done.returncode == 0 or (done.stderr.startswith("lengthwise: ") and "ulimit" in done.stderr)
