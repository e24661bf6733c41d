"""Size schedules: that the sizes come as often as the closed forms say, and never from outside the range."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lengthwise.errors import UsageError
from lengthwise.seeds import Seeds
from lengthwise.training.lengths import Fixed, Increasing, LongFirst, SizeSchedule, UniformSizes, schedules

DRAWS, UNLIKELY = 20_000, 1e-6
NUMBERS = Seeds(1).draws("sizes", items=range(DRAWS)).uniform(1)[:, 0].tolist()
ALMOST_ONE = math.nextafter(1.0, 0.0)
SIZES = st.lists(st.integers(1, 500), min_size=1, max_size=40, unique=True).map(sorted)
UNIT = st.floats(0, 1, exclude_max=True)


def fair(schedule: SizeSchedule, progress: float, expected: dict[int, float], sizes: list[int]) -> bool:
    """Whether the counts pass a chi-square test of the expected shares, which sum to one."""
    counts = Counter(schedule.draw(sizes, progress, number) for number in NUMBERS)
    assert set(counts) <= set(expected)
    observed = [counts[size] for size in expected]
    return bool(stats.chisquare(observed, [share * DRAWS for share in expected.values()]).pvalue > UNLIKELY)


@pytest.mark.parametrize("name", schedules.names())
@given(sizes=SIZES, progress=UNIT, uniform=UNIT)
def test_every_size_is_one_of_the_range(name: str, sizes: list[int], progress: float, uniform: float) -> None:
    schedule = schedules.make(name)
    for number in (0.0, uniform, ALMOST_ONE):
        assert schedule.draw(sizes, progress, number) in sizes


def test_uniform() -> None:
    sizes = [2, 3, 5, 8, 9, 10, 30]
    for progress in (0.0, 0.99):
        assert fair(UniformSizes(), progress, dict.fromkeys(sizes, 1 / 7), sizes)
    skewed = dict.fromkeys(sizes, 1 / 7) | {2: 1 / 7 + 0.02, 30: 1 / 7 - 0.02}
    assert not fair(UniformSizes(), 0.0, skewed, sizes), "the test would notice two per cent"


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9, 0.99])
def test_long_first_falls_by_the_ratio(ratio: float) -> None:
    sizes = [1, 2, 4, 7, 11]
    weights = {size: ratio**k for k, size in enumerate(reversed(sizes))}
    total = sum(weights.values())
    assert fair(LongFirst(ratio), 0.3, {size: weight / total for size, weight in weights.items()}, sizes)


@pytest.mark.parametrize(
    ("progress", "opened"), [(0.0, 1), (0.05, 1), (0.1, 1), (0.11, 2), (0.3, 3), (0.5, 5), (0.9, 5)]
)
def test_increasing_is_uniform_up_to_its_ceiling(progress: float, opened: int) -> None:
    sizes = [3, 4, 6, 9, 10]
    expected = dict.fromkeys(sizes[:opened], 1 / opened)
    if opened == 1:
        assert {Increasing().draw(sizes, progress, number) for number in NUMBERS} == {3}
    else:
        assert fair(Increasing(), progress, expected, sizes)


@given(SIZES, UNIT, st.floats(0.01, 1))
def test_increasing_never_exceeds_its_ceiling(sizes: list[int], progress: float, share: float) -> None:
    exact = min(Fraction(1), Fraction(progress) / Fraction(share)) * len(sizes)
    ceiling = max(1, math.ceil(exact))
    highest = sizes.index(Increasing(share).draw(sizes, progress, ALMOST_ONE)) + 1
    nearest = abs(exact - round(exact)) < Fraction(1, 10**9)  # where rounding may open one size a step too soon or late
    assert highest == ceiling or (nearest and abs(highest - ceiling) == 1)
    assert Increasing(share).draw(sizes, progress, 0.0) == sizes[0]


def test_fixed() -> None:
    sizes = [3, 4, 6]
    assert {Fixed().draw(sizes, p, u) for p in (0.0, 0.9) for u in (0.0, 0.9)} == {6}
    assert {Fixed(4).draw(sizes, p, u) for p in (0.0, 0.9) for u in (0.0, 0.9)} == {4}
    with pytest.raises(UsageError, match=r"^the fixed size 5 is not in the training range 3 to 6$"):
        Fixed(5).draw(sizes, 0.0, 0.0)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("increasing:share=0", "increasing needs a share of training in (0, 1], not 0.0"),
        ("increasing:share=1.5", "increasing needs a share of training in (0, 1], not 1.5"),
        ("long_first:ratio=1", "long_first needs a ratio strictly between 0 and 1, not 1.0"),
        ("long_first:ratio=0", "long_first needs a ratio strictly between 0 and 1, not 0.0"),
    ],
)
def test_wrong_settings_name_the_right_ones(spec: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        schedules.make(spec)
    assert str(error.value) == sentence
