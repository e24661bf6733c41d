"""A language model behind a server that fails at random, measured by a process that is killed at random: every item is
asked until it is answered, and no answer that was kept is asked for again."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import fake_server
from fake_completions import sorts
from lengthwise.records import Record
from processes import wait_until

pytestmark = pytest.mark.system
pytest.importorskip("httpx")
ITEMS, SIZE, LONG = 150, 12, 900.0


class Flaky:
    """Answers rightly, two times in three; otherwise busy, broken, cut in the middle or silent for a moment."""

    def __init__(self, seed: int) -> None:
        self._draw, self._lock = random.Random(seed), threading.Lock()
        self.well, self.asked = False, list[str]()

    def __call__(self, handler: fake_server.FakeHandler, body: dict[str, Any], before: int) -> None:
        del before
        words = _question(body["messages"][-1]["content"])
        with self._lock:
            fate = 1.0 if self.well else self._draw.random()
            self.asked.append(words)
        if fate < 0.1:
            handler.reply({}, 429, Retry_After="0.01")
        elif fate < 0.2:
            handler.reply(b"oh", 500)
        elif fate < 0.3:
            handler.reply(b'{"choices": [{"message": {"content": "1')
        else:
            time.sleep(0.02)
            handler.reply(fake_server.answer(sorts(words)))
        handler.close_connection = fate < 0.4


def _question(text: str) -> str:
    return re.findall(r"question ([\d ]+)", text)[-1].strip()


def _stored(folder: Path) -> Counter[str]:
    """How often the answer to a question is kept, by the question."""
    lines = [line for path in folder.glob("*/*/items.jsonl") for line in path.read_text().split("\n")[:-1] if line]
    kept = [json.loads(line) for line in lines if line.endswith("}")]
    return Counter(_question(json.dumps(line["prompt"])) for line in kept if line["ending"] != "failed")


def _outcomes(said: str) -> list[dict[str, Any]]:
    """How many items ended in each way, from the record that was printed."""
    (record,) = json.loads(said)["records"]
    return Record.from_plain(record).table("prompted.outcomes").records()


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_lose_no_answer_and_repeat_none(tmp_path: Path, kills: int) -> None:
    (tmp_path / "mine.txt").write_text("{instruction}\n\nquestion {input}\nAnswer: {answer}\n")
    items, moments = max(ITEMS, 8 * kills), random.Random(11)
    with fake_server.fake_server() as server:
        server.act = flaky = Flaky(3)

        def started(folder: str) -> subprocess.Popen[str]:
            asked = ["measure", server.spec(tries=20), "sort", "--sizes", str(SIZE), "--items", str(items)]
            more = ["--template", "mine.txt", "--folder", folder, "--json", "--quiet"]
            command = [sys.executable, "-m", "lengthwise", *asked, *more]
            pipe = subprocess.PIPE
            return subprocess.Popen(command, cwd=tmp_path, text=True, stdout=pipe, stderr=pipe, env={**os.environ})

        done = 0
        for _ in range(kills):
            before = _stored(tmp_path / "kept")
            began, process = len(flaky.asked), started("kept")
            wait_until(lambda: process.poll() is not None or len(flaky.asked) > began, seconds=LONG)  # noqa: B023
            time.sleep(moments.uniform(0, 0.1))
            done += process.poll() is None
            process.kill()
            process.communicate()
            assert not set(flaky.asked[began:]) & set(before), "an answer that was kept was asked for again"
        process = started("kept")
        said, errors = process.communicate(timeout=LONG)
        assert process.returncode == 0, errors
        assert set(_stored(tmp_path / "kept").values()) == {1} and len(_stored(tmp_path / "kept")) == items
        assert done >= kills // 2, "the kills came too late to test anything"
        flaky.well = True
        calm, errors = started("calm").communicate(timeout=LONG)
        assert _outcomes(said) == _outcomes(calm), errors
