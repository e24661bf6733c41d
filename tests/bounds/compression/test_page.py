"""What docs/explanation/compression.md shows runs, and what it lists is there."""

import re
from pathlib import Path

from lengthwise.bounds.compression.gguf_file import LAYOUTS
from lengthwise.bounds.compression.quantisers import quantisers

PAGE = (Path(__file__).parents[3] / "docs" / "explanation" / "compression.md").read_text(encoding="utf-8")


def test_the_example_runs_and_its_parts_are_those_of_the_page():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(compile(program, "page", "exec"), names)
    assert sum(names["message"].parts.values()) == names["message"].bits
    section = PAGE.split("## What a message is")[1].split("## ")[0]
    assert list(names["message"].parts) == re.findall(r"^\| (\w+) \|", section, re.MULTILINE)[1:]


def test_every_quantiser_and_layout_is_listed():
    section = PAGE.split("## Quantisers")[1].split("## ")[0]
    assert set(re.findall(r"^\| `(\w+)", section, re.MULTILINE)) == set(quantisers.names())
    listed = PAGE.split("Known layouts:")[1].split(";")[0]
    assert all(name in listed for name in LAYOUTS if not name.endswith("_K"))
