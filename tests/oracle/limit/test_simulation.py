"""Short stand-ins: they keep what must be kept, are as near as is said, and the best if all counts were tried."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.constants import lipschitz, stand_in_bound
from lengthwise.oracle.limit.examples import bigram, previous_token, rare_pair, share_in_class, wave
from lengthwise.oracle.limit.simulation import StandIn, StandInSearch, compositions, shortest_simulation
from limit_models import random_limit


def simulate(model, word, length: int) -> StandIn | None:
    return StandInSearch(model, word).best(length)


def kept(model, word) -> tuple:
    """The end, the phase of the last place, and what occurs before the end at each phase."""
    end = model.locality + 1
    before = {(place % model.period, symbol) for place, symbol in enumerate(word[:-end])}
    return tuple(word[-end:]), len(word) % model.period, before


def test_a_stand_in_keeps_end_phase_and_presence_and_its_difference_is_true() -> None:
    found = 0
    for seed in range(40):
        model = random_limit(seed)
        draw = random.Random(seed)
        word = [draw.choice(model.symbols) for _ in range(60)]
        result = simulate(model, word, 60 - 3 * model.period * draw.randint(4, 12))
        if result is None:
            continue
        found += 1
        assert kept(model, result.short) == kept(model, word)
        difference = max(abs(float(a - b)) for a, b in zip(model.answer(word), model.answer(result.short), strict=True))
        assert result.difference == pytest.approx(difference, abs=1e-9)
    assert found >= 25


def test_no_word_that_keeps_the_same_is_better_when_all_counts_were_tried() -> None:
    for seed in range(12):
        model = random_limit(seed)
        draw = random.Random(seed)
        word = [draw.choice(model.symbols) for _ in range(40)]
        length = (40 - 1) % model.period + 1 + model.period * (6 // model.period)
        result = simulate(model, word, length)
        wanted = [float(v) for v in model.answer(word)]
        words = [w for w in itertools.product(model.symbols, repeat=length) if kept(model, w) == kept(model, word)]
        assert (result is None) == (not words)
        if result is not None:
            numbers = np.array([[model.symbols.index(s) for s in w] for w in words])
            errors = np.abs(model.in_floats().answers(numbers) - wanted).max(axis=1)
            assert result.listed and result.difference == pytest.approx(errors.min(), abs=1e-9)


def test_ratios_inside_a_rare_argmax_set_are_kept() -> None:
    """31 a and 10 b among 1,000 c: the histogram of the whole word, rounded, would keep one a and one b."""
    word = ["c"] * 900 + ["a"] * 31 + ["b"] * 10 + ["c"] * 60
    rounded = ["c"] * 38 + ["a", "b"]
    model = rare_pair()
    assert abs(float(model.answer(word)[0] - model.answer(rounded)[0])) > 0.25
    assert simulate(model, word, 40).difference < 0.01
    assert shortest_simulation(model, word, 0.02).short.count("c") <= 2
    long = simulate(model, word, 300)  # too many counts to try all
    assert not long.listed and long.difference < 0.01


def test_the_shortest_stand_in_is_within_the_error() -> None:
    word = ["0"] * 601 + ["1"] * 396
    found = shortest_simulation(wave(4.0), word, 0.01)
    assert found.difference <= 0.01 and len(found.short) < 60
    for length in range(1, len(found.short)):
        shorter = simulate(wave(4.0), word, length)
        assert shorter is None or shorter.difference > 0.01
    assert found.listed


def test_phases_are_respected() -> None:
    word = list("101" * 100 + "000" * 33 + "010" * 30 + "1")
    found = shortest_simulation(share_in_class(3, 1), word, 0.02)
    assert (len(word) - len(found.short)) % 3 == 0 and found.difference <= 0.02
    assert simulate(share_in_class(3, 1), word, len(found.short) + 1) is None


def test_a_local_head_needs_only_the_end() -> None:
    word = list("ab" * 40)
    found = shortest_simulation(previous_token(2), word, 0.0)
    assert found.difference == 0 and len(found.short) == 4  # the last two, and one of each letter before


def test_finite_precision_shows_where_attention_is_not_yet_hard() -> None:
    model = rare_pair().in_mode("finite", 6)  # hard from 64 on
    word = ["c"] * 900 + ["a"] * 30 + ["b"] * 10
    assert simulate(model, word, 8).difference > 0.01
    assert simulate(model, word, 80).difference < 0.01


def test_usage() -> None:
    with pytest.raises(UsageError, match="one layer only"):
        simulate(bigram(), "abab", 2)
    with pytest.raises(UsageError, match="error must be 0 or more"):
        shortest_simulation(wave(), "01", -1)


def test_compositions() -> None:
    for total, parts in itertools.product(range(5), range(1, 4)):
        wanted = {c for c in itertools.product(range(total + 1), repeat=parts) if sum(c) == total}
        found = list(compositions(total, parts))
        assert set(found) == wanted and len(found) == len(wanted)


def test_a_residue_class_needs_words_as_many_times_longer_as_its_period() -> None:
    """Two shares near which few short fractions lie, at each third and each sixth place."""
    for ones, places in ((20, 61), (26, 53)):
        lengths = []
        for period in (1, 3, 6):
            word = ["0"] * (period * places)
            word[::period] = random.Random(1).sample(["1"] * ones + ["0"] * (places - ones), places)
            lengths.append(len(shortest_simulation(share_in_class(period), word, 0.004).short))
        assert lengths[1] == pytest.approx(3 * lengths[0], rel=0.25)
        assert lengths[2] == pytest.approx(6 * lengths[0], rel=0.25)


def test_the_nearest_stand_in_is_given_where_none_is_within_the_error() -> None:
    word = list("0" * 601 + "1" * 396)
    found = shortest_simulation(wave(4.0), word, 0.001, longest=30)
    assert 0.001 < found.difference < 0.1 and len(found.short) <= 30
    every = [simulate(wave(4.0), word, length) for length in range(1, 31)]
    assert found.difference == min(one.difference for one in every if one is not None)


def test_no_difference_exceeds_the_bound_of_statement_4() -> None:
    """Attack: random transformers and random words that end in the same symbol and phase; some come close to it."""
    tight = 0.0
    for seed in range(40):
        model = random_limit(seed, mode=("hardmax", "finite", "infinite")[seed % 3])
        draw = random.Random(seed)
        for _ in range(6):
            long, less = draw.randint(8, 30), model.period * draw.randint(0, 2)
            words = [np.array([draw.randrange(len(model.symbols)) for _ in range(n)]) for n in (long, long - less)]
            words[1][-1] = words[0][-1]
            one, other = (model.in_floats().answers(word[None])[0] for word in words)
            difference, bound = float(np.abs(one - other).max()), stand_in_bound(model, *words)
            assert difference <= bound + 1e-9
            if np.isfinite(bound) and bound > 0:
                tight = max(tight, difference / bound)
    assert tight > 0.2


def test_the_constant_is_that_of_the_wave_and_infinite_for_steps() -> None:
    assert lipschitz(wave(3.0)) == pytest.approx(1 + 3.0)  # 1 for the residual stream, omega for the MLP
    (layer,) = wave(3.0).layers
    steps = replace(layer, mlp=replace(layer.mlp, activation="step"))
    assert lipschitz(replace(wave(3.0), layers=(steps,))) == np.inf
    with pytest.raises(UsageError, match="one layer"):
        lipschitz(bigram())
    with pytest.raises(UsageError, match="same symbol"):
        stand_in_bound(wave(), np.array([0, 1]), np.array([0, 0]))
