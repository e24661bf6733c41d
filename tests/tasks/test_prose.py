"""Prose: the chain has the probabilities it states, and check_task would notice if it had not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.studies.study_file import anchored
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import BOS, SPECIALS, Samples
from lengthwise.tasks.prose import COUNT, SYMBOLS, Prose, encode, fit
from lengthwise.testing import check_task
from lengthwise.text import built_in_text


@pytest.mark.parametrize("order", [1, 2, 3])
def test_contract(order: int) -> None:
    check_task(Prose(order), [1, 2, 3, 17])


@dataclass(frozen=True)
class Understated(Prose):
    """States what would be known if less were seen, which is right on average."""

    def log_probabilities(self, answers: Ints) -> np.ndarray:
        return Prose(self.order - 1).log_probabilities(answers)


@dataclass(frozen=True)
class Clairvoyant(Prose):
    """States what came, which it cannot know."""

    def log_probabilities(self, answers: Ints) -> np.ndarray:
        known = np.full((*answers.shape, COUNT), np.log(0.1 / (COUNT - 1)))
        np.put_along_axis(known, answers[..., None], np.log(0.9), axis=2)
        return known


@dataclass(frozen=True)
class Biased(Prose):
    """Draws the likelier symbols too often."""

    def sample(self, size: int, draws: Draws) -> Samples:
        texts = self.source.write(draws.uniform(size) ** 1.1)
        return Samples(texts[:, :-1], texts)


@pytest.mark.parametrize(
    ("task", "said"), [(Understated(2), "stands 2 before"), (Clairvoyant(1), "know what"), (Biased(2), "times as far")]
)
def test_a_task_that_lies_is_caught(task: Prose, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_task(task, [30])


def test_probabilities_by_hand() -> None:
    """`abab b`: the estimate of the module's docstring, worked out on paper."""
    chain = fit("abab b", 1)
    a, b, space = (SYMBOLS.index(symbol) for symbol in "ab_")
    single = chain.probabilities(0)[0]
    # a twice, b three times and a space once, three different ones: (N + 3 / 27) / 9
    assert single[a] == pytest.approx((2 + 1 / 9) / 9) and single[2] == pytest.approx(1 / 81)
    pairs = chain.probabilities(1)
    assert pairs[a, b] == pytest.approx((2 + single[b]) / 3)  # a is always followed by b
    assert pairs[b, space] == pytest.approx((1 + 2 * single[space]) / 4)  # once a and once a space
    assert np.array_equal(pairs[2], single), "what never occurs is as if nothing had been seen"
    assert np.array_equal(pairs.sum(axis=1), np.ones(COUNT))


def test_every_probability_is_one_of_the_sampler_and_positive() -> None:
    for length, sums in enumerate(Prose().source.sums):
        words = sums * 2.0**53
        assert np.array_equal(words, np.round(words)), "a partial sum is not a multiple of 2**-53"
        assert Prose().source.probabilities(length).min() > 0


def test_texts_become_symbols() -> None:
    assert "".join(SYMBOLS[code] for code in encode("  Été, don't\n\nGO 42 x!")) == "ete_don_t_go_x"


def test_layout() -> None:
    batch = Prose().batch(5, seed=1, items=[7, 8])
    texts = Prose().draw(5, seed=1, items=[7, 8]).answers
    assert batch.scored.all() and batch.inputs.shape == (2, 5)
    assert np.array_equal(batch.targets, texts + len(SPECIALS))
    assert np.array_equal(batch.inputs[:, 1:], batch.targets[:, :-1]) and (batch.inputs[:, 0] == BOS).all()


def test_the_best_loss_is_that_of_the_chain() -> None:
    task, size = Prose(2), 20
    answers = task.draw(size, 5, range(4000)).answers
    surprise = -np.take_along_axis(task.log_probabilities(answers), answers[..., None], axis=2)[..., 0]
    error = 5 * surprise.mean(axis=1).std() / np.sqrt(len(answers))
    assert abs(surprise.mean() - task.best_loss(size)) < error < 0.05
    places = task.source.entropies(size)
    assert np.all(np.abs(surprise.mean(axis=0) - places) < 5 * surprise.std(axis=0) / np.sqrt(len(answers)))
    assert task.source.entropy_rate() == pytest.approx(task.source.entropies(400)[-1])


def test_the_entropy_rate_is_that_of_the_stationary_chain() -> None:
    chain = fit(built_in_text(), 1)
    values, vectors = np.linalg.eig(chain.probabilities(1).T)
    resting = np.real(vectors[:, np.argmax(np.real(values))])
    resting /= resting.sum()
    known = chain.probabilities(1)
    assert chain.entropy_rate() == pytest.approx(-(resting[:, None] * known * np.log(known)).sum(), abs=1e-10)


def test_warnings_tell_the_best_loss() -> None:
    (warning,) = Prose(2).warnings()
    assert f"{Prose(2).source.entropy_rate():.4f} nats" in warning and "near 0" in warning


def test_own_file(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"
    path.write_text("The quick brown fox jumps over the lazy dog. " * 20)
    task = tasks.make(f"prose:path={path}")
    check_task(task, [1, 9])
    assert task != tasks.make("prose") and tasks.make(tasks.spec_of(task)) == task
    assert anchored("prose:path=my.txt", tmp_path) == f"prose:path={path}"
    (tmp_path / "short.txt").write_text("ab")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    for name, said in (("none.txt", "cannot be read"), ("short.txt", "2 letters"), ("bytes.txt", "UTF-8")):
        with pytest.raises(UsageError, match=said):
            tasks.make(f"prose:path={tmp_path / name}").draw(3, 0, [0])
    with pytest.raises(UsageError, match="1 to 4"):
        tasks.make("prose:order=5")
    with pytest.raises(UsageError, match="not a symbol"):
        task.solve(["a", "%"])


def test_a_task_that_is_certain_has_no_probabilities() -> None:
    with pytest.raises(UsageError, match="no probabilities"):
        tasks.make("sort").log_probabilities(np.zeros((1, 2), dtype=np.int64))
