"""What a trajectory is: depth from brackets, weights, and equal ones merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.transport.trajectories import Sample, Trajectory


@pytest.mark.parametrize(
    "word, depth",
    [
        ("( [ ] )", [1, 2, 1, 0]),
        (") ( ) )", [0, 1, 0, 0]),
        (") ) (", [0, 0, 1]),
        ("(4 x )4", [1, 1, 0]),
        ("{ < > }", [1, 2, 1, 0]),
        ("<= (a {(,[,$} ()", [0, 0, 0, 0]),
        ("3 1 2", [0, 0, 0]),
    ],
)
def test_depth_is_the_number_of_open_brackets(word, depth):
    assert Trajectory(tuple(word.split())).profile().tolist() == depth


@given(st.lists(st.sampled_from("()a"), min_size=1, max_size=40))
def test_depth_agrees_with_a_stack(word):
    heights, height = [], 0
    for token in word:
        height = max(0, height + {"(": 1, ")": -1}.get(token, 0))
        heights.append(height)
    assert Trajectory(tuple(word)).profile().tolist() == heights


def test_a_given_depth_is_taken_as_it_is():
    assert Trajectory(("(", "a"), depth=(3, 0.5, 2)).profile().tolist() == [3, 0.5, 2]


@pytest.mark.parametrize(
    "wrong, part",
    [
        ({"tokens": ()}, "empty"),
        ({"tokens": ("a", "")}, "empty"),
        ({"tokens": ("a",), "depth": ()}, "depth profile"),
        ({"tokens": ("a",), "depth": (1.0, float("nan"))}, "depth profile"),
        ({"tokens": ("a",), "depth": (-1.0,)}, "depth profile"),
        ({"tokens": ("a",), "features": (("nodes", float("inf")),)}, "'nodes'"),
    ],
)
def test_a_wrong_trajectory_is_refused(wrong, part):
    with pytest.raises(UsageError, match=part):
        Trajectory(**wrong)


def test_equal_trajectories_are_merged_and_their_weights_added():
    a, b = Trajectory(("a",)), Trajectory(("b",))
    sample = Sample.of([a, b, a, a], [0.1, 0.5, 0.2, 0.2])
    assert sample.trajectories == (a, b) and len(sample) == 4
    assert sample.owner.tolist() == [0, 1, 0, 0]
    assert sample.weights == pytest.approx([0.5, 0.5])


def test_what_differs_in_anything_is_not_merged():
    items = [Trajectory(("a",)), Trajectory(("a",), depth=(1,)), Trajectory(("a",), asked=1)]
    assert len(Sample.of(items).trajectories) == 3


def test_items_that_weigh_nothing_are_left_out():
    sample = Sample.of([Trajectory(("a",)), Trajectory(("b",))], [0, 1])
    assert sample.trajectories == (Trajectory(("b",)),) and len(sample) == 1


@pytest.mark.parametrize(
    "weights, part",
    [
        ([0.5, 0.6], "sum to 1.1"),
        ([3, 4], "sum to 7"),
        ([1.5, -0.5], "hold -0.5"),
        ([1, float("nan")], "hold nan"),
        ([1], "1 numbers for 2"),
    ],
)
def test_wrong_weights_are_refused(weights, part):
    with pytest.raises(UsageError, match=part):
        Sample.of([Trajectory(("a",)), Trajectory(("b",))], weights)


def test_no_trajectory_is_no_sample():
    with pytest.raises(UsageError, match="no trajectory"):
        Sample.of([])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_a_part_has_the_weights_of_its_items(chosen):
    words = [Trajectory((str(index % 4),)) for index in range(10)]
    shares = np.arange(1, 11) / 55
    part = Sample.of(words, shares).part(np.array(chosen))
    mass: dict[Trajectory, float] = {}
    for item in chosen:
        mass[words[item]] = mass.get(words[item], 0) + shares[item] / shares[chosen].sum()
    assert dict(zip(part.trajectories, part.weights, strict=True)) == pytest.approx(mass)
    assert len(part) == len(chosen)
