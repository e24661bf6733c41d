"""The page about limit transformers: its code runs, its file is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lengthwise.oracle.limit.examples import limit_from

PAGE = (Path(__file__).parents[3] / "docs" / "explanation" / "limit.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, re.S))
def test_code_runs(block: str) -> None:
    exec(compile(block, "docs/explanation/limit.md", "exec"), {})


def test_the_example_file_is_read() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    model = limit_from(json.loads(block))
    assert model.exact and model.locality == 1 and model.answer("aab")
