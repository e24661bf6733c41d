"""Attention of p bits against its definition, key by key."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.p_bit import BitAttention
from lengthwise.models.transformer import Cache
from lengthwise.oracle.limit.examples import example
from small_transformers import TOKENS, gap, make, text

NOT_SEEN = -math.inf


def by_definition(values: list[float], bits: float) -> list[float]:
    """Normalise the largest logit to 0, round weights of at most 2^-bits to 0, and divide by the sum."""
    best = max(values)
    weights = [0.0 if math.exp(value - best) <= 2.0**-bits else math.exp(value - best) for value in values]
    return [weight / sum(weights) for weight in weights]


@settings(max_examples=60)
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=9), st.sampled_from([0.5, 1, 4, 8, 24]))
def test_weights_are_those_of_the_definition(values: list[float], bits: float) -> None:
    logits = torch.tensor([*values, NOT_SEEN], dtype=torch.float64)
    found = BitAttention(bits).weights(logits)
    assert found.tolist() == pytest.approx([*by_definition(values, bits), 0.0], abs=1e-12)


def test_weights_on_both_sides_of_the_bound() -> None:
    logits = torch.tensor([0.0, -3.01 * math.log(2), -2.99 * math.log(2)], dtype=torch.float64)
    assert (BitAttention(bits=3).weights(logits) > 0).tolist() == [True, False, True]


@pytest.mark.parametrize("bits", [4, 10])
def test_a_lead_makes_attention_hard_from_two_to_the_bits_over_the_lead(bits: int) -> None:
    """With ln n on the logits: exactly one key is left from n = 2^(bits / γ) on, and not before."""
    rule, lead = BitAttention(bits), 2.0
    for n, hard in ((2 ** (bits // 2) + 1, True), (2 ** (bits // 2) - 1, False)):
        logits = torch.zeros(n, dtype=torch.float64)
        logits[0] = lead
        weights = rule.weights(logits * rule.sharpness(torch.tensor([n - 1])))
        assert (int((weights > 0).sum()) == 1) is hard


@pytest.mark.parametrize(("length", "hard"), [(33, True), (31, False)])
def test_it_is_the_mode_finite_of_limit_transformers(length: int, hard: bool) -> None:
    """`rare_pair` gives the share of a among a and b exactly where the weight n^-1 of every c is rounded to 0."""
    word = "c" * (length - 3) + "acb"
    program = example("rare_pair").in_mode("finite", bits=5)
    lead = torch.tensor([0.0 if letter == "c" else 1.0 for letter in word], dtype=torch.float64)
    rule = BitAttention(5)
    weights = rule.weights(lead * rule.sharpness(torch.tensor([length - 1])))
    assert bool((weights[lead == 0] == 0).all()) is hard
    assert (Fraction(program.answer(word)[0]) == Fraction(1, 2)) is hard


def test_gradients_are_masked_or_straight_through() -> None:
    value = torch.tensor([3.0, -2.0, 1.0], dtype=torch.float64)
    start = [1.0, 0.5, -9.0]
    grads = {}
    for how in ("masked", "straight"):
        logits = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        weights = BitAttention(bits=4, gradient=how).weights(logits)
        assert weights.tolist() == pytest.approx(by_definition(start, 4))
        (grads[how],) = torch.autograd.grad(weights @ value, logits)
    logits = torch.tensor(start[:2], dtype=torch.float64, requires_grad=True)
    (kept,) = torch.autograd.grad(logits.softmax(-1) @ value[:2], logits)
    assert grads["masked"].tolist() == pytest.approx([*kept.tolist(), 0.0])
    logits = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    (soft,) = torch.autograd.grad(logits.softmax(-1) @ value, logits)
    assert grads["straight"].equal(soft) and float(soft[2]) != 0


@torch.no_grad()
def test_a_cache_gives_the_logits_of_the_whole() -> None:
    model, tokens = make("p_bit:bits=3", "local:window=2"), text()
    cache, parts = Cache(), []
    for place in range(TOKENS):
        parts.append(model(tokens[:, place : place + 1], cache=cache))
    whole = model(tokens)
    assert gap(torch.cat(parts, dim=1), whole) <= 1e-10
    assert gap(whole, make("p_bit:bits=52", "local:window=2")(tokens)) > 1e-6, "rounding does something here"


@pytest.mark.parametrize("spec", ["p_bit:bits=0", "p_bit:bits=-1", "p_bit:gradient=soft"])
def test_what_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        attentions.make(spec)
