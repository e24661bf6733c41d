"""What docs/findings/errata-bounds.md shows is what the code gives."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "findings" / "errata-bounds.md").read_text(encoding="utf-8")


def test_every_example_gives_what_the_page_shows() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "errata-bounds.md", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples)
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 55
    assert sum(bool(example.want) for example in examples.examples) > 27


def test_what_the_table_lists_is_gone_through() -> None:
    rows = re.findall(r"^\| (\d)[^|]*\|", PAGE, re.M)
    assert len(rows) == 13 and set(rows) == {"3", "4", "6", "7", "8"}
    assert all(re.search(rf"^## {number} [A-Z]", PAGE, re.M) for number in set(rows))
    assert max(map(len, PAGE.splitlines())) <= 165
