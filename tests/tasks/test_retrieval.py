"""Tasks of finding something earlier in the prompt."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.seeds import Draws
from lengthwise.tasks import tasks
from lengthwise.tasks.retrieval import follower_counts, seen_before
from lengthwise.tasks.task import Task
from lengthwise.testing import check_task

SIZES = {
    "associative_recall": [1, 2, 20, 150],
    "associative_recall:keys=4,values=2": [1, 4],
    "associative_recall:queries=5": [1, 2, 20],
    "induction": [3, 4, 20, 100],
    "induction:letters=2": [3, 5, 12],
    "kgram": [3, 4, 5, 20, 60],
    "kgram:k=1,letters=2": [2, 3, 12],
    "kgram:k=3,letters=5": [4, 5, 30],
}

WORKED = [
    ("associative_recall", "k3 v1 k7 v0 k4 v1 k7", "v0"),
    ("associative_recall", "k0 v25 k0", "v25"),
    ("associative_recall:queries=2", "k3 v1 k7 v0 k7 k3", "v0 v1"),
    ("associative_recall:queries=3", "k3 v1 k3 k3 k3", "v1 v1 v1"),
    ("induction", "d a c b a", "c"),
    ("induction", "a b a", "b"),
    ("kgram", "a b c a b a a b c b a b", "c"),
    ("kgram", "a a a", "a"),
    ("kgram:k=1", "a b a c a c a", "c"),
]

UNREADABLE = [
    ("associative_recall", ""),
    ("associative_recall", "k1 v1"),
    ("associative_recall", "k1 k2 k1"),
    ("associative_recall", "v1 v2 k1"),
    ("associative_recall", "k1 v1 k1 v2 k1"),
    ("associative_recall", "k1 v1 k2"),
    ("associative_recall", "k1 v1 k150"),
    ("associative_recall:queries=2", "k1 v1 k1"),
    ("associative_recall:queries=2", "k1 v1 k1 k2"),
    ("induction", "a b c"),
    ("induction", "a b a c a"),
    ("induction", "a B a"),
    ("induction", ""),
    ("kgram", "a b c"),
    ("kgram", "a b a a b b a b"),
    ("kgram", "a b d a b"),
    ("kgram", "a"),
    ("kgram", ""),
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
    "spec",
    [
        "associative_recall:keys=0",
        "associative_recall:values=1",
        "associative_recall:queries=0",
        "induction:letters=1",
        "kgram:k=0",
        "kgram:k=6,letters=9",
    ],
)
def test_settings_that_make_no_task(spec: str) -> None:
    with pytest.raises(UsageError):
        tasks.make(spec)


def test_recall_asks_for_every_pair_and_value_alike() -> None:
    task = tasks.make("associative_recall:keys=6,values=3")
    samples = task.draw(4, 1, range(4000))
    place = (samples.prompts[:, :8:2] == samples.prompts[:, 8:]).argmax(axis=1)
    assert np.bincount(place, minlength=4) == pytest.approx(np.full(4, 1000), abs=150)
    assert np.bincount(samples.answers[:, 0] - 6, minlength=3) == pytest.approx(np.full(3, 1333), abs=150)
    assert not task.has(7) and task.axes[0].largest == 6


def test_the_preset_of_recall_is_for_several_queries() -> None:
    """With one query training starts from such a run, whose shape it takes, so its preset names no shape."""
    several = tasks.make("associative_recall:queries=8").preset
    assert tasks.make("associative_recall:queries=2").preset == several and several["gain"] == 5
    assert set(tasks.make("associative_recall").preset) == {"batch", "rate", "steps"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "position"), [("associative_recall:queries=8", "alibi:first=0.7"), ("induction", "rope")]
)
def test_a_preset_learns_its_range(spec: str, position: str, tmp_path: Path) -> None:
    """One to two minutes on one idle core for each."""
    run = lw.train(spec, position, test_size=20, items=100, folder=tmp_path / "run")
    exact = [point.exact for point in run.curve.points]
    assert sum(exact) / len(exact) >= 0.95, exact


def test_induction_places_the_earlier_symbol_anywhere_but_before_the_end() -> None:
    prompts = tasks.make("induction:letters=4").draw(8, 1, range(6000)).prompts
    same = prompts[:, :-1] == prompts[:, -1:]
    assert (same.sum(axis=1) == 1).all()
    assert same.sum(axis=0)[:-1] == pytest.approx(np.full(6, 1000), abs=150)
    assert same.sum(axis=0)[-1] == 0
    # whatever the last letter is, the others are uniform among the rest
    steps = (prompts[:, :-1] - prompts[:, -1:])[~same] % 4
    assert np.bincount(steps, minlength=4) == pytest.approx(np.array([0, 12000, 12000, 12000]), abs=500)


def test_kgram_answers_are_balanced_and_depend_on_the_context() -> None:
    samples = tasks.make("kgram").draw(40, 1, range(3000))
    assert np.bincount(samples.answers[:, 0], minlength=3) == pytest.approx(np.full(3, 1000), abs=130)
    most_frequent = np.array([np.bincount(row).argmax() for row in samples.prompts])
    share = (most_frequent == samples.answers[:, 0]).mean()
    assert share < 0.75, (
        f"counting letters without their context is right for {share:.0%}: the task asks for no context"
    )


def test_chain_ends_with_letters_that_occurred_before() -> None:
    prompts = seen_before(12, 3, 4, Draws(5, range(500)))
    for row in prompts.tolist():
        context = row[-3:]
        assert any(row[start : start + 3] == context for start in range(9))
    assert (follower_counts(prompts, 3, 4).sum(axis=1) >= 1).all()


def test_chain_repeats_letters_from_a_uniform_place() -> None:
    prompts = seen_before(8, 2, 12, Draws(5, range(3000)))
    same = (prompts[:, :6] == prompts[:, 6:7]) & (prompts[:, 1:7] == prompts[:, 7:])
    places = same[same.sum(axis=1) == 1].mean(axis=0)
    assert places == pytest.approx(np.full(6, 1 / 6), abs=0.05)


def test_chain_has_the_law_it_claims() -> None:
    """Of a chain with two letters, the share of `a` after a context is uniform on [0, 1]: mean 1/2, variance 1/12."""
    prompts = seen_before(2000, 1, 2, Draws(5, range(600)))
    starts = prompts[:, :-2] == 0
    share = ((prompts[:, 1:-1] == 0) & starts).sum(axis=1) / np.maximum(starts.sum(axis=1), 1)
    often = starts.sum(axis=1) >= 100
    # rarely visited contexts are left out; that a context is visited depends on its law, so the bounds are wide
    assert share[often].mean() == pytest.approx(0.5, abs=0.06)
    assert share[often].var() == pytest.approx(1 / 12, abs=0.02)


def test_follower_counts_against_a_plain_count() -> None:
    prompts = Draws(9, range(50)).integers(0, 3, 25)
    for row, counts in zip(prompts.tolist(), follower_counts(prompts, 2, 3).tolist(), strict=True):
        plain = Counter(row[end] for end in range(2, 25) if row[end - 2 : end] == row[-2:])
        assert [plain[letter] for letter in range(3)] == counts


@pytest.mark.parametrize(("spec", "size"), [(spec, size) for spec in SIZES for size in SIZES[spec][:3]])
def test_closed_form_of_chance_agrees_with_the_estimate(spec: str, size: int) -> None:
    task = tasks.make(spec)
    stated, estimated = task.chance(size), Task.chance(task, size)
    assert -0.05 < estimated.exact - stated.exact < 0.08
