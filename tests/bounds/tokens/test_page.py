"""What docs/explanation/generalisation.md shows is what the code gives, and every statement that code refers to is
proved."""

import doctest
import re
from pathlib import Path

from lengthwise.bounds.tokens.formulas import token_bound_bits
from lengthwise.bounds.tokens.make import STATEMENTS

PAGE = (Path(__file__).parents[3] / "docs" / "explanation" / "generalisation.md").read_text(encoding="utf-8")


def test_examples_run():
    examples = doctest.DocTestParser().get_doctest(PAGE, {}, "generalisation.md", None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=report.append)
    assert result.attempted >= 8 and result.failed == 0, "".join(report)


def test_every_statement_is_proved():
    sources = (Path(__file__).parents[3] / "src" / "lengthwise" / "bounds" / "tokens").rglob("*.py")
    asked = {int(n) for path in sources for n in re.findall(r"\bG(\d)\b", path.read_text(encoding="utf-8"))}
    given = {int(n) for n in re.findall(r"^\*\*G(\d)\. ", PAGE, re.MULTILINE)}
    assert asked == given == set(range(1, 9))
    assert {text.split(",")[0] for text in STATEMENTS.values()} == {"G2", "G3", "G4", "G5", "G6"}


def test_published_points():
    assert abs(token_bound_bits(1.95e9, 1.2e12, 32000, 2.87, alpha=0.1, sample=10_000) - 4.31) < 0.1
    implied = {  # what the printed bounds say of the loss, at 2 bits a weight
        (13e9, 0.1): 4.52,
        (70e9, 0.25): 6.2,
        (70e9, 0.1): 6.6,
    }
    for (weights, alpha), bound in implied.items():
        loss = bound - token_bound_bits(weights / 4, 1.2e12, 32000, 0.0, alpha=alpha, sample=10_000)
        assert 2.65 < loss < 2.75
