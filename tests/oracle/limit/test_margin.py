"""Margins and hardmax lengths against all words."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.constants import positional_margin, regimes
from lengthwise.oracle.limit.examples import bigram, majority, previous_token, share_in_class, wave
from lengthwise.oracle.limit.margins import (
    gap_of_words,
    hardmax_length,
    logit_margin,
    smallest_length,
)
from lengthwise.oracle.limit.transformer import Layer, LimitHead, LimitTransformer, head_weights, matrix, vector
from limit_models import random_limit

FEW_OR_MANY = pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 150), marks=pytest.mark.slow)])


def logits_of(model: LimitTransformer, head: LimitHead, word: tuple[int, ...]) -> list[Fraction]:
    """Of all keys at the last place, by the definition."""
    y = [model.embeddings[s] + model.positions[i % model.period] for i, s in enumerate(word)]
    last = len(word) - 1
    return [
        y[j] @ head.match @ y[-1] + (head.local[last - j] if last - j < len(head.local) else 0)
        for j in range(len(word))
    ]


def words_of(model: LimitTransformer, length: int):
    return itertools.product(range(len(model.symbols)), repeat=length)


def is_hard(model: LimitTransformer, length: int) -> bool:
    """Whether no word of this length has a weight between 0 and 1 left beside the largest."""
    words = np.array(list(words_of(model, length)))
    states = model.embeddings[words] + model.positions[np.arange(length) % model.period]
    for head in model.layers[0].heads:
        last = np.array([length - 1])
        finite = head_weights(head, states, last, "finite", model.bits)
        if not np.array_equal(finite, head_weights(head, states, last, "hardmax", model.bits)):
            return False
    return True


@FEW_OR_MANY
def test_the_margin_is_the_smallest_difference_any_words_show(seeds: range) -> None:
    attained = 0
    for seed in seeds:
        model = random_limit(seed)
        margin = logit_margin(model)
        met: dict[tuple, set] = {}
        for length in range(1, 8 if len(model.symbols) < 3 else 6):
            for word in words_of(model, length):
                for index, head in enumerate(model.layers[0].heads):
                    query = (index, word[-1], (length - 1) % model.period)
                    met.setdefault(query, set()).update(logits_of(model, head, word))
        gaps = [high - low for seen in met.values() for low, high in itertools.pairwise(sorted(seen))]
        assert not gaps or (margin.value is not None and min(gaps) >= margin.value)
        attained += (min(gaps) if gaps else None) == margin.value
    assert attained >= 0.8 * len(seeds)  # short words do not show every phase and distance


@FEW_OR_MANY
def test_the_gap_of_words_is_exact(seeds: range) -> None:
    for seed in seeds:
        model = random_limit(seed)
        for length in range(1, 7 if len(model.symbols) < 3 else 6):
            for head in model.layers[0].heads:
                gaps = [max(a) - b for a in (logits_of(model, head, w) for w in words_of(model, length)) for b in a]
                positive = [gap for gap in gaps if gap > 0]
                assert gap_of_words(model, head, length) == (min(positive) if positive else None)


@FEW_OR_MANY
def test_observed_hardmax_length_is_exact_and_at_most_the_predicted_one(seeds: range) -> None:
    checked = 0
    for seed in seeds:
        model = random_limit(seed, 1, "finite", bits=2, denominator=1)
        found = hardmax_length(model)
        assert found.predicted is not None and found.observed is not None and found.observed <= found.predicted
        if len(model.symbols) ** (found.observed + 2) > 800:
            continue
        checked += 1
        assert all(is_hard(model, n) for n in range(found.observed, found.observed + 3))
        if found.observed > 1:
            assert not is_hard(model, found.observed - 1)
    assert checked >= len(seeds) / 2


def test_a_gap_that_no_word_shows_does_not_delay_hard_attention() -> None:
    """The place before the last has a logit of 1 or 11/10 and all others have 0 or 1/10: gamma is 1/10, but the largest
    logit of a word is at least 9/10 above the next."""
    embeddings = matrix([[1, 0], [1, "1/10"]], "e")
    head = LimitHead(matrix([[0, 0], [1, 0]], "m"), vector([0, 1], "l"), matrix([[0, 0], [0, 0]], "v"))
    zero = matrix([[0, 0]], "p")
    model = LimitTransformer(("a", "b"), embeddings, zero, (Layer((head,)),), zero, "finite", 4)
    found = hardmax_length(model)
    assert found.margin.value == Fraction(1, 10) and found.predicted == 2**40
    assert found.observed == 22  # the smallest n with n^(9/10) >= 16


@pytest.mark.parametrize("bits", [1, 5, 16, 64])
def test_lengths_are_whole_number_roots(bits: int) -> None:
    for gap in (Fraction(1), Fraction(1, 2), Fraction(2, 3), Fraction(7, 5)):
        n = smallest_length(gap, bits)
        assert n is not None
        assert n**gap.numerator >= 2 ** (bits * gap.denominator) > (n - 1) ** gap.numerator
    assert smallest_length(0.5, 6) == 4096
    assert smallest_length(Fraction(1, 10**6), 16) is None


def test_long_predictions_are_exact_without_listing_words() -> None:
    found = hardmax_length(share_in_class(3).in_mode("finite", 40))
    assert found.predicted == 2**40 and 2**40 - 3 < found.observed <= 2**40
    assert hardmax_length(majority()).observed == 1 and hardmax_length(wave()).margin.value is None


def test_margins_are_of_one_layer_at_finite_precision() -> None:
    with pytest.raises(UsageError, match="one layer at finite precision"):
        logit_margin(bigram())
    margin = logit_margin(previous_token())
    assert margin.value == 1 and margin.query is not None and len(margin.keys) == 2


def with_local(*heads: list) -> LimitTransformer:
    zero = matrix([[0]], "x")
    built = tuple(LimitHead(zero, vector(local, "l"), zero) for local in heads)
    return LimitTransformer(("a",), zero, zero, (Layer(built),), zero, "infinite")


@pytest.mark.parametrize(
    ("local", "regime", "margin"),
    [
        ([0], "tokens", 1),
        ([0, "1/2"], "tokens", Fraction(1, 2)),
        ([0, 1], "balanced", 1),
        ([1], "balanced", None),
        ([0, 2], "positions", 1),
        (["5/4", 2], "positions", Fraction(3, 4)),
        ([0, 2, 0, 0], "positions", 1),
        ([3, 0], "positions", 2),
        ([0.5], "tokens", 0.5),
    ],
)
def test_positional_margins_by_hand(local: list, regime: str, margin) -> None:
    (found,) = regimes(with_local(local))
    assert (found.regime, found.margin) == (regime, margin)
    assert positional_margin(with_local([0], local)) == (1 if margin is None else min(1, margin))


@pytest.mark.parametrize("local", [[0, "1/2"], [0, 2], ["5/4", 2], [0, 0, "3/2"]])
def test_weights_outside_the_regime_vanish_with_the_positional_margin(local: list) -> None:
    """Statement 3, measured: the share of everything else falls like i^-gamma."""
    model = with_local(local).in_floats()
    (found,) = regimes(model)
    head, rest = model.layers[0].heads[0], []
    for length in (4000, 16000):
        states = np.zeros((1, length, 1))
        weights = head_weights(head, states, np.array([length - 1]), "infinite", 16)[0, 0][::-1]
        near = np.array([float(phi) for phi in head.local])
        top = max(near.max(), 1.0)
        leading = weights[: len(near)][near == top].sum() + (weights[len(near) :].sum() if top == 1 else 0)
        rest.append(1 - leading)
    assert found.margin is not None
    assert np.log(rest[0] / rest[1]) / np.log(4) == pytest.approx(found.margin, abs=0.03)
