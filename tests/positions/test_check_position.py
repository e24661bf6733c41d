"""The check of the contract finds what it is meant to find."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from lengthwise.positions import Position, Shape, make_position
from lengthwise.positions.encodings import Alibi, Learned, Sinusoidal
from lengthwise.positions.networks.encoders import Encoder
from lengthwise.positions.wrapping import Randomized
from lengthwise.seeds import Ints, Seeds
from lengthwise.testing import check_position


@dataclass(frozen=True)
class Faulty(Position):
    """Whatever encoder it is given."""

    encoder: type[Encoder]
    shift_invariant: bool = True
    beyond_training: bool = True

    def build(self, shape: Shape) -> Encoder:
        return self.encoder(shape)  # pyright: ignore


class WithShape(Encoder):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape


class WholeLength(WithShape):
    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        apart = (queries_at[:, :, None] - keys_at[:, None, :])[:, None].double()
        return apart.expand(-1, self.shape.heads, -1, -1) / keys_at.shape[1]


class WrongShape(WithShape):
    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        return torch.zeros(1, self.shape.heads, keys_at.shape[1], queries_at.shape[1]).double()


class Single(WithShape):
    def embed(self, at: Tensor) -> Tensor:
        return torch.zeros(*at.shape, self.shape.width)


class NoNumber(WithShape):
    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.power = nn.Parameter(torch.ones(1))

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        apart = (queries_at[:, :, None] - keys_at[:, None, :])[:, None].double()
        return -((apart.square() * self.power) ** 0.5).expand(-1, self.shape.heads, -1, -1)


@pytest.mark.parametrize(
    "encoder,complaint",
    [
        (WholeLength, "when others are read with it"),
        (WrongShape, r"`bias` gives a tensor of shape \[1, 4, 24, 14\] where .* = \[1, 4, 14, 24\] is expected"),
        (Single, "float64"),
        (NoNumber, "gradient of power is finite"),
    ],
)
def test_faulty_encoders_are_found(encoder: type[Encoder], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_position(Faulty(encoder))


@dataclass(frozen=True)
class Boastful(Sinusoidal):
    """Says that it is shift-invariant, and is not."""

    shift_invariant = True


@dataclass(frozen=True)
class Modest(Alibi):
    """Says that it is not shift-invariant, and is."""

    shift_invariant = False


@dataclass(frozen=True)
class Endless(Learned):
    """Says that it has no end, and has one."""

    beyond_training = True


@dataclass(frozen=True)
class Ending(Alibi):
    """Says that it ends, and does not."""

    beyond_training = False


@dataclass(frozen=True)
class Silent(Position):
    """Declares nothing."""

    def build(self, shape: Shape) -> Encoder:
        return Encoder()


@pytest.mark.parametrize(
    "position,complaint",
    [
        (Boastful(), "declared shift-invariant, and a shift by 1 changes a logit"),
        (Modest(), "not declared shift-invariant, yet no shift"),
        (Endless(), "declared to be defined beyond training"),
        (Ending(), "declared to end somewhere, yet"),
        (Silent(), "shift_invariant is declared"),
    ],
)
def test_false_declarations_are_found(position: Position, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_position(position)


def test_an_end_has_to_be_announced() -> None:
    with pytest.raises(AssertionError, match="and not with a UsageError"):
        check_position(Faulty(EndsQuietly, shift_invariant=True, beyond_training=True))


class EndsQuietly(WithShape):
    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor:
        if int(keys_at.max()) > 20_000:
            raise IndexError("no such row")
        return torch.zeros(1, self.shape.heads, queries_at.shape[1], keys_at.shape[1]).double()


@dataclass(frozen=True)
class Backwards(Randomized):
    """Gives later tokens smaller positions."""

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        return super().choose(length, items, shape, seeds, training)[:, ::-1].copy()


@dataclass(frozen=True)
class Careless(Randomized):
    """Draws its positions from a generator that nobody seeds."""

    def choose(self, length: int, items: int, shape: Shape, seeds: Seeds | None, training: bool) -> Ints:
        start = int(torch.randint(1000, ()))
        return super().choose(length, items, shape, seeds, training) + (0 if seeds is None else start)


def test_bad_positions_are_found() -> None:
    with pytest.raises(AssertionError, match="a later token has a larger position"):
        check_position(Backwards(Alibi()))
    with pytest.raises(AssertionError, match="the same again for equal seeds"):
        check_position(Careless(Alibi()))


def test_the_global_generator_is_left_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    check_position(make_position("learned"))
    assert torch.equal(torch.get_rng_state(), before)
