"""What docs/explanation/bounds.md shows runs, and says what it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "bounds.md").read_text(encoding="utf-8")


@pytest.mark.wording
def test_the_example_is_not_vacuous_and_holds(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    # A quarter of the items keeps the test quick; the sampling terms double and the bound must still say something.
    names: dict = {}
    exec(compile(program.replace("400_000", "100_000"), "page", "exec"), names)
    bound = names["bound"]
    assert names["target_error"] <= bound.total < 1 and bound.status == "holds"
    assert bound.claim().kind == "certified" and names["distance"] > 0.005
    printed = capsys.readouterr().out
    assert "Lipschitz x W1" in printed and "certified" in printed


def test_every_statement_that_code_refers_to_is_proved():
    sources = (Path(__file__).parents[2] / "src" / "lengthwise").rglob("*.py")
    asked = {int(n) for path in sources for n in re.findall(r'"statement (\d+)"', path.read_text(encoding="utf-8"))}
    given = {int(n) for n in re.findall(r"^\*\*(\d+)\. ", PAGE, re.MULTILINE)}
    assert len(asked) >= 10 and asked <= given == set(range(1, 19))
