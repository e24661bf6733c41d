"""Two limit transformers compared: against every word, in exact and in floating arithmetic."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.classes import ClassAnswers, class_count, class_words
from lengthwise.oracle.limit.comparing import compare
from lengthwise.oracle.limit.examples import bigram, example, majority, rare_pair, share_in_class, wave
from lengthwise.oracle.limit.transformer import LimitTransformer
from limit_models import random_limit

FEW_OR_MANY = pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 60), marks=pytest.mark.slow)])


def class_of(word: tuple[int, ...], period: int, locality: int) -> tuple:
    """The end, and how often each symbol stands at each phase before it."""
    end = word[-(locality + 1) :]
    before = word[: len(word) - len(end)]
    return end, tuple(sorted((place % period, symbol) for place, symbol in enumerate(before)))


@pytest.mark.parametrize(("symbols", "period", "locality"), [(2, 1, 0), (2, 2, 1), (3, 2, 0), (2, 3, 2), (1, 2, 1)])
def test_one_word_of_every_class(symbols: int, period: int, locality: int) -> None:
    for length in range(1, 7):
        found = list(class_words(symbols, period, locality, length))
        kinds = [class_of(word, period, locality) for word in found]
        every = {class_of(word, period, locality) for word in itertools.product(range(symbols), repeat=length)}
        assert len(kinds) == len(set(kinds)) == class_count(symbols, period, locality, length)
        assert set(kinds) == every


@FEW_OR_MANY
@pytest.mark.parametrize("mode", ["hardmax", "finite"])
def test_answers_to_classes_are_those_to_words(seeds: range, mode: str) -> None:
    for seed in seeds:
        model = random_limit(seed, mode=mode)
        counted = ClassAnswers(model)
        draw = random.Random(seed)
        for length in (1, 2, 5, 9):
            word = tuple(draw.randrange(len(model.symbols)) for _ in range(length))
            own, said = counted.answer(word), tuple(model.answers(np.array([word]))[0])
            if all(isinstance(value, Fraction) for value in said):
                assert own == said
            else:
                assert [float(v) for v in own] == pytest.approx([float(v) for v in said], abs=1e-12)


def brute(one: LimitTransformer, other: LimitTransformer, longest: int, error: float) -> tuple[int, float]:
    """The shortest length at which some word differs by more than the error (0: none), and the largest difference."""
    largest = 0.0
    for length in range(1, longest + 1):
        words = np.array(list(itertools.product(range(len(one.symbols)), repeat=length)))
        gaps = np.abs(one.answers(words) - other.answers(words)).max(axis=1)
        largest = max(largest, float(max(gaps)))
        if max(gaps) > error + (0 if one.exact and one.mode == "hardmax" else 1e-9):
            return length, largest
    return 0, largest


@FEW_OR_MANY
@pytest.mark.parametrize(
    ("mode", "layers"), [("hardmax", 1), ("finite", 1), ("infinite", 1), ("hardmax", 2), ("finite", 2)]
)
def test_comparison_agrees_with_all_words(seeds: range, mode: str, layers: int) -> None:
    """Attack: a transformer against one that differs in a single entry, which some pairs show late or never."""
    for seed in seeds:
        one = random_limit(seed, layers, mode)
        draw = random.Random(seed)
        part = draw.choice(["embeddings", "positions", "readout"])
        changed = getattr(one, part).copy()
        changed[draw.randrange(len(changed)), draw.randrange(changed.shape[1])] += Fraction(draw.choice([0, 1, 1]), 100)
        other = replace(one, **{part: changed})
        error = draw.choice([0.0, 0.01, 0.05])
        longest = 5 if len(one.symbols) == 3 else 6
        found = compare(one, other, longest, error)
        wrong, largest = brute(one, other, longest, error)
        assert (found.length if found.agree else found.length + 1) == (wrong or longest)
        assert found.agree == (wrong == 0)
        if found.agree:
            assert found.largest == pytest.approx(largest, abs=1e-9)
        else:
            assert found.word is not None and len(found.word) == wrong and found.answers is not None
            gap = max(abs(float(a - b)) for a, b in zip(one.answer(found.word), other.answer(found.word), strict=True))
            assert gap == pytest.approx(found.largest) and gap > error


def test_a_difference_that_floats_do_not_see_is_found() -> None:
    """Logits that differ by 1e-12 tie in floating point, not in rational numbers."""
    one = rare_pair()
    embeddings = one.embeddings.copy()
    embeddings[0, 1] += Fraction(1, 10**12)
    found = compare(one, replace(one, embeddings=embeddings), 3)
    assert found.exact and found.word is not None and {"a", "b"} <= set(found.word)


def test_symbols_in_another_order_and_the_default_length() -> None:
    one = majority()
    other = replace(one, symbols=("1", "0"), embeddings=one.embeddings[::-1])
    found = compare(one, other)
    assert found.agree and found.exact and found.way == "classes" and found.length > 20
    assert compare(bigram(), bigram(), 4).way == "words"
    assert compare(wave(), wave(1.0), 30).agree and not compare(wave(), wave(1.1), 30).agree
    assert compare(wave(), wave(1.1), 30, error=0.2).agree  # sin is at most 1 apart by slope


def test_a_later_phase_is_needed_to_see_it() -> None:
    """Two residue classes differ as soon as both have a place; a period of 2 and one of 4 only where counts differ."""
    found = compare(share_in_class(4, 0), share_in_class(2, 0), 8)
    assert found.word is not None and len(found.word) == 3


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(UsageError, match="same symbols"):
        compare(majority(), rare_pair())
    with pytest.raises(UsageError, match="numbers"):
        compare(majority(), replace(majority(), readout=example("majority").readout[[0, 0]]))
    with pytest.raises(UsageError, match="error"):
        compare(majority(), majority(), error=-1)
    with pytest.raises(UsageError, match="not of 0"):
        compare(majority(), majority(), 0)
    with pytest.raises(UsageError, match="rational"):
        ClassAnswers(wave())
