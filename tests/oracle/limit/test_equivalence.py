"""Two transformers compared on all words: classes stand for words, differences are found, no more is claimed."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.equivalence import class_count, compare, differing_on, representatives
from lengthwise.oracle.limit.examples import bigram, majority, previous_token, rare_pair, share_in_class
from limit_models import random_limit


def all_differences(one, other, length: int) -> dict[tuple[int, ...], float]:
    found = {}
    for n in range(1, length + 1):
        words = np.array(list(itertools.product(range(len(one.symbols)), repeat=n)))
        apart = np.abs(one.answers(words) - other.answers(words)).max(axis=1)
        found.update({tuple(map(int, word)): float(value) for word, value in zip(words, apart, strict=True)})
    return found


def test_classes_stand_for_all_words() -> None:
    """The largest difference over classes is that over all words, and the witness is of the shortest length."""
    for seed in range(9):
        one = random_limit(seed)
        other = one.in_mode("finite", 3) if seed % 2 else differing_on(one, "a")
        length = 4 if len(one.symbols) == 3 else 6
        found = compare(one, other, length)
        wanted = all_differences(one, other, length)
        assert found.exact and found.words == len(wanted) and found.compared <= found.words
        assert found.difference == pytest.approx(max(wanted.values()), abs=1e-12)
        shortest = min((len(word) for word, value in wanted.items() if value > 0), default=None)
        assert (None if found.witness is None else len(found.witness)) == shortest
        if found.witness:
            assert wanted[tuple(one.symbols.index(s) for s in found.witness)] > 0


def seen(word: tuple[int, ...], period: int, locality: int) -> tuple:
    """What one layer sees: the end, and how often each symbol stands at each phase before it."""
    before = sorted((place % period, symbol) for place, symbol in enumerate(word[: -(locality + 1)]))
    return word[-(locality + 1) :], tuple(before)


def test_each_class_of_words_has_one_representative() -> None:
    for letters, period, locality, length in itertools.product((1, 2, 3), (1, 2, 3), (0, 1, 2), (1, 2, 6)):
        words = np.concatenate(list(representatives(range(letters), period, locality, length, 7))).tolist()
        every = {seen(word, period, locality) for word in itertools.product(range(letters), repeat=length)}
        found = {seen(tuple(word), period, locality) for word in words}
        assert len(words) == len(found) == class_count(letters, period, locality, length) and found == every


def test_long_words_are_covered() -> None:
    found = compare(majority(), majority().in_mode("finite", 4), 30)
    assert found.agree and found.words == 2**31 - 2 and found.compared < 1000
    claim = found.claim()
    assert claim.kind == "certified" and claim.value == 0
    assert [(a.key, a.check) for a in claim.assumptions] == [("limit.exact", "checked"), ("limit.beyond", "assumed")]


def test_a_difference_beyond_the_tolerance_is_refuted_by_a_word() -> None:
    one = share_in_class(2)
    other = one.in_mode("finite", 3)
    found = compare(one, other, 6)
    word = found.witness
    assert found.claim().status == "refuted" and word and one.answer(word) != other.answer(word)
    assert compare(one, other, 6, tolerance=1.0).agree
    assert isinstance(one.answer(word)[0], Fraction)


def test_two_layers_are_compared_word_by_word() -> None:
    found = compare(bigram(2, 6.0), bigram(2, 6.5), 7)
    assert found.compared == found.words == 2**8 - 2 and not found.exact and not found.agree
    assert found.difference == pytest.approx(max(all_differences(bigram(2, 6.0), bigram(2, 6.5), 7).values()))
    assert found.claim().kind == "measured"
    assert [a.key for a in found.claim().assumptions] == ["limit.rounded", "limit.beyond_nothing"]


@pytest.mark.parametrize("length", [3, 12])
def test_short_words_on_some_symbols_say_nothing_of_long_ones_on_the_rest(length: int) -> None:
    """No length is enough: they agree on all words over b and c, and differ on a word of a alone."""
    one, other = rare_pair(), differing_on(rare_pair(), "a")
    found = compare(one, other, length, symbols=("b", "c"))
    assert found.agree and found.missing == ("a",)
    assert any(a.check == "violated" for a in found.claim().assumptions)
    assert one.answer("a" * 2 * length) != other.answer("a" * 2 * length)


def test_usage() -> None:
    with pytest.raises(UsageError, match="same symbols"):
        compare(majority(), rare_pair(), 3)
    with pytest.raises(UsageError, match=r"up to 1[5-9] it is possible"):
        compare(bigram(2), bigram(2), 40)
    with pytest.raises(UsageError, match="at least 1"):
        compare(majority(), majority(), 0)
    assert compare(previous_token(), previous_token(), 5).agree
