"""What an encoding does not tell: the order of columns, or the side on which a column lies."""

from __future__ import annotations

import pytest

from lengthwise.oracle.locality.steps import formulation_steps
from lengthwise.oracle.theories.locality import bag_clash, mirror_clash
from lengthwise.tasks import tasks


def steps(spec: str):
    return formulation_steps(tasks.make(spec), finished=True)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("spec", ["parity_columns", "addition_columns", "copy_pointer", "parity_leftmost"])
def test_steps_depend_on_the_order_of_columns(spec: str) -> None:
    found = bag_clash(steps(spec), range(1, 4))
    assert found is not None and found.label != found.other_label
    one, other = (text.replace("[", "").replace("]", "").split() for text in (found.one, found.other))
    marked = [next(part for part in text.split() if part[0] == "[") for text in (found.one, found.other)]
    assert sorted(one) == sorted(other) and marked[0] == marked[1]


@pytest.mark.parametrize(("spec", "r"), [("parity_columns", 3), ("addition_columns", 3)])
def test_a_written_column_beside_an_empty_one_can_only_be_the_left_one(spec: str, r: int) -> None:
    assert mirror_clash(steps(spec), range(1, 5), r) is None


def test_subtraction_is_not_the_same_from_the_other_side() -> None:
    """Unless the window is wide enough to show where the expression begins."""
    assert mirror_clash(steps("arithmetic_flat:prime=3"), [1], 7) is None
    found = mirror_clash(steps("arithmetic_flat:prime=3"), [1], 3)
    assert found is not None and found.label != found.other_label
    one, other = (text.replace("[", "").replace("]", "").split() for text in (found.one, found.other))
    assert one == other[::-1] and one[1] == "-"


def test_the_mark_before_the_first_column_tells_the_borders_apart() -> None:
    """`0 0`: the first bit is replaced and the second dropped; with the mark in sight they do not look alike."""
    assert mirror_clash(steps("parity_leftmost"), [2], 5) is None
