"""T5's buckets, against the definition in logarithms and against another implementation."""

import math

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import T5Encoder, bucket_of_distance

AT = torch.tensor([[0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 63, 64, 100, 127, 128, 129, 1000, 100_000]])


def slow_bucket(distance: int, buckets: int, furthest: int) -> int:
    exact = buckets // 2
    if distance < exact:
        return distance
    share = math.log(distance / exact) / math.log(furthest / exact)
    return min(exact + math.floor(share * (buckets - exact) + 1e-9), buckets - 1)


@pytest.mark.parametrize("buckets,furthest", [(32, 128), (16, 128), (8, 20), (2, 50), (4, 3)])
def test_buckets_are_those_of_the_definition(buckets: int, furthest: int) -> None:
    table = bucket_of_distance(buckets, furthest)
    assert table == [slow_bucket(n, buckets, furthest) for n in range(furthest + 1)]
    assert table[-1] == buckets - 1


def test_known_buckets() -> None:
    table = bucket_of_distance(32, 128)
    assert table[:17] == list(range(17)), "half of the buckets hold one distance"
    assert (table[18], table[19], table[112], table[113], table[128]) == (16, 17, 30, 31, 31)
    # 8, 16, 32, 64 = 8 x 16^(k/8) for k = 0, 2, 4, 6: here the ends of buckets are whole numbers.
    assert [bucket_of_distance(16, 128)[n] for n in (8, 15, 16, 31, 32, 63, 64)] == [8, 9, 10, 11, 12, 13, 14]


def encoder(causal: bool, spec: str = "t5") -> T5Encoder:
    built = make_position(spec).build(Shape(8, 2, 10, 10, causal))
    assert isinstance(built, T5Encoder)
    return built


def test_bias_of_a_decoder() -> None:
    built = encoder(causal=True)
    bias = built.bias(AT, AT)
    for query in range(AT.shape[1]):
        for key in range(query + 1):
            bucket = slow_bucket(int(AT[0, query] - AT[0, key]), 32, 128)
            assert torch.equal(bias[0, :, query, key], built.values[:, bucket])


def test_an_encoder_tells_before_from_after() -> None:
    built = encoder(causal=False)
    bias = built.bias(AT, AT)
    for query in range(AT.shape[1]):
        for key in range(AT.shape[1]):
            apart = int(AT[0, query] - AT[0, key])
            bucket = slow_bucket(abs(apart), 16, 128) + (16 if apart < 0 else 0)
            assert torch.equal(bias[0, :, query, key], built.values[:, bucket])


@pytest.mark.parametrize("causal", [True, False])
def test_agrees_with_transformers(causal: bool) -> None:
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    relative = AT[0][None, :] - AT[0][:, None]  # key minus query, as is their use
    theirs = t5.T5Attention._relative_position_bucket(relative, bidirectional=not causal)
    built = encoder(causal)
    built.values.data = torch.arange(32.0).expand(2, 32)
    ours = built.bias(AT, AT)[0, 0].long()
    assert torch.equal(ours, theirs)


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match="even number of buckets"):
        make_position("t5:buckets=7")
    with pytest.raises(UsageError, match="above 16, not 16"):
        make_position("t5:furthest=16")
