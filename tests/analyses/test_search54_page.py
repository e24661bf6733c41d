"""The shipped ladders of search54: they are whole, and the page about them says what they say."""

import importlib.util
from itertools import product
from pathlib import Path

import pytest

from lengthwise.analyses.evidence import summed_up
from lengthwise.analyses.ladder.better_half import better_half
from lengthwise.cli import main
from lengthwise.studies.summary import read_summary

DOCS = Path(__file__).parents[2] / "docs"
DATA = DOCS / "data" / "search54.json.gz"
TASKS = ("subset_sum:height=3,slide=3", "countdown:height=3,slide=3", "tree_maze:content=28,span=28,height=3,slide=3")
AXES = ("depth", "branching", "content", "slide")


def test_every_configuration_has_every_seed_and_level() -> None:
    evidence = summed_up(read_summary(DATA))
    grid = set(product(TASKS, ("learned", "rope"), (2, 3, 4), (32, 48, 64), (0, 1, 2)))
    assert {(*climb.configuration, climb.seed) for climb in evidence.climbs} == grid
    assert len(evidence.climbs) == len(grid) == 162
    for climb in evidence.climbs:
        axes = [point.axis for point in climb.ladder.points]
        assert all(axes.count(axis) == 3 for axis in AXES)


def test_the_ladder_goes_far_on_every_axis() -> None:
    shifts = summed_up(read_summary(DATA)).shifts
    for task, axis in product(TASKS, AXES):
        along = [shift for shift in shifts if (shift.task, shift.axis, shift.metric) == (task, axis, "features")]
        assert max(along, key=lambda shift: shift.value).ratio >= 2


def test_the_better_half_loses_step_by_step() -> None:
    """No cliff: the half with the least risk where the range slides on loses a little at each of these levels."""
    slides = [step for step in better_half(summed_up(read_summary(DATA))) if step.axis == "slide"]
    assert [len(step.risks) for step in slides] == [27, 27, 27]
    assert all(0.05 < step.risk < 0.6 for step in slides)
    assert slides[0].share >= 0.2


@pytest.mark.system
@pytest.mark.wording
def test_the_page_is_made_from_the_data() -> None:
    spec = importlib.util.spec_from_file_location("make_search54", DOCS / "make_search54.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run `python docs/make_search54.py`"


@pytest.mark.slow  # the findings are drawn twice
def test_a_summary_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "show", str(DATA)]) == 0
    out = capsys.readouterr().out
    assert all(record in out for record in ("risk", "floor", "bound"))
    assert max(map(len, out.splitlines())) <= 80


def test_what_a_summary_does_not_have_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "show", str(DATA), "--measure", "reach"]) == 2
    assert "leave --measure out" in capsys.readouterr().err
    assert main(["study", "show", "absent.json"]) == 2
    assert "absent.json" in capsys.readouterr().err
