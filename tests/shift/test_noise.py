"""The null and the permutation test."""

import numpy as np
import pytest

from lengthwise.shift.ground import ground, pooled_distances
from lengthwise.shift.noise import noise_claims, noise_of
from lengthwise.transport.metrics import metrics
from lengthwise.transport.trajectories import Sample, Trajectory

LENGTH = metrics.make("features:use=length")


def walk(length: int) -> Trajectory:
    return Trajectory(("a",) * length)


def sample(lengths, **settings) -> Sample:
    return Sample.of([walk(int(length)) for length in lengths], **settings)


def noise(one: Sample, two: Sample, seed: int = 0, resamples: int = 20):
    return noise_of(ground(LENGTH, LENGTH.fit(one), one, two), seed, resamples)


def test_points_at_distance_nought_are_one():
    one, two = sample([1, 2, 2, 3]), Sample.of([Trajectory(("b", "b")), walk(5)])
    table, first, second = pooled_distances(LENGTH.fit(one), one, two)
    assert table.shape == (4, 4) and first[1] == first[2] == second[0] and len({*first, *second}) == 4


def test_the_null_agrees_with_sorting():
    """On a line, W1 of samples of one size is the mean gap of the sorted values; all splits have the same law."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 30, 40)
    found = noise(sample(lengths), sample(lengths + 3), resamples=400)
    spread = lengths.std()
    gaps = []
    for _ in range(4000):
        order = rng.permutation(lengths)
        gaps.append(np.abs(np.sort(order[:20]) - np.sort(order[20:])).mean() / spread)
    assert found is not None and found.size == 20
    assert found.null.mean() == pytest.approx(np.mean(gaps), abs=4 * np.std(gaps) / np.sqrt(400))


def test_the_null_is_nought_where_nothing_varies():
    found = noise(sample([5] * 10), sample([7] * 10))
    assert found is not None and (found.null == 0).all() and (found.shifted == pytest.approx(0.4))
    assert noise_claims(found, "")[-1].value == 1 / 20


def test_p_values_are_as_rare_as_they_say():
    """Each of 80 tests of no shift rejects at 5 % with a chance of 5 % or less: more than 10 have a chance of 0.2 %."""
    rng = np.random.default_rng(1)
    rejected = 0
    for seed in range(80):
        one, two = (sample(rng.integers(1, 12, 8)) for _ in range(2))
        rejected += noise_claims(noise(one, two, seed), "")[-1].value <= 0.05
    assert rejected <= 10


def test_a_shift_is_seen():
    rng = np.random.default_rng(2)
    found = noise(sample(rng.integers(1, 10, 40)), sample(rng.integers(8, 17, 40)))
    null, shifted, excess, chance = noise_claims(found, "spreads")
    assert chance.value == 0.05 and shifted.value > 2 * null.value
    assert excess.value == pytest.approx(shifted.value - null.value)
    assert null.evidence["items"] == 20 and null.evidence["refused"] == 0


def test_samples_too_small_to_split_are_unknown():
    for one, two in (([1, 2, 3], [1, 2, 3]), ([1, 2, 3, 4], [5])):
        found = noise(sample(one), sample(two))
        assert found is None and all(claim.status == "unknown" for claim in noise_claims(found, ""))


def test_the_same_seed_gives_the_same_noise():
    one, two = sample(range(1, 20)), sample(range(3, 30))
    first, again, other = noise(one, two, 5), noise(one, two, 5), noise(one, two, 6)
    assert (first.null == again.null).all() and (first.permuted == again.permuted).all()
    assert (first.null != other.null).any()
