"""Levels are the nearest, the best where that can be known, and refuse what is no weight."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import ndtri

from lengthwise.bounds.compression import make_quantiser
from lengthwise.bounds.compression.quantisers import Exact, KMeans, UniformQuantiser, kmeans_levels, to_bfloat16
from lengthwise.errors import UsageError

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
TENSORS = arrays(np.float32, array_shapes(min_dims=0, max_dims=3, max_side=7), elements=FINITE)


@settings(max_examples=150, deadline=None)
@given(TENSORS, st.sampled_from(["uniform:levels=2", "uniform:levels=16", "kmeans:levels=3", "kmeans:levels=16"]))
def test_every_number_goes_to_a_nearest_level(tensor, spec):
    quantised = make_quantiser(spec).quantise(tensor)
    assert quantised.levels.dtype == np.float32 and quantised.symbols.dtype == np.int32
    assert quantised.symbols.shape == tensor.shape and np.isfinite(quantised.levels).all()
    assert np.all(np.diff(quantised.levels) > 0) and len(quantised.levels) <= make_quantiser(spec).levels
    wide = tensor.astype(np.float64)
    taken = np.abs(quantised.values().astype(np.float64) - wide)
    best = np.abs(quantised.levels.astype(np.float64) - wide[..., None]).min(axis=-1)
    # Halfway between two levels the middle itself is rounded to 32 bits.
    assert np.all(taken <= best + np.abs(wide) * 2.0**-22 + 1e-44)


@pytest.mark.parametrize("spec", ["uniform:levels=4", "kmeans:levels=4", "exact"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e-30, 3e38])
def test_equal_values_stay_as_they_are(spec, value):
    tensor = np.full((5, 3), value, np.float32)
    quantised = make_quantiser(spec).quantise(tensor)
    assert len(quantised.levels) == 1 and np.array_equal(quantised.values(), tensor)


@settings(max_examples=50, deadline=None)
@given(TENSORS)
def test_exact_keeps_every_bit(tensor):
    values = Exact().quantise(tensor).values()
    assert np.array_equal(values.view(np.uint32), tensor.view(np.uint32)) and values.shape == tensor.shape


def test_exact_tells_zero_from_minus_zero():
    assert np.signbit(Exact().quantise(np.array([0.0, -0.0], np.float32)).values()).tolist() == [False, True]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_what_is_no_finite_number_is_refused(bad):
    with pytest.raises(UsageError, match="NaN or infinity"):
        UniformQuantiser().quantise(np.array([0.5, bad]))


def test_whole_numbers_are_no_weights():
    with pytest.raises(UsageError, match="int64"):
        KMeans().quantise(np.arange(3))


@pytest.mark.parametrize("spec", ["uniform:levels=1", "kmeans:levels=70000"])
def test_levels_out_of_range_are_refused(spec):
    with pytest.raises(UsageError, match="2 to 65536"):
        make_quantiser(spec)


def test_uniform_levels_are_a_grid_through_zero_that_16_bits_can_name():
    tensor = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    quantised = UniformQuantiser(levels=16).quantise(tensor)
    assert quantised.grid and 0.0 in quantised.levels and to_bfloat16(quantised.grid.step) == quantised.grid.step
    assert np.abs(quantised.values() - tensor).max() <= quantised.grid.step  # half a step, but for a clipped end
    assert np.mean(np.abs(quantised.values() - tensor) <= quantised.grid.step / 2 + 1e-6) > 0.99


def test_uniform_works_where_no_grid_through_zero_can():
    tensor = np.float32(1e6) + np.linspace(0, 1, 50, dtype=np.float32)
    quantised = UniformQuantiser(levels=4).quantise(tensor)
    assert np.abs(quantised.values() - tensor).max() <= 0.3


def best_error(numbers, count):
    """The least squared error over all partitions of the sorted numbers, by trying every one."""
    ordered = np.sort(numbers.astype(np.float64))
    cuts = itertools.combinations(range(1, len(ordered)), count - 1)
    return min(sum(((run - run.mean()) ** 2).sum() for run in np.split(ordered, cut)) for cut in cuts)


@pytest.mark.parametrize("seed", range(6))
def test_kmeans_is_the_best_there_is_on_few_numbers(seed):
    numbers = np.random.default_rng(seed).standard_t(2, size=14).astype(np.float32)
    levels, fitted = kmeans_levels(numbers, 4)
    error = ((numbers.astype(np.float64)[:, None] - levels) ** 2).min(axis=1).sum()
    assert fitted and error == pytest.approx(best_error(numbers, 4), rel=1e-5)


@pytest.mark.parametrize("count, published", [(2, 0.3634), (4, 0.1175), (8, 0.03454), (16, 0.009497)])
def test_kmeans_of_a_normal_density_has_the_published_error(count, published):
    """Max 1960, table 1, from the quantiles of the normal distribution in place of a sample."""
    numbers = ndtri((np.arange(200_000) + 0.5) / 200_000).astype(np.float32)
    quantised = KMeans(levels=count).quantise(numbers)
    assert np.mean((quantised.values() - numbers) ** 2) == pytest.approx(published, rel=0.005)


def test_kmeans_keeps_few_distinct_values_exactly():
    tensor = np.array([0.1, 0.2, 0.1, -7.3] * 5, np.float32)
    assert np.array_equal(KMeans(levels=16).quantise(tensor).values(), tensor)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_levels_are_rounded_to_16_bits_only_where_that_is_harmless(scale):
    tensor = (np.random.default_rng(0).normal(size=5000) * scale).astype(np.float32)
    levels = KMeans(levels=8).quantise(tensor).levels
    with np.errstate(over="ignore"):
        halves = np.array_equal(levels.astype(np.float16).astype(np.float32), levels)
    assert halves == (scale == 1.0)
    assert np.mean((KMeans(levels=8).quantise(tensor).values() / scale - tensor / scale) ** 2) < 0.036
