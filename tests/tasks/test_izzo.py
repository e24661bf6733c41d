"""The real-valued tasks of Izzo, Nichani and Lee 2025."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.tasks import tasks
from lengthwise.testing import check_task

SIZES = {
    "simple_task": [1, 2, 20, 101],
    "simple_task:omega=8": [1, 20],
    "modp_task": [1, 4, 5, 6, 23],
    "modp_task:period=3,residue=2": [3, 4, 20],
    "kgram_law": [3, 4, 20, 60],
    "kgram_law:k=1,letters=5": [2, 3, 30],
}

WORKED = [
    ("simple_task", "0 0 1 0", [math.sin(0.5)]),
    ("simple_task:omega=4", "1 1", [math.sin(-4)]),
    ("modp_task:period=3", "1 0 0 0 1 0 1 1 0", [2 / 3]),
    ("modp_task:period=3,residue=1", "1 0 0 0 1 0 1 1 0", [2 / 3]),
    ("modp_task:period=3,residue=2", "1 0 0 0 1 0 1 1 0", [0]),
    ("modp_task", "1 0", [1]),
    ("kgram_law", "a b c a b a a b c b a b", [1 / 3, 0, 2 / 3]),
    ("kgram_law", "b b b", [0, 1, 0]),
]

UNREADABLE = [
    ("simple_task", ""),
    ("simple_task", "0 2"),
    ("modp_task:residue=2", "0 1"),
    ("modp_task", "0 x"),
    ("kgram_law", "a b c"),
    ("kgram_law", "a b d a b"),
    ("kgram_law", ""),
]


@pytest.mark.parametrize("spec", SIZES)
def test_contract(spec: str) -> None:
    task = tasks.make(spec)
    check_task(task, SIZES[spec])
    for size in SIZES[spec]:
        samples = task.draw(size, 3, range(8))
        assert samples.answers.dtype == np.float64 and samples.answers.shape == (8, task.outputs)
        assert task.batch(size, 3, range(8)).scored.sum(axis=1).tolist() == [1] * 8


@pytest.mark.parametrize(("spec", "prompt", "answer"), WORKED)
def test_worked_examples(spec: str, prompt: str, answer: list[float]) -> None:
    assert list(tasks.make(spec).solve(prompt.split())) == pytest.approx(answer)


@pytest.mark.parametrize(("spec", "prompt"), UNREADABLE)
def test_unreadable_prompts(spec: str, prompt: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec).solve(prompt.split())


@pytest.mark.parametrize("spec", ["modp_task:period=0", "modp_task:residue=5", "modp_task:residue=-1", "kgram_law:k=0"])
def test_settings_that_make_no_task(spec: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec)


def test_outputs_and_smallest_sizes() -> None:
    assert tasks.make("kgram_law:letters=7").outputs == 7
    assert tasks.make("simple_task").outputs == tasks.make("modp_task").outputs == 1
    assert tasks.make("modp_task:residue=3").sizes(0, 5) == [4, 5]
    assert tasks.make("kgram_law:k=4").sizes(0, 6) == [5, 6]


def test_ones_are_uniform() -> None:
    prompts = tasks.make("simple_task").draw(4, 1, range(5000)).prompts
    assert np.bincount(prompts.sum(axis=1), minlength=5) == pytest.approx(np.full(5, 1000), abs=150)
    prompts = tasks.make("modp_task:period=3").draw(8, 1, range(6000)).prompts
    for start, places in ((0, 3), (1, 3), (2, 2)):
        ones = prompts[:, start::3].sum(axis=1)
        assert np.bincount(ones, minlength=places + 1) == pytest.approx(
            np.full(places + 1, 6000 / (places + 1)), abs=200
        )


def test_other_classes_say_nothing_about_the_class_asked_for() -> None:
    samples = tasks.make("modp_task:period=2").draw(60, 1, range(4000))
    assert abs(np.corrcoef(samples.prompts[:, 1::2].mean(axis=1), samples.answers[:, 0])[0, 1]) < 0.08


def test_chance_is_the_best_constant() -> None:
    assert tasks.make("modp_task").chance(1).exact == 1 / 2  # one place: 0 or 1
    assert tasks.make("modp_task").chance(21).exact == 2 / 6  # five places: two fifths lie within 0.1 of 0.3
    assert tasks.make("simple_task").chance(2).exact == 1 / 3
    assert tasks.make("kgram_law").chance(3).exact == pytest.approx(1 / 3, abs=0.05)  # one letter repeated


@pytest.mark.parametrize("spec", ["simple_task:omega=8", "modp_task", "kgram_law"])
@pytest.mark.parametrize("size", [6, 31])
def test_no_constant_beats_chance(spec: str, size: int) -> None:
    task = tasks.make(spec)
    answers = task.draw(size, 11, range(2000)).answers
    guesses = [*answers[:300], *np.linspace(-1, 1, 81)[:, None]]
    best = max(float((np.abs(answers - guess) <= task.tolerance).all(axis=1).mean()) for guess in guesses)
    assert best == pytest.approx(task.chance(size).exact, abs=0.04)


@pytest.mark.parametrize("spec", ["simple_task", "modp_task", "kgram_law"])
@pytest.mark.parametrize("size", [20, 200])
def test_a_constant_answer_fails_at_every_size(spec: str, size: int) -> None:
    """Were the targets to concentrate with the size, one number would be right on long prompts."""
    assert tasks.make(spec).chance(size).exact < 0.35


DIRICHLET = ["simple_task:dirichlet=1", "modp_task:period=3,dirichlet=0.5", "kgram_law:dirichlet=2"]


@pytest.mark.parametrize("spec", DIRICHLET)
def test_dirichlet_prompts_keep_the_contract(spec: str) -> None:
    check_task(tasks.make(spec), sizes=[4, 20])


@pytest.mark.parametrize(("alpha", "variance"), [(0.5, 1 / 8), (1.0, 1 / 12), (4.0, 1 / 36)])
def test_probabilities_are_dirichlet_and_symbols_independent(alpha: float, variance: float) -> None:
    """Of Beta(alpha, alpha) the variance is 1 / (4 (2 alpha + 1)); two symbols of an item share it as covariance."""
    bits = tasks.make(f"simple_task:dirichlet={alpha}").draw(40, 3, range(8000)).prompts
    assert bits.mean() == pytest.approx(0.5, abs=0.02)
    first, second = bits[:, :20].mean(axis=1), bits[:, 20:].mean(axis=1)
    assert np.cov(first, second)[0, 1] == pytest.approx(variance, abs=0.006)
    assert abs(bits[:, 0].mean() - bits[:, 39].mean()) < 0.03


def test_dirichlet_of_one_is_uniform_in_the_number_of_ones() -> None:
    """So the usual prompts of simple_task are those of Theorem 4.2 with alpha 1."""
    ones = tasks.make("simple_task:dirichlet=1").draw(4, 1, range(5000)).prompts.sum(axis=1)
    assert np.bincount(ones, minlength=5) == pytest.approx(np.full(5, 1000), abs=150)


def test_letters_of_a_dirichlet_law_have_no_context() -> None:
    """Given its law, a letter does not depend on the one before; of a chain it does."""
    for spec, dependent in (("kgram_law:k=1,letters=2,dirichlet=1", False), ("kgram_law:k=1,letters=2", True)):
        text = tasks.make(spec).draw(400, 1, range(60)).prompts[:, :-1]
        mixed = [row for row in text if 40 < row.sum() < 360]
        after = [abs(row[1:][row[:-1] == 0].mean() - row[1:][row[:-1] == 1].mean()) for row in mixed]
        assert (float(np.mean(after)) > 0.2) is dependent


@pytest.mark.parametrize("spec", ["simple_task:dirichlet=-1", "modp_task:dirichlet=inf", "kgram_law:dirichlet=-0.5"])
def test_an_alpha_is_above_zero(spec: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec)


@pytest.mark.parametrize("omega", ["1e308", "-1000001"])
def test_a_wave_has_an_omega_that_floats_can_follow(omega: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(f"simple_task:omega={omega}")
