"""Sines and cosines, against the formula written out."""

import math

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position


@pytest.mark.parametrize("width", [8, 7])
def test_the_formula(width: int) -> None:
    at = torch.tensor([[0, 3, 1000], [5, 6, 70_000]])
    found = make_position("sinusoidal").build(Shape(width, 1, 10, 10)).double().embed(at)
    assert found is not None and found.shape == (2, 3, width)
    for item in range(2):
        for token in range(3):
            for column in range(width):
                angle = int(at[item, token]) / 10000 ** ((column - column % 2) / width)
                wave = math.cos(angle) if column % 2 else math.sin(angle)
                # The amplitude is made in float32, in which a fresh model lives.
                assert float(found[item, token, column]) == pytest.approx(0.02 * math.sqrt(2) * wave, abs=1e-8)


def test_the_scale_is_the_root_mean_square_and_like_that_of_a_learned_table() -> None:
    shape, at = Shape(64, 4, 512, 512), torch.arange(512)[None]
    learned = make_position("learned").build(shape).embed(at)
    fixed = make_position("sinusoidal").build(shape).embed(at)
    assert learned is not None and fixed is not None
    assert float(fixed.square().mean().sqrt()) == pytest.approx(0.02, rel=1e-5)
    assert float(learned.detach().std()) == pytest.approx(0.02, rel=0.05)


def test_float32_loses_nothing_at_large_positions() -> None:
    encoder = make_position("sinusoidal:scale=1").build(Shape(16, 1, 10, 10))
    at = torch.tensor([[123_456_789]])
    single, double = encoder.embed(at), encoder.double().embed(at)
    assert single is not None and double is not None and single.dtype == torch.float32
    torch.testing.assert_close(single.double(), double, atol=2e-7, rtol=0)


@pytest.mark.parametrize("spec", ["sinusoidal:base=1", "sinusoidal:scale=0"])
def test_bad_settings(spec: str) -> None:
    with pytest.raises(UsageError, match="base above 1 and a scale above 0"):
        make_position(spec)
