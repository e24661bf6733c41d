"""What the tests of tasks that a user brings share: the page about them, and files written as a user would."""

from __future__ import annotations

import json
import re
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "own-task.md").read_text()
BLOCKS = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.S) for kind in ("python", "json", "toml", "console")}

REPEAT = next(block for block in BLOCKS["python"] if "class Repeat" in block)


BROKEN = """
from dataclasses import dataclass
from lengthwise.tasks.algorithmic.copy_repeat import CopyRepeat
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
