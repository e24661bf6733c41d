"""What the tests of tasks that a user brings share: the page about them, and files written as a user would."""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE, SEARCH_PAGE = ((DOCS / name).read_text() for name in ("how-to/own-task.md", "reference/search.md"))


def blocks(page: str) -> dict[str, list[str]]:
    """The blocks of code of a page, by their language."""
    return {kind: re.findall(rf"```{kind}\n(.*?)```", page, re.S) for kind in ("python", "json", "toml", "console")}


BLOCKS = blocks(PAGE)
REPEAT = next(block for block in BLOCKS["python"] if "class Repeat" in block)
SEARCH = next(block for block in blocks(SEARCH_PAGE)["python"] if "class Reach" in block)


BROKEN = """
from dataclasses import dataclass
from lengthwise.tasks.algorithmic import CopyRepeat
@dataclass(frozen=True)
class Broken(CopyRepeat):
    def sample(self, size, draws):
        raise ValueError('it breaks')
"""


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def lines(path: Path, *items: object) -> str:
    return written(path, "".join(json.dumps(item) + "\n" for item in items))


# A task whose SYMBOLS, ANSWERS and SOLVED are to be filled in.
UNFINISHED = """from dataclasses import dataclass
import numpy as np
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.task import Task

@dataclass(frozen=True)
class Own(Task):
    "Copies its input."
    @property
    def symbols(self):
        return SYMBOLS
    def sample(self, size, draws):
        prompts = (draws.uniform(size) * 2).astype(int)
        return Samples(prompts, ANSWERS)
    def solve(self, prompt):
        return SOLVED
"""
