"""What a person sees: a live bar on a terminal, plain text elsewhere."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios

import pytest

pytestmark = pytest.mark.system

TRAIN = "train sort --steps 100 --batch 8 --depth 1 --width 16 --heads 1 --items 80 --train-size 4".split()  # noqa: SIM905
TRAIN += ["--test-size", "6"]
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-7]|38|9[0-7])[;0-9]*m")


def seen(arguments: list[str], columns: int = 80, **environment: str) -> str:
    """All that a command writes to a terminal of so many columns."""
    variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")}
    variables |= {"TERM": "xterm-256color", **environment}
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(sys.executable, [sys.executable, "-m", "lengthwise", *arguments], variables)
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not chunk:
            break
        text += chunk
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text.decode()
    return text.decode()


def rows(text: str) -> list[str]:
    """What stood in a row at some time: the text without control sequences, cut where the cursor went back."""
    return re.split(r"[\r\n]+", CONTROL.sub("", text))


@pytest.fixture(scope="module")
def training(tmp_path_factory) -> str:
    return seen([*TRAIN, "--folder", str(tmp_path_factory.mktemp("terminal") / "run")])


def test_the_bar_shows_loss_accuracy_speed_and_time_left(training):
    bar = re.compile(r" \S+ training: loss \d+\.\d{4}, in range \d+%, \d+k tokens/s \d\d:\d\d")
    assert any(bar.match(row) for row in rows(training))
    assert any(re.match(r" \S+ size 6: \d+% exact 00:00", row) for row in rows(training))


def test_the_bar_fits_the_terminal_and_goes_away(training):
    drawn = rows(training)
    assert max(len(row.rstrip()) for row in drawn if "━" in row) <= 80
    last = max(index for index, row in enumerate(drawn) if "━" in row)
    assert "\x1b[?25h" in training, "the cursor is left hidden"
    assert any(row.startswith("trained in ") for row in drawn[last + 1 :])


def test_colours_unless_no_color(training):
    assert COLOUR.search(training)
    plain = seen([*TRAIN, "--seeds", "2", "--folder", "run"], NO_COLOR="1")
    assert not COLOUR.search(plain)
    assert any(re.match(r"seed 1 \S+ training: loss ", row) for row in rows(plain))


def test_quiet_on_a_terminal_shows_the_result_alone(cli, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "trained in run" in cli(*TRAIN, "--folder", "run").err
    answer = cli(*TRAIN, "--folder", "run", "--quiet")
    assert answer.err == "" and "\nsort, position none" in answer.out


def test_without_a_terminal_there_is_no_bar(shell):
    answer = shell(*TRAIN, "--folder", "run", FORCE_COLOR="1", TERM="xterm-256color")
    assert answer.code == 0 and answer.err.splitlines()[-1].startswith("trained in run: 100 steps, ")
    assert "\x1b" not in answer.err + answer.out and "\r" not in answer.err + answer.out


def test_a_list_is_cut_to_the_terminal_and_whole_when_piped(cli):
    cut = [row for row in seen(["tasks", "--quiet"], columns=60).split("\r\n") if row]
    whole = cli("tasks", "--quiet").out.splitlines()
    assert len(cut) == len(whole) > 50 and max(map(len, cut)) == 60 < max(map(len, whole))
    for short, full in zip(cut, whole, strict=True):
        assert full == short or (short.endswith("…") and full.startswith(short[:-1]))


def test_text_follows_the_terminal_up_to_100_columns():
    def longest(columns: int) -> int:
        return max(map(len, seen(["tasks", "dyck_k"], columns=columns).split("\r\n")))

    assert longest(60) <= 60 < longest(300) <= 100
