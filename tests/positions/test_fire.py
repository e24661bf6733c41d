"""FIRE, against its formula."""

import math

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import FireEncoder

AT = torch.tensor([[0, 1, 5, 60, 1000]])


def built(spec: str = "fire", causal: bool = True, trained: int = 40) -> FireEncoder:
    encoder = make_position(spec).build(Shape(8, 2, 10, trained, causal)).double()
    assert isinstance(encoder, FireEncoder)
    return encoder


def slow_bias(encoder: FireEncoder, head: int, query: int, key: int, threshold: float, rate: float) -> float:
    """Positions counted from 1, the key not after the query."""
    share = math.log(rate * (query - key) + 1) / math.log(rate * max(threshold, query) + 1)
    total = 0.0
    for weight, bias, out in zip(
        encoder.inner.tolist(), encoder.inner_bias.tolist(), encoder.outer[head].tolist(), strict=True
    ):
        total += max(weight * share + bias, 0.0) * out
    return total


@pytest.mark.parametrize("spec,threshold,rate", [("fire", 10.0, 0.1), ("fire:threshold=64,rate=2,hidden=5", 64.0, 2.0)])
def test_the_formula(spec: str, threshold: float, rate: float) -> None:
    encoder = built(spec)
    bias = encoder.bias(AT, AT).detach()
    assert bias.shape == (1, 2, 5, 5)
    for head in range(2):
        for query in range(5):
            for key in range(query + 1):
                want = slow_bias(encoder, head, int(AT[0, query]) + 1, int(AT[0, key]) + 1, threshold, rate)
                assert float(bias[0, head, query, key]) == pytest.approx(want, abs=1e-7)


def test_the_share_stays_within_one_however_long_the_sequence() -> None:
    encoder = built("fire:hidden=1")
    for parameter, value in ((encoder.inner, 1.0), (encoder.inner_bias, 0.0), (encoder.outer, 1.0)):
        parameter.data.fill_(value)  # the network is then the identity for keys behind their query
    at = torch.tensor([[0, 10**6]])
    shares = encoder.bias(at, at)[0, 0].detach()
    assert 0.99 < float(shares[1, 0]) < 1.0
    assert shares.diagonal().abs().max() == 0


def test_an_encoder_tells_before_from_after() -> None:
    bias = built(causal=False).bias(AT, AT)
    assert (bias - bias.transpose(2, 3)).abs().max() > 1e-3


def test_the_threshold_starts_at_a_quarter_of_the_trained_length_and_at_least_at_one() -> None:
    assert built(trained=2048).log_threshold.exp().item() == pytest.approx(512, rel=1e-6)
    assert built(trained=1).log_threshold.exp().item() == pytest.approx(1)


def test_up_to_the_threshold_only_the_distance_counts_and_not_beyond() -> None:
    encoder = built("fire:threshold=100")
    at = torch.arange(20)[None]
    torch.testing.assert_close(encoder.bias(at, at), encoder.bias(at + 50, at + 50))
    assert (encoder.bias(at, at) - encoder.bias(at + 150, at + 150)).tril().abs().max() > 1e-4


def test_a_model_leaves_the_network_as_it_was_made() -> None:
    from lengthwise.models.transformer import Architecture, Interface, Transformer

    model = Transformer(Architecture(width=8, heads=2, position=make_position("fire")), Interface(5, 5, 16, 8))
    encoder = model.encoder
    assert isinstance(encoder, FireEncoder)
    assert encoder.inner.abs().mean() > 0.25, "uniform between -1 and 1, not normal with 0.02"


@pytest.mark.parametrize("spec", ["fire:hidden=0", "fire:threshold=-1", "fire:rate=0"])
def test_bad_settings(spec: str) -> None:
    with pytest.raises(UsageError, match="fire needs"):
        make_position(spec)
