"""Randomized positions."""

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import FireEncoder, LearnedEncoder
from lengthwise.seeds import Seeds

SHAPE = Shape(8, 2, 40, 20)


def test_positions_are_a_sorted_choice_in_training_and_in_testing() -> None:
    position = make_position("alibi+randomized:limit=100")
    for training in (True, False):
        at = position.indices(20, 7, SHAPE, Seeds(1), training)
        assert at.shape == (1, 20) and (at.diff() > 0).all() and int(at.min()) >= 0 and int(at.max()) < 100
        assert at.equal(position.indices(20, 3, SHAPE, Seeds(1), training)), "one choice a batch, whatever its size"
        assert not at.equal(position.indices(20, 7, SHAPE, Seeds(2), training))


def test_every_subset_is_equally_likely() -> None:
    position = make_position("none+randomized:limit=5")
    seen = {}
    for seed in range(1000):
        at = tuple(position.indices(3, 1, Shape(8, 2, 5, 5), Seeds(seed), True)[0].tolist())
        seen[at] = seen.get(at, 0) + 1
    assert len(seen) == 10
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 28  # chi-squared, 9 degrees: one in a thousand


def test_without_seeds_the_positions_are_evenly_spaced() -> None:
    position = make_position("none+randomized:limit=100")
    assert position.indices(4, 1, SHAPE, None, False).tolist() == [[0, 25, 50, 75]]
    full = make_position("none+randomized:limit=40").indices(40, 1, SHAPE, None, False)
    assert full.tolist() == [list(range(40))]


def test_the_base_is_built_for_the_limit() -> None:
    table = make_position("learned+randomized:limit=300").build(SHAPE)
    assert isinstance(table, LearnedEncoder) and len(table.table) == 300
    fire = make_position("fire+randomized:limit=300").build(SHAPE)
    assert isinstance(fire, FireEncoder) and fire.log_threshold.exp().item() == pytest.approx(75)


def test_too_long_a_sequence_is_refused() -> None:
    position = make_position("alibi+randomized:limit=50")
    assert position.indices(50, 1, SHAPE, Seeds(0), True).shape == (1, 50)
    with pytest.raises(UsageError, match="chooses from 50 positions, too few for 51 tokens"):
        position.indices(51, 1, SHAPE, Seeds(0), True)
    with pytest.raises(UsageError, match="train with randomized:limit=80"):
        make_position("alibi+randomized:limit=30").check(SHAPE)
    with pytest.raises(UsageError, match="limit of 1 or more"):
        make_position("alibi+randomized:limit=0")


@pytest.mark.parametrize("wrapped", ["learned+randomized:limit=60+offset", "learned+offset+randomized:limit=60"])
def test_with_offsets_all_positions_stay_inside_the_table(wrapped: str) -> None:
    position = make_position(wrapped)
    encoder = position.build(SHAPE)
    for seed in range(200):
        at = position.indices(5, 3, SHAPE, Seeds(seed), True)
        assert (at.diff(dim=1) > 0).all()
        encoder.embed(at)  # refuses what is outside


def test_plain_offsets_reach_the_last_row_and_no_further() -> None:
    position = make_position("learned+offset")
    last = max(int(position.indices(5, 50, SHAPE, Seeds(seed), True).max()) for seed in range(20))
    assert last == SHAPE.rows - 1
    assert torch.equal(position.indices(5, 50, SHAPE, Seeds(0), False), torch.arange(5)[None])
