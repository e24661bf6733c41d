"""The code is what it is said to be: exact frequencies, the stated lengths, and every bit read back."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.bounds.compression.symbols import (
    TOTAL,
    BitReader,
    BitWriter,
    Pools,
    SymbolReader,
    SymbolWriter,
    adaptive_bits,
    best_table,
    code_bits,
    delta_code,
    entropy_bits,
    length_prefix,
    read_prefix,
    spread,
)
from lengthwise.errors import UsageError

COUNTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=60).map(lambda counts: np.array(counts, np.int64))


@settings(max_examples=200, deadline=None)
@given(COUNTS, st.sampled_from([64, 1 << 10, TOTAL]))
def test_frequencies_sum_up_and_are_no_smaller_than_stated(weights, total):
    frequencies = spread(weights, total)
    assert frequencies.sum() == total and frequencies.min() >= 1
    share = weights * (total - len(weights)) / max(1, weights.sum())
    assert np.all(frequencies >= share * (1 - 1e-12))


@pytest.mark.parametrize("weights", [[1, 1], [1, 99], [5, 3, 1, 0], list(range(1, 257)), [1] + [0] * 40])
def test_the_coder_uses_exactly_these_frequencies(weights):
    """A symbol repeated n times takes n log2(2^24 / f) bits; those after it fill the coder, which starts empty."""
    frequencies = spread(np.array(weights))
    filling = np.random.default_rng(0).integers(0, 256, 20)
    for symbol in {0, len(weights) // 2, len(weights) - 1}:
        writer = SymbolWriter()
        writer.write(np.full(20_000, symbol), frequencies)
        writer.write(filling, spread(np.ones(256, np.int64)))
        ideal = 20_000 * np.log2(TOTAL / frequencies[symbol]) + 8 * len(filling)
        assert ideal - 1 <= 8 * len(writer.to_bytes()) <= ideal * (1 + 1e-5) + 64


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(0, 3000))
def test_symbols_come_back(seed, kinds, count):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, kinds, count), (rng.integers(0, kinds, count) * rng.random(count)).astype(int)
    pools = Pools()
    pools.learn("earlier", rng.integers(0, 1000, kinds))
    known, frequencies = pools.prior("earlier", kinds), spread(np.bincount(first, minlength=kinds))
    writer = SymbolWriter()
    writer.write_adaptive(second, known)
    writer.write(first, frequencies)
    writer.write_adaptive(first, np.zeros(kinds, np.int64))
    reader = SymbolReader(writer.to_bytes())
    assert np.array_equal(reader.read_adaptive(count, known), second)
    assert np.array_equal(reader.read(count, frequencies), first)
    assert np.array_equal(reader.read_adaptive(count, np.zeros(kinds, np.int64)), first)
    reader.finish()


def test_symbols_left_over_are_refused():
    writer = SymbolWriter()
    writer.write_adaptive(np.arange(100) % 7, np.zeros(7, np.int64))
    reader = SymbolReader(writer.to_bytes())
    reader.read_adaptive(50, np.zeros(7, np.int64))
    with pytest.raises(UsageError, match="more was coded"):
        reader.finish()


@pytest.mark.parametrize("kinds, count", [(2, 100), (16, 10_000), (256, 50_000)])
def test_learning_costs_what_is_stated(kinds, count):
    """docs/explanation/compression.md: about 0.56 log2 n bits for every symbol but one, where Rissanen's bound is 0.5
    log2 n."""
    symbols = np.random.default_rng(0).choice(kinds, size=count, p=np.full(kinds, 1 / kinds))
    nothing = np.zeros(kinds, np.int64)
    extra = adaptive_bits(symbols, nothing) - entropy_bits(np.bincount(symbols, minlength=kinds))
    assert 0.2 * (kinds - 1) * np.log2(count) < extra < 0.56 * (kinds - 1) * np.log2(count) + 8
    writer = SymbolWriter()
    writer.write_adaptive(symbols, nothing)
    assert 0 <= 8 * len(writer.to_bytes()) - adaptive_bits(symbols, nothing) < 64


@settings(max_examples=100, deadline=None)
@given(COUNTS.filter(lambda counts: len(counts) > 1 and counts.sum() > 0))
def test_a_table_costs_no_more_than_stated(counts):
    bits, width, frequencies = best_table(counts)
    k, n = len(counts), counts.sum()
    assert frequencies.sum() == 1 << width
    assert bits == pytest.approx(width * (k - 1) + code_bits(counts, frequencies))
    stated = min(b * (k - 1) - n * np.log2(1 - k / 2**b) for b in range(6, 21, 2) if 1 << b > k)
    assert bits <= (entropy_bits(counts) + stated) * (1 + 1e-12) + 1e-6


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["bits", "count", "signed"]), st.integers(0, 2**40))))
def test_numbers_come_back_from_bits(pieces):
    writer = BitWriter()
    for kind, value in pieces:
        {"bits": lambda v: writer.write(v, 41), "count": writer.write_count, "signed": writer.write_signed}[kind](
            -value if kind == "signed" and value % 3 else value
        )
    reader = BitReader(writer.to_bytes())
    for kind, value in pieces:
        found = reader.read(41) if kind == "bits" else reader.read_count() if kind == "count" else reader.read_signed()
        assert found == (-value if kind == "signed" and value % 3 else value)
    reader.finish()


def test_elias_delta_words():
    assert [delta_code(n) for n in (1, 2, 3, 4, 8, 17)] == ["1", "0100", "0101", "01100", "00100000", "001010001"]


def test_lengths_are_prefix_free_and_kraft_holds():
    words = [length_prefix(n) for n in range(1 << 15)]
    assert sum(2.0 ** (-8 * len(word)) for word in words) <= 1
    ordered = sorted(words)
    assert not any(later.startswith(earlier) for earlier, later in itertools.pairwise(ordered))
    assert all(read_prefix(word + b"\x85") == (n, len(word)) for n, word in enumerate(words))
