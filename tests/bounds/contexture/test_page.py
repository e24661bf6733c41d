"""What docs/explanation/contexture.md shows is what the code gives, and what code refers to is there."""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "contexture.md").read_text(encoding="utf-8")


def test_every_example_gives_what_the_page_shows():
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "contexture.md", None, 0)
    assert len(examples.examples) > 20
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.failures == 0


def test_every_proposition_that_code_refers_to_is_proved():
    room = ROOT / "src" / "lengthwise" / "bounds"
    sources = [*(room / "contexture").glob("*.py"), room / "contrastive.py"]
    asked = {int(n) for path in sources for n in re.findall(r"proposition (\d+)", path.read_text(encoding="utf-8"))}
    given = {int(n) for n in re.findall(r"^\*\*(\d+)\. ", PAGE, re.MULTILINE)}
    assert asked <= given == set(range(1, 9))
    assert len(asked) >= 6
