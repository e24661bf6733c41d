"""Random numbers that belong to an item: the same whatever the batch, uniform, and independent where they should be.

The statistical tests are of fixed keys, so they pass or fail for good. A sound generator fails one of them with a
probability of 1e-6 or so; some hundred looks are taken in all.
"""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lengthwise.seeds import Draws, Seeds

UNLIKELY = 1e-6


def fair(counts: np.ndarray) -> bool:
    """Whether counts of equally likely outcomes pass a chi-square test."""
    return bool(stats.chisquare(np.ravel(counts)).pvalue > UNLIKELY)


def calls(draws: Draws) -> list[np.ndarray]:
    """One of each kind of draw, in a fixed order."""
    values = np.broadcast_to(np.arange(5), (len(draws), 5))
    return [
        draws.bits(3),
        draws.integers(0, 10, 4),
        draws.integers(np.array([0, 5]), np.array([7, 8]), 2),
        draws.uniform(2),
        draws.permutation(6),
        draws.subset(9, 3),
        draws.shuffled(values),
    ]


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**63),
    items=st.lists(st.integers(0, 2**40), min_size=1, max_size=8),
    data=st.data(),
)
def test_a_row_does_not_know_its_batch(seed, items, data):
    """Alone, in another order, or among others: the numbers of an item are the same."""
    whole = calls(Seeds(seed).draws("x", items=items))
    chosen = data.draw(st.lists(st.integers(0, len(items) - 1), min_size=1, max_size=5))
    part = calls(Seeds(seed).draws("x", items=[items[i] for i in chosen]))
    for all_rows, some_rows in zip(whole, part, strict=True):
        assert np.array_equal(all_rows[chosen], some_rows)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**63),
    items=st.lists(st.integers(0, 2**40), min_size=1, max_size=8),
    before=st.integers(0, 3),
    data=st.data(),
)
def test_some_rows_go_on_where_all_of_them_stand(seed, items, before, data):
    """What `only` draws is what the whole batch would draw next, and drawing it does not move the whole batch on."""
    draws, whole = (Seeds(seed).draws("x", items=items) for _ in range(2))
    for _ in range(before):
        draws.bits(2), whole.bits(2)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=len(items), max_size=len(items))))
    some = draws.only(flags)
    assert some.items.tolist() == draws.items[flags].tolist() and len(some) == flags.sum()
    drawn = calls(some)
    for rows, part, again in zip(calls(whole), drawn, calls(draws.only(np.flatnonzero(flags))), strict=True):
        assert np.array_equal(rows[flags], part) and np.array_equal(part, again)
    assert draws._stream == before and some._stream > before


def test_rows_of_different_items_differ():
    words = Seeds(0).draws("x", items=range(10_000)).bits(2)
    assert len(np.unique(words)) == words.size


def test_arrays_and_ranges_name_the_same_items():
    kinds: list[Any] = [[0, 1, 2], range(3), np.arange(3), np.arange(3, dtype=np.int32)]
    for items in kinds:
        assert np.array_equal(Draws(5, items).bits(2), Draws(5, range(3)).bits(2))
        assert len(Draws(5, items)) == 3


def test_golden_words():
    """The numbers themselves, so that runs stay reproducible from one version to the next."""
    assert Seeds(7).key("init") == 8074371402499776402
    assert Seeds(7).draws("train", 3, items=[0, 5]).bits(2).tolist() == [
        [12626092751660573982, 242295890039263957],
        [12795856556328002749, 4069925841823800823],
    ]


# --- keys -------------------------------------------------------------------------------------------------------------


def test_keys_differ_by_seed_role_and_index():
    places = [(), (0,), (1,), (11,), (1, 1), (1, 11), (11, 1), (0, 0), (-1,)]
    keys = {Seeds(seed).key(role, *at) for seed in (0, 1, 11) for role in ("", "train", "test", "1") for at in places}
    assert len(keys) == 3 * 4 * len(places)
    assert all(0 <= key < 2**64 for key in keys)


def test_keys_take_numpy_integers_as_integers():
    assert Seeds(0).key("x", np.int64(3)) == Seeds(0).key("x", 3)  # pyright: ignore[reportArgumentType]


def test_roles_give_unrelated_draws():
    """Of 64 bits, words of two roles of one seed share 32 on average, with a standard error of 4 / sqrt(n)."""
    items = range(20_000)
    for other in (("test", 3), ("train", 4), ("train", 3, 0)):
        one = Seeds(0).draws("train", 3, items=items).bits(1)
        two = Seeds(0).draws(other[0], *other[1:], items=items).bits(1)
        assert abs(np.bitwise_count(one ^ two).mean() - 32) < 5 * 4 / np.sqrt(len(items))


# --- distributions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("high", [2, 3, 10, 64, 1000])
def test_integers_are_uniform(seed, high):
    """Down the items of a column, and along the columns of an item."""
    down = Seeds(seed).draws("x", items=range(100_000)).integers(0, high, 1)
    along = Seeds(seed).draws("x", items=[seed]).integers(0, high, 100_000)
    assert fair(np.bincount(down[:, 0], minlength=high))
    assert fair(np.bincount(along[0], minlength=high))


def test_integers_keep_their_ends():
    drawn = Seeds(0).draws("x", items=range(2000)).integers(-3, 4, 3)
    assert drawn.dtype == np.int64 and set(np.unique(drawn)) == set(range(-3, 4))
    low, high = np.arange(2000)[:, None], np.arange(2000)[:, None] + np.array([1, 2, 5])
    drawn = Seeds(0).draws("x", items=range(2000)).integers(low, high, 3)
    assert (drawn >= low).all() and (drawn < high).all() and (drawn[:, 0] == low[:, 0]).all()


@pytest.mark.parametrize("low, high", [(0, 0), (3, 2), (0, 2**31), (np.array([0, 5]), np.array([1, 5]))])
def test_integers_refuse_bad_ranges(low, high):
    with pytest.raises(ValueError, match="low < high"):
        Seeds(0).draws("x", items=[0]).integers(low, high, 2)


def test_every_bit_is_fair():
    """Each of the 64 bits is 1 in half of the words, within 5 standard deviations."""
    words = Seeds(0).draws("x", items=range(200)).bits(500).ravel()
    ones = np.array([((words >> np.uint64(bit)) & np.uint64(1)).sum() for bit in range(64)])
    assert np.abs(ones - len(words) / 2).max() < 5 * np.sqrt(len(words)) / 2


def test_uniform_is_uniform():
    drawn = Seeds(0).draws("x", items=range(20_000)).uniform(5)
    assert drawn.min() >= 0 and drawn.max() < 1
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > UNLIKELY


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_independent(seed):
    """Pairs of outcomes in a table: two streams, two columns of a stream, two items of a column."""
    draws = Seeds(seed).draws("x", items=range(100_001))
    first, second, third = (draws.integers(0, 8, 2) for _ in range(3))
    pairs = [
        (first[:, 0], second[:, 0]),
        (second[:, 0], third[:, 0]),
        (first[:, 1], third[:, 0]),
        (first[:, 0], first[:, 1]),
        (first[1:, 0], first[:-1, 0]),
        (first[1:, 0], second[:-1, 1]),
    ]
    for one, two in pairs:
        assert fair(np.bincount(8 * one + two, minlength=64))


def test_streams_do_not_repeat():
    """Fifty calls of width 20 for 20 items: 20,000 words, no two the same."""
    draws = Seeds(0).draws("x", items=range(20))
    words = np.concatenate([draws.bits(20) for _ in range(50)])
    assert len(np.unique(words)) == words.size


def test_wanted_overflow_gives_no_warning():
    """Neither for a batch of one item nor at the second draw, where numpy would warn of products of scalars."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for items in ([], [0], [2**62, 1]):
            calls(Seeds(0).draws("x", items=items))


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_permutations_are_uniform(seed):
    orders = Seeds(seed).draws("x", items=range(60_000)).permutation(3)
    counts = [int((orders == order).all(axis=1).sum()) for order in itertools.permutations(range(3))]
    assert sum(counts) == 60_000 and fair(np.array(counts))


def test_subsets_are_distinct_and_uniform():
    drawn = Seeds(0).draws("x", items=range(60_000)).subset(5, 2)
    assert drawn.shape == (60_000, 2) and (drawn[:, 0] != drawn[:, 1]).all()
    counts = np.bincount(5 * drawn[:, 0] + drawn[:, 1], minlength=25).reshape(5, 5)
    assert fair(counts[~np.eye(5, dtype=bool)])


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_permutation_holds_every_value_once(count, seed):
    orders = Seeds(seed).draws("x", items=range(4)).permutation(count)
    assert (np.sort(orders, axis=1) == np.arange(count)).all()


def test_shuffled_rows_keep_their_values_and_get_orders_of_their_own():
    values = np.arange(400).reshape(20, 20)
    shuffled = Seeds(0).draws("x", items=range(20)).shuffled(values)
    assert np.array_equal(np.sort(shuffled, axis=1), values)
    assert len({tuple(row % 20) for row in shuffled}) == 20
