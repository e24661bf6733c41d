"""KERPLE, against its formulas."""

import math

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import LogEncoder, PowerEncoder

AT = torch.tensor([[0, 1, 5, 60, 1000]])
SHAPE = Shape(8, 2, 10, 10)


def softplus(x: float) -> float:
    return math.log(1 + math.exp(x))


def test_log() -> None:
    encoder = make_position("kerple").build(SHAPE).double()
    assert isinstance(encoder, LogEncoder)
    encoder.raw_weight.data = torch.tensor([-1.0, 2.0]).double()
    encoder.raw_rate.data = torch.tensor([0.5, -3.0]).double()
    bias = encoder.bias(AT, AT).detach()
    for head, (weight, rate) in enumerate([(softplus(-1.0), softplus(0.5)), (softplus(2.0), softplus(-3.0))]):
        for query in range(5):
            for key in range(5):
                apart = abs(int(AT[0, query] - AT[0, key]))
                assert float(bias[0, head, query, key]) == pytest.approx(
                    -weight * math.log(1 + rate * apart), rel=1e-12
                )


def test_power() -> None:
    encoder = make_position("kerple:variant=power").build(SHAPE).double()
    assert isinstance(encoder, PowerEncoder)
    encoder.raw_weight.data = torch.tensor([-1.0, 2.0]).double()
    encoder.raw_power.data = torch.tensor([40.0, -1.0]).double()  # 40: as good as a power of 2, the largest allowed
    bias = encoder.bias(AT, AT).detach()
    for head, (weight, power) in enumerate([(softplus(-1.0), 2.0), (softplus(2.0), 2 / (1 + math.e))]):
        for query in range(5):
            for key in range(5):
                apart = abs(int(AT[0, query] - AT[0, key]))
                assert float(bias[0, head, query, key]) == pytest.approx(-weight * apart**power, rel=1e-12)


def test_a_fresh_power_is_alibi() -> None:
    ours, alibi = (make_position(spec).build(SHAPE).bias(AT, AT) for spec in ("kerple:variant=power", "alibi"))
    torch.testing.assert_close(ours, alibi)


def test_fresh_heads_of_the_logarithm_differ() -> None:
    encoder = make_position("kerple").build(Shape(8, 4, 10, 10))
    bias = encoder.bias(AT, AT)
    assert bias is not None
    want = [-(head + 0.5) / 4 * math.log(1 + 1000) for head in range(4)]
    assert bias[0, :, -1, 0].tolist() == pytest.approx(want, rel=1e-5)


def test_no_gradient_is_lost_at_distance_zero() -> None:
    encoder = make_position("kerple:variant=power").build(SHAPE)
    bias = encoder.bias(AT, AT)
    assert bias is not None
    bias.sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in encoder.parameters())


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match="one of log, power"):
        make_position("kerple:variant=linear")
