"""Random real positions."""

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import FireEncoder
from lengthwise.seeds import Seeds

SHAPE = Shape(8, 2, 40, 20)


def test_positions_are_sorted_reals_within_the_limit_in_training_and_in_testing() -> None:
    position = make_position("rope+floats:limit=7.5")
    for training in (True, False):
        at = position.indices(200, 3, SHAPE, Seeds(1), training)
        assert at.shape == (1, 200) and at.is_floating_point() and (at.diff() >= 0).all()
        assert float(at.min()) >= 0 and float(at.max()) < 7.5
        assert at.equal(position.indices(200, 9, SHAPE, Seeds(1), training)), "one choice per batch, whatever its size"
        assert not at.equal(position.indices(200, 3, SHAPE, Seeds(2), training))


def test_they_are_uniform() -> None:
    position = make_position("none+floats:limit=2")
    drawn = np.concatenate([position.choose(50, 1, SHAPE, Seeds(seed), True)[0] for seed in range(200)])
    gap = np.abs(np.sort(drawn) / 2 - (np.arange(len(drawn)) + 0.5) / len(drawn)).max()
    assert gap < 1.95 / np.sqrt(len(drawn))  # Kolmogorov-Smirnov, one in a thousand


def test_the_limit_is_the_trained_length_unless_given() -> None:
    at = make_position("alibi+floats").indices(5, 1, SHAPE, None, False)
    assert at.tolist() == [[0.0, 4.0, 8.0, 12.0, 16.0]], "evenly spaced without seeds"
    fire = make_position("fire+floats:limit=300").build(SHAPE)
    assert isinstance(fire, FireEncoder) and fire.log_threshold.exp().item() == pytest.approx(75)
    with pytest.raises(UsageError):
        make_position("rope+floats:limit=-1")


@pytest.mark.parametrize("spec", ["sinusoidal", "rope", "alibi", "kerple", "kerple:variant=power", "fire"])
def test_whole_numbers_given_as_reals_change_nothing(spec: str) -> None:
    torch.manual_seed(0)
    encoder = make_position(spec).build(SHAPE)
    whole = torch.arange(9)[None]
    q = torch.randn(1, 2, 9, 4)
    for one, two in (
        (encoder.embed(whole), encoder.embed(whole.float())),
        (encoder.bias(whole, whole), encoder.bias(whole.float(), whole.float())),
        (encoder.rotate(q, whole), encoder.rotate(q, whole.float())),
    ):
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            assert torch.allclose(one, two, rtol=0, atol=1e-6)
