"""What docs/findings/errata-attention.md shows is what the code gives."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "findings" / "errata-attention.md").read_text(encoding="utf-8")


def test_every_example_gives_what_the_page_shows() -> None:
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "errata-attention.md", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    with warnings.catch_warnings():  # the page turns some off
        runner.run(examples)
    found = runner.summarize(verbose=False)
    assert found.failed == 0 and found.attempted > 80
    assert sum(bool(example.want) for example in examples.examples) > 35


def test_what_the_table_lists_is_gone_through() -> None:
    rows = re.findall(r"^\| (\d)[^|]*\|", PAGE, re.M)
    assert len(rows) == 11 and set(rows) == {"1", "2", "4", "8"}
    assert all(re.search(rf"^## .*{number} [A-Z]", PAGE, re.M) for number in set(rows))
    assert max(map(len, PAGE.splitlines())) <= 165
