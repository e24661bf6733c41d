"""Sinkhorn attention in the Transformer: causal in information, the same with a cache, and refused where it must be."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor

import small_transformers
from lengthwise.errors import UsageError
from lengthwise.geometry.sinkhorn import sinkhorn
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import attentions
from lengthwise.models.attention.sinkhorn import Sinkhorn
from lengthwise.models.forward import run
from lengthwise.models.transformer import Architecture, Cache, Transformer
from lengthwise.probes.lipschitz.certificate import certify
from lengthwise.registry import plain_settings, restored_settings
from small_transformers import VOCABULARY, gap

TOKENS = 8  # few, as a decoder takes time with the cube of them


def make(rule: str = "sinkhorn:tau=1", position: str = "none", causal: bool = True) -> Transformer:
    return small_transformers.make(rule, position, causal)


def text(items: int = 2, tokens: int = TOKENS) -> Tensor:
    return small_transformers.text(items, tokens)


class Leaking(Sinkhorn):
    """One big problem under the causal mask, in a decoder too."""

    def decoder_weights(self, logits: Tensor) -> Tensor:
        return self.weights(logits)


@torch.no_grad()
def changes_before(model: Transformer, place: int) -> float:
    """How much the outputs before `place` change with the tokens from there on."""
    tokens = text()
    other = tokens.clone()
    other[:, place:] = (other[:, place:] + 1) % VOCABULARY
    change = (model(other) - model(tokens)).abs().amax(dim=(0, 2))
    assert change[place] > 1e-3
    return float(change[:place].max())


def test_later_tokens_change_nothing_before_them() -> None:
    model = make(position="rope")
    assert max(changes_before(model, place) for place in range(1, TOKENS)) <= 1e-12


def test_one_problem_for_all_would_leak() -> None:
    model = make(position="rope")
    for block in model.blocks:
        block.attention.rule = Leaking(1.0)
    assert max(changes_before(model, place) for place in range(1, TOKENS)) > 1e-3


@pytest.mark.parametrize("position", ["none", "alibi", "rope:scaling=dynamic"])
@torch.no_grad()
def test_a_cache_and_chosen_places_change_nothing(position: str) -> None:
    model, tokens = make(position=position), text()
    whole = model(tokens)
    for ends in (range(1, TOKENS + 1), (3, 4, TOKENS)):
        cache, parts, start = Cache(), [], 0
        for end in ends:
            parts.append(model(tokens[:, start:end], cache=cache))
            start = end
        assert gap(torch.cat(parts, dim=1), whole) <= 1e-10
    scored = tokens > 3
    scored[:, 2] = False
    assert gap(model(tokens, scored=scored), whole[scored]) <= 1e-12
    encoder = make(position=position, causal=False)
    assert gap(encoder(tokens, scored=scored), encoder(tokens)[scored]) <= 1e-12


@torch.no_grad()
def test_generation_is_the_best_token_again_and_again() -> None:
    model, prompt = make(), text(items=6, tokens=3)
    written = prompt
    for _ in range(4):
        written = torch.cat([written, model(written)[:, -1:].argmax(dim=-1)], dim=1)
    assert model.generate(prompt, 4).equal(written[:, 3:])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("position", ["none", "alibi", "rope:scaling=dynamic"])
def test_the_parts_give_the_logits_of_the_model(position: str, causal: bool) -> None:
    model = make("sinkhorn:tau=2,temperature=0.7", position, causal)
    trace = run(anatomy_of(model), text())
    assert trace.logits is not None and gap(trace.logits, model(text())) <= 1e-10
    weights = trace.blocks[0].attention_weights
    assert (weights.sum(-1) - 1).abs().max() <= 1e-12
    if causal:
        assert not weights.triu(1).any()


@pytest.mark.parametrize("causal", [True, False])
def test_no_budget_is_softmax(causal: bool) -> None:
    one, other = make("sinkhorn:tau=0,temperature=0.7", "rope", causal), make("softmax:temperature=0.7", "rope", causal)
    assert gap(one(text()), other(text())) <= 1e-12
    assert gap(make("sinkhorn:tau=1,temperature=0.7", "rope", causal)(text()), other(text())) > 1e-3


def test_temperature_and_tau_are_those_of_the_scores() -> None:
    scores = torch.randn(4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rule = Sinkhorn(tau=3.0, temperature=2.0)
    assert rule.sharpness(torch.arange(4)) == 0.5
    assert gap(rule.weights(scores * 0.5), sinkhorn(scores, 2.0, 3.0).weights) <= 1e-6


def test_doubly_stochastic_attention_is_for_encoders() -> None:
    weights = run(anatomy_of(make("sinkhorn:tau=inf", causal=False)), text()).blocks[0].attention_weights
    assert (weights.sum(-2) - 1).abs().max() <= 1e-5
    with pytest.raises(UsageError, match="lower triangular doubly stochastic matrix is the identity"):
        make("sinkhorn:tau=inf")


@pytest.mark.parametrize("rule", [attentions.make("sinkhorn:tau=inf"), Sinkhorn(math.inf), Sinkhorn(0.25, 2.0)])
def test_it_is_stored_as_json(rule: Sinkhorn) -> None:
    architecture = Architecture(causal=False, attention=rule)
    stored = json.loads(json.dumps(plain_settings(architecture), allow_nan=False))
    assert restored_settings(Architecture, stored) == architecture


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("sinkhorn:tau=-1", "the tau of sinkhorn must be 0 (softmax) or more, up to inf, not -1"),
        ("sinkhorn:tau=much", "the tau of sinkhorn must be a number from 0 on, or inf, not 'much'"),
        ("sinkhorn:tau=nan", "the tau of sinkhorn must be 0 (softmax) or more, up to inf, not nan"),
        ("sinkhorn:temperature=0", "a sinkhorn temperature must be above 0 and finite, not 0.0"),
    ],
)
def test_wrong_settings_name_the_right_ones(spec: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        attentions.make(spec)
    assert str(error.value) == sentence


def test_no_certificate_is_given_for_it() -> None:
    claim = certify(anatomy_of(make()), 4).token
    assert claim.status == "refused" and claim.value is None
    assert any("is not a softmax of its logits" in str(each.values) for each in claim.assumptions)


@pytest.mark.parametrize("causal", [True, False])
def test_every_weight_learns(causal: bool) -> None:
    model = make(causal=causal).float()
    model(text()).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        if "key" not in name and "bias" not in name:
            assert parameter.grad.abs().max() > 0, name
