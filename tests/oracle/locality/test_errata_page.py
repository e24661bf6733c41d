"""What docs/findings/errata-reasoning.md shows is what the code gives."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "findings" / "errata-reasoning.md").read_text(encoding="utf-8")


@pytest.mark.system
def test_every_example_gives_what_the_page_shows() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "errata-reasoning.md", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 35
    assert sum(bool(example.want) for example in examples.examples) > 15


def test_what_the_table_lists_is_gone_through() -> None:
    rows = re.findall(r"^\| (\d)[^|]*\|", PAGE, re.M)
    assert rows == ["1", "2", "3"]
    assert all(re.search(rf"^## {number} \S", PAGE, re.M) for number in rows)
