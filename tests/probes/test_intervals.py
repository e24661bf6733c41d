"""Wilson's interval: against published numbers, against scipy, against its definition, and by its true coverage."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lengthwise.probes.curve.standard import wilson

COUNTS = st.integers(1, 10_000).flatmap(lambda items: st.tuples(st.integers(0, items), st.just(items)))
LEVELS = st.floats(0.5, 0.9999)


@pytest.mark.parametrize(
    ("right", "items", "low", "high"),
    [
        # 0 of n: z^2 / (n + z^2) with z = 1.959964; n of n is its mirror image.
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 1, 0.0, 0.7935),
        (200, 200, 0.9812, 1.0),
        (50, 100, 0.4038, 0.5962),
        # Newcombe 1998, Table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_known_numbers(right: int, items: int, low: float, high: float) -> None:
    interval = wilson(right, items)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert (interval.level, interval.method) == (0.95, "Wilson")


@given(COUNTS, LEVELS)
def test_scipy_agrees(counts: tuple[int, int], level: float) -> None:
    right, items = counts
    other = stats.binomtest(right, items).proportion_ci(level, method="wilson")
    interval = wilson(right, items, level)
    assert (interval.low, interval.high) == pytest.approx((other.low, other.high), abs=1e-9)


@given(COUNTS, LEVELS)
def test_the_ends_are_where_the_definition_puts_them(counts: tuple[int, int], level: float) -> None:
    """|share - p| = z sqrt(p (1 - p) / n) at both ends."""
    right, items = counts
    interval, z = wilson(right, items, level), float(stats.norm.ppf(0.5 + level / 2))
    for end in (interval.low, interval.high):
        assert abs(right / items - end) == pytest.approx(z * math.sqrt(end * (1 - end) / items), abs=1e-6)


@given(COUNTS, LEVELS)
def test_it_holds_the_share_and_stays_between_zero_and_one(counts: tuple[int, int], level: float) -> None:
    right, items = counts
    interval = wilson(right, items, level)
    assert 0 <= interval.low <= right / items <= interval.high <= 1
    assert interval.high > interval.low


@given(COUNTS, LEVELS, st.integers(2, 50))
def test_it_is_narrower_with_more_items_and_wider_at_a_higher_level(
    counts: tuple[int, int], level: float, times: int
) -> None:
    right, items = counts

    def width(right: int, items: int, level: float) -> float:
        interval = wilson(right, items, level)
        return interval.high - interval.low

    assert width(times * right, times * items, level) < width(right, items, level)
    assert width(right, items, level) < width(right, items, (1 + level) / 2)


@given(COUNTS)
def test_it_mirrors(counts: tuple[int, int]) -> None:
    right, items = counts
    one, two = wilson(right, items), wilson(items - right, items)
    assert (one.low, one.high) == pytest.approx((1 - two.high, 1 - two.low), abs=1e-12)


@pytest.mark.parametrize("items", [5, 20, 100, 200])
def test_coverage_by_exact_sums(items: int) -> None:
    """How often the interval holds p, summed over the binomial distribution: near the level on the whole, and never
    below the 0.83 that Wilson's interval has at its worst (Brown, Cai and DasGupta 2001)."""
    intervals = [wilson(right, items) for right in range(items + 1)]
    coverage = []
    for step in range(1, 400):
        p = step / 400
        masses = stats.binom.pmf(range(items + 1), items, p)
        coverage.append(sum(mass for mass, interval in zip(masses, intervals, strict=True) if p in interval))
    assert 0.94 < sum(coverage) / len(coverage) < 0.97
    assert min(coverage) > 0.83


@pytest.mark.parametrize(("right", "items"), [(-1, 5), (6, 5), (0, 0), (1, -1)])
def test_what_is_not_a_frequency(right: int, items: int) -> None:
    with pytest.raises(ValueError, match=f"{right} of {items} is not a frequency"):
        wilson(right, items)
