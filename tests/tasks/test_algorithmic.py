"""The algorithmic tasks of Huang et al. 2025."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.task import Task
from lengthwise.testing import check_task

SIZES = {
    "binary_majority": [1, 2, 3, 20, 51],
    "interleaved_majority": [3, 6, 21, 60],
    "interleaved_majority:period=1": [1, 2, 9],
    "interleaved_majority:period=2": [2, 4, 22],
    "majority": [1, 2, 3, 20, 60],
    "majority:letters=2": [1, 2, 4, 5],
    "copy_unique": [1, 2, 20, 64],
    "copy_unique:alphabet=5": [1, 5],
    "copy_repeat": [1, 2, 20, 150],
    "parity": [1, 2, 3, 20, 51],
    "addition": [4, 5, 6, 20, 70, 150],
}

CLOSED = [spec for spec in SIZES if spec != "addition"]  # the chance of a sum has no closed form and is estimated

WORKED = [
    ("binary_majority", "0 1 1 0 1", "1"),
    ("binary_majority", "0", "0"),
    ("interleaved_majority", "0 1 1 0 1 0 1 1 1", "0 1 1"),
    ("interleaved_majority:period=2", "1 0 1 0", "1 0"),
    ("majority", "c a b a", "a"),
    ("majority", "z", "z"),
    ("copy_unique", "7 2 9 4", "7 2 9 4"),
    ("copy_repeat", "a b b a", "a b b a"),
    ("parity", "1 0 1 1", "o"),
    ("parity", "0 0", "e"),
    ("addition", "1 1 0 + 1 1 =", "1 0 0 1"),
    ("addition", "0 + 0 =", "0"),
    ("addition", "1 1 1 + 1 =", "1 0 0 0"),
]

UNREADABLE = [
    ("binary_majority", "0 1"),
    ("binary_majority", "0 2 0"),
    ("interleaved_majority", "0 1 1 0"),
    ("interleaved_majority", "0 1 1 1 1 1"),
    ("majority", "a b"),
    ("majority", "a A a"),
    ("majority", ""),
    ("copy_unique", "1 2 1"),
    ("copy_unique", "1 64"),
    ("copy_repeat", "a c"),
    ("parity", "0 e"),
    ("addition", "1 1 ="),
    ("addition", "1 + 1"),
    ("addition", "+ 1 ="),
    ("addition", "1 + 1 + 1 ="),
    ("addition", "1 + 1 = 1"),
]


@pytest.mark.parametrize("spec", SIZES)
def test_contract(spec: str) -> None:
    check_task(tasks.make(spec), SIZES[spec])


@pytest.mark.parametrize(("spec", "prompt", "answer"), WORKED)
def test_worked_examples(spec: str, prompt: str, answer: str) -> None:
    assert tuple(tasks.make(spec).solve(prompt.split())) == tuple(answer.split())


@pytest.mark.parametrize(("spec", "prompt"), UNREADABLE)
def test_unreadable_prompts(spec: str, prompt: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec).solve(prompt.split())


@pytest.mark.parametrize(
    "spec", ["interleaved_majority:period=0", "majority:letters=27", "majority:letters=1", "copy_unique:alphabet=0"]
)
def test_settings_that_make_no_task(spec: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec)


def test_sizes() -> None:
    assert tasks.make("interleaved_majority").sizes(0, 10) == [3, 6, 9]
    assert tasks.make("addition").sizes(0, 5) == [4, 5]
    assert tasks.make("copy_unique:alphabet=3").sizes(0, 9) == [1, 2, 3]
    assert tasks.make("parity").sizes(0, 2) == [1, 2]


def is_uniform(values: list[int] | list[tuple[int, ...]], outcomes: int) -> bool:
    """Whether a chi-square statistic is below a threshold that a uniform sampler passes about once in a million."""
    counts, expected = Counter(values), len(values) / outcomes
    if len(counts) > outcomes:
        return False
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    statistic += (outcomes - len(counts)) * expected
    freedom = outcomes - 1
    return statistic < freedom + 5 * math.sqrt(2 * freedom) + 15


@pytest.mark.parametrize("size", [4, 5])
def test_binary_majority_counts_are_uniform_without_the_tie(size: int) -> None:
    prompts = tasks.make("binary_majority").draw(size, 1, range(6000)).prompts
    zeros = (prompts == 0).sum(axis=1).tolist()
    assert set(zeros) == set(range(size + 1)) - {size / 2}
    assert is_uniform(zeros, len(set(zeros)))
    single_one = [tuple(row) for row in prompts.tolist() if sum(row) == 1]
    assert is_uniform(single_one, size), "the order of the bits is uniform"


def test_interleaved_sequences_are_independent() -> None:
    samples = tasks.make("interleaved_majority").draw(9, 1, range(4000))
    assert is_uniform([tuple(row) for row in samples.answers.tolist()], 8)
    zeros = (samples.prompts.reshape(-1, 3, 3) == 0).sum(axis=1)
    assert is_uniform([tuple(row) for row in zeros.tolist()], 4**3)


def test_majority_is_uniform_over_strings_with_one_winner() -> None:
    prompts = tasks.make("majority:letters=3").draw(4, 1, range(6000)).prompts.tolist()
    # 3 of one letter only, 3 x 2 x 4 of three and one, 3 x 12 of two, one and one
    assert is_uniform([tuple(row) for row in prompts], 3 + 24 + 36)


def test_copied_strings_are_uniform() -> None:
    unique = tasks.make("copy_unique:alphabet=4").draw(2, 1, range(3000)).prompts.tolist()
    assert is_uniform([tuple(row) for row in unique], 12) and all(a != b for a, b in unique)
    assert is_uniform([tuple(row) for row in tasks.make("copy_repeat").draw(4, 1, range(3000)).prompts.tolist()], 16)


def test_parity_counts_are_uniform() -> None:
    prompts = tasks.make("parity").draw(6, 1, range(6000)).prompts
    assert is_uniform(prompts.sum(axis=1).tolist(), 7)
    assert is_uniform([tuple(row) for row in prompts.tolist() if sum(row) == 1], 6)


def test_addition_operands() -> None:
    task = tasks.make("addition")
    prompts = ["".join(task.spelled(row)) for row in task.draw(9, 1, range(6000)).prompts]
    operands = [prompt[:-1].split("+") for prompt in prompts]
    assert is_uniform([len(first) for first, _ in operands], 6)
    for place in (0, 1):
        assert is_uniform([int(pair[place]) for pair in operands if len(pair[place]) == 1], 2)
        long = [pair[place] for pair in operands if len(pair[place]) == 4]
        assert {operand[0] for operand in long} == {"1"}
        assert is_uniform([int(operand, 2) for operand in long], 8)


def test_addition_fills_at_the_right_and_uses_the_whole_width() -> None:
    for size in (4, 5, 6):
        answers = tasks.make("addition").draw(size, 1, range(4000)).answers
        assert answers.shape[1] == size - 2
        assert (answers[:, -1] != NOTHING).any(), "the longest sum fills the width"
        assert (np.diff((answers == NOTHING).astype(int), axis=1) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 260), st.integers(0, 2**32))
def test_addition_is_exact_at_any_size(size: int, seed: int) -> None:
    task = tasks.make("addition")
    samples = task.draw(size, seed, range(4))
    for prompt, answer in zip(samples.prompts, samples.answers, strict=True):
        first, second = "".join(task.spelled(prompt))[:-1].split("+")
        assert "".join(task.spelled(answer)) == bin(int(first, 2) + int(second, 2))[2:]


@pytest.mark.parametrize(("spec", "size"), [(spec, size) for spec in CLOSED for size in SIZES[spec][:3]])
def test_closed_form_of_chance_agrees_with_the_estimate(spec: str, size: int) -> None:
    task = tasks.make(spec)
    stated, estimated = task.chance(size), Task.chance(task, size)
    assert abs(estimated.exact - stated.exact) < 5 * estimated.exact_error
    assert abs(estimated.token - stated.token) < 5 * estimated.token_error + 0.01


def test_chance_of_long_answers() -> None:
    assert tasks.make("copy_unique:alphabet=400").chance(400).exact == 0.0
    assert tasks.make("copy_unique:alphabet=4").chance(2).exact == pytest.approx(1 / 12)
    assert tasks.make("copy_repeat").chance(10).exact == 2**-10
    assert tasks.make("parity").chance(2).exact == pytest.approx(2 / 3)
