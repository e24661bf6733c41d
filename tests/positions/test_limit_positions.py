"""Periodic and local positions against their definitions, one pair of places at a time."""

import math

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.forward import run
from lengthwise.models.transformer import Cache
from lengthwise.positions import Shape, make_position, positions
from lengthwise.testing import check_position
from small_transformers import TOKENS, gap, make, text

SPECS = ["periodic:period=3", "local:window=2,sharpen=log", "periodic:period=3+local:window=2,sharpen=log"]


def encoder(spec: str, causal: bool = True):
    torch.manual_seed(1)
    made = make_position(spec).build(Shape(width=8, heads=3, rows=40, trained=10, causal=causal)).double()
    for parameter in made.parameters():
        parameter.data += torch.randn_like(parameter)
    return made


def test_a_vector_for_each_residue() -> None:
    made = encoder("periodic:period=4")
    at = torch.tensor([[0, 3, 4, 9, 10**6 + 2]])
    wanted = torch.stack([made.table[place % 4] for place in at[0].tolist()])
    assert made.embed(at)[0].equal(wanted) and made.bias(at, at) is None


@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
@pytest.mark.parametrize("sharpen", ["none", "log"])
def test_biases_are_those_of_the_definition(sharpen: str, causal: bool) -> None:
    """φ(i - j), times ln i where it is sharpened, and 0 further away than the window."""
    window, length = 2, 9
    made = encoder(f"local:window={window},sharpen={sharpen}", causal)
    at = torch.arange(length)[None]
    found = made.bias(at, at)[0]
    values = made.values.detach()
    for head in range(3):
        for i in range(length):
            for j in range(i + 1 if causal else length):
                distance = i - j
                phi = 0.0
                if abs(distance) <= window:
                    phi = float(values[head, distance if causal else distance + window])
                seen = i + 1 if causal else length
                wanted = phi * (math.log(seen) if sharpen == "log" else 1.0)
                assert float(found[head, i, j].detach()) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("spec", SPECS)
@torch.no_grad()
def test_a_cache_and_the_parts_give_the_logits_of_the_whole(spec: str) -> None:
    model, tokens = make("softmax", spec), text()
    whole = model(tokens)
    cache, parts = Cache(), []
    for place in range(TOKENS):
        parts.append(model(tokens[:, place : place + 1], cache=cache))
    assert gap(torch.cat(parts, dim=1), whole) <= 1e-10
    traced = run(anatomy_of(model), tokens).logits
    assert traced is not None and gap(traced, whole) <= 1e-10


def test_both_together_are_their_sum() -> None:
    both, at = encoder("periodic:period=3+local:window=2"), torch.arange(7)[None]
    assert both.embed(at)[0].equal(both.table[at[0] % 3])
    assert both.bias(at, at).equal(both.local.bias(at, at))
    check_position(make_position("periodic:period=3+local:window=2"))


def test_no_position_is_beyond_the_period_in_a_model() -> None:
    anatomy = anatomy_of(make("softmax", "periodic:period=3"))
    assert anatomy.longest is None and anatomy.table is not None
    norms = anatomy.table.vectors(torch.arange(9)[None])[0].norm(dim=-1)
    assert float(norms.max()) == pytest.approx(anatomy.table.radius)


@pytest.mark.parametrize(
    "spec", ["periodic:period=0", "local:window=-1", "local:sharpen=ln", "rope+local:window=2", "learned+offset+local"]
)
def test_what_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_position(spec)


def test_specs_read_back() -> None:
    for spec, text_of in (("local:window=3", "local:window=3"), ("none+local:window=3", "local:window=3")):
        assert positions.text_of(make_position(spec)) == text_of
    both = make_position("periodic:period=2+local:window=3,sharpen=log")
    assert make_position(positions.text_of(both)) == both
    assert make_position("local").shift_invariant and not make_position("local:sharpen=log").shift_invariant
    assert make_position("periodic:period=1").shift_invariant
