"""Whole models: what an attack finds never exceeds what is certified, for every encoding, rule and kind of model."""

import dataclasses
import math

import pytest
import torch

from lengthwise.bounds.lipschitz import Region, attention_bound
from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import attentions
from lengthwise.models.forward import apply_attention, embed, run, run_from
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import positions
from lengthwise.probes.lipschitz.attack import (
    FoundPair,
    attack,
    in_ball,
    lower_bound,
    lower_bound_near,
    quotient,
    size,
    steepest,
)
from lengthwise.probes.lipschitz.certificate import certify, certify_near
from lengthwise.probes.lipschitz.parts import heads_of, input_region, region_of, sight_of

ENCODINGS = [
    "none",
    "learned",
    "sinusoidal",
    "rope",
    "rope:scaling=yarn,factor=4",
    "rope:scaling=dynamic,original=3",
    "alibi",
    "t5",
    "kerple",
    "fire",
]
RULES = ["softmax", "log_length", "window:size=3"]
LENGTH = 5


def model_of(position="none", rule="softmax", depth=1, causal=True, seed=0, stretch=5.0):
    """A small model whose weights are larger than at birth, so that attention is far from uniform."""
    torch.manual_seed(seed)
    architecture = Architecture(
        depth=depth,
        width=8,
        heads=2,
        causal=causal,
        attention=attentions.make(rule),
        position=positions.make(position),
    )
    model = Transformer(architecture, Interface(vocabulary=7, outputs=4, rows=8, trained=4))
    for name, parameter in model.named_parameters():
        parameter.data.mul_(1.0 if "norm" in name else stretch)
        parameter.data.add_(0.1 * torch.randn_like(parameter) if "bias" in name or "norm" in name else 0.0)
    return anatomy_of(model)


def tokens_of(anatomy, items=2, length=LENGTH, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(len(anatomy.embed), (items, length), generator=generator)


@pytest.mark.parametrize("position", ENCODINGS)
def test_no_attack_exceeds_the_certificate(position):
    anatomy = model_of(position)
    check_soundness(anatomy)


@pytest.mark.parametrize("rule, causal", [*((rule, True) for rule in RULES[1:]), *((rule, False) for rule in RULES)])
def test_no_attack_exceeds_the_certificate_of_other_rules(rule, causal):
    check_soundness(model_of("none", rule, causal=causal))


def check_soundness(anatomy, length=LENGTH):
    """On the ball, at given sequences and around them; around them is never worse than the ball (but for its rim)."""
    tokens = tokens_of(anatomy, length=length)
    ball, at, around = certify(anatomy, length), certify_near(anatomy, tokens), certify_near(anatomy, tokens, 1e-3)
    for norm in ("token", "frobenius"):
        upper = [getattr(each, norm).value for each in (at, around, ball)]
        assert upper[0] <= upper[1] <= upper[2] * 1.05
        assert lower_bound(anatomy, length, norm, attempts=4, steps=3).value <= upper[2]
    assert lower_bound_near(anatomy, tokens, 0.0, "frobenius", steps=5).value <= at.frobenius.value
    assert lower_bound_near(anatomy, tokens, 1e-3, "token", steps=3).value <= around.token.value


def custom(order, kind="layer", gated=True, norm_embed=False, seed=0):
    """An anatomy that our Transformer cannot have: post-norm, RMSNorm, gated MLPs, a norm of embeddings."""
    generator = torch.Generator().manual_seed(seed)

    def random(*shape):
        return 0.6 * torch.randn(*shape, generator=generator, dtype=torch.float64)

    def norm():
        return NormPart(kind, 1 + 0.3 * random(6), random(6) if kind == "layer" else None, 1e-3)

    def block():
        part = AttentionPart(
            *(random(2, 4, 6) for _ in range(3)), random(2, 6, 4), random(2, 4), random(2, 4), random(2, 4), random(6),
            scale=0.5, causal=order == "pre", rotary=torch.tensor([1.0, 0.3]) if order == "pre" else None,
        )  # fmt: skip
        gate = (random(9, 6), random(9)) if gated else (None, None)
        mlp = MlpPart(
            "gated" if gated else "plain", random(9, 6), random(9), gate[0], random(6, 9), random(6), "silu", gate[1]
        )
        return BlockPart(order, norm(), part, norm(), mlp)

    embedding = NormPart("layer", 1 + random(6), random(6), 1e-5) if norm_embed else None
    blocks, final = (block(), block()), norm() if order == "pre" else None
    return Anatomy("a model", random(7, 6), None, embedding, blocks, final, None)


@pytest.mark.parametrize(
    "order, kind, gated",
    [
        ("pre", "layer", True),
        ("pre", "rms", False),
        ("post", "layer", False),
        ("post", "rms", True),
        ("parallel", "layer", False),
        ("parallel", "rms", True),
    ],
)
def test_no_attack_exceeds_the_certificate_of_other_architectures(order, kind, gated):
    anatomy = custom(order, kind, gated, norm_embed=gated)
    check_soundness(anatomy, length=4)


def test_no_two_token_sequences_are_stretched_more():
    """The set of all token sequences: pairs of them, and the certificate that is only about such pairs."""
    for position in ("none", "learned"):
        anatomy = model_of(position)
        upper = certify(anatomy, LENGTH, "tokens")
        assert upper.token.value < certify(anatomy, LENGTH).token.value
        generator = torch.Generator().manual_seed(1)
        at = anatomy.places(LENGTH)
        one, other = (embed(anatomy, torch.randint(7, (300, LENGTH), generator=generator), at) for _ in range(2))
        for norm in ("token", "frobenius"):
            found = quotient(lambda x, a=anatomy, p=at: run_from(a, x, p).output, one, other, norm)
            assert float(found.max()) <= getattr(upper, norm).value


def test_regions_hold_what_they_say():
    for norm_embed in (False, True):
        anatomy = custom("post", norm_embed=norm_embed)
        vectors = embed(anatomy, torch.arange(7)[None], torch.arange(7)[None])[0]
        for region in (input_region(anatomy, 7), region_of(vectors[None], 0.0)):
            assert float(vectors.norm(dim=1).max()) <= region.reach <= float(vectors.norm(dim=1).max()) * 1.00001
            spread = float(vectors.std(dim=1, correction=0).min())
            assert spread * 0.9999 <= region.spread <= spread
            assert region.size <= float(vectors.square().mean(dim=1).sqrt().min())
    moved = region_of(vectors[None], 0.1)
    assert moved.radius == pytest.approx(region.radius + 0.1) and moved.spread < region.spread


def test_large_tables_are_bounded_by_their_extremes(monkeypatch):
    anatomy = model_of("learned")
    exact = input_region(anatomy, LENGTH)
    monkeypatch.setattr("lengthwise.probes.lipschitz.parts.FEW", 1)
    rough = input_region(anatomy, LENGTH)
    assert rough.reach >= exact.reach and rough.spread <= exact.spread and rough.size <= exact.size


def test_hidden_states_stay_within_the_reach_of_their_parts():
    """The set that comes out of a part is what the next one is certified on."""
    for anatomy in (model_of("learned", depth=2), custom("pre"), custom("post")):
        rows = {row.part: row.token for row in certify(anatomy, LENGTH).rows}
        trace = run(anatomy, tokens_of(anatomy, items=50, length=LENGTH))
        for number, block in enumerate(anatomy.blocks):
            taken = apply_attention(block.attention, trace.blocks[number].attention_input, anatomy.places(LENGTH))[0]
            assert float(taken.norm(dim=2).max()) <= rows[f"block {number} attention"].reach


def test_hard_attention_is_refused_with_the_reason():
    anatomy = model_of("none", "hardmax", depth=2)
    for found in (certify(anatomy, LENGTH), certify_near(anatomy, tokens_of(anatomy), 0.1)):
        assert found.token.status == "refused" and found.token.value is None
        assert any("jumps" in str(a.values) and a.check == "caveat" for a in found.token.assumptions)
        refused = [row for row in found.rows if row.refused]
        assert [row.part for row in refused] == ["block 0 attention", "block 1 attention"]
        assert all(claim.status == "refused" for row in refused for claim in row.claims())
        assert sum(claim.status == "holds" for claim in found.claims()) >= 8, "the other parts are still certified"
    with pytest.raises(UsageError, match="derivatives are computed only"):
        lower_bound_near(anatomy, tokens_of(anatomy))
    assert lower_bound(anatomy, LENGTH, attempts=4, steps=4).evidence["by"] == "pair"


def test_unknown_scores_are_refused():
    anatomy = model_of()
    block = anatomy.blocks[0]
    strange = dataclasses.replace(block.attention, scores=lambda q, k, *_: (q @ k.transpose(2, 3)) ** 3)
    anatomy = dataclasses.replace(anatomy, blocks=(dataclasses.replace(block, attention=strange),))
    assert certify(anatomy, LENGTH).token.status == "refused"


def test_norms_of_queries_and_keys_are_refused():
    anatomy = model_of()
    block = anatomy.blocks[0]
    norm = NormPart("rms", torch.ones(block.attention.wq.shape[1], dtype=torch.float64), None, 1e-6)
    normed = dataclasses.replace(block.attention, norm_q=norm, norm_k=norm)
    anatomy = dataclasses.replace(anatomy, blocks=(dataclasses.replace(block, attention=normed),))
    for found in (certify(anatomy, LENGTH), certify_near(anatomy, tokens_of(anatomy), 0.1)):
        assert found.token.status == found.frobenius.status == "refused"


def test_skipped_modules_are_listed():
    anatomy = dataclasses.replace(model_of(), skipped=(("pooler", "not on the way to the outputs"),))
    found = certify(anatomy, LENGTH)
    assert found.skipped == anatomy.skipped and any("pooler" in str(a.values) for a in found.token.assumptions)


def test_one_attention_layer_is_nearly_attained():
    """Two opposite clusters: what the attack finds there is at least 0.99 of what is certified (statement 4)."""
    for strength in (0.1, 1.0, 30.0):
        query = strength * torch.diag(torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64))
        same = torch.eye(3, dtype=torch.float64)[None]
        part = AttentionPart(query[None], same, same, same, None, None, None, None, scale=1.0, causal=False)
        x = torch.stack([same[0, 1], *([same[0, 0]] * 50), *([-same[0, 0]] * 50)])[None]
        at = torch.arange(x.shape[1])[None]
        start = torch.zeros_like(x)
        start[0, 0, 0] = 1.0  # the query that sees both clusters; a random start may climb another hill
        found = steepest(lambda y, p=part, a=at: apply_attention(p, y, a)[0], x, start, "token", 40)[0]
        bound = attention_bound(heads_of(part, 101), Region(1.0), "token", sight_of(part, 101))
        assert 0.99 <= float(found[0]) / bound.constant <= 1.0


def linear_model(mix, inner, norm=None):
    """Uniform attention that passes on `mix` times the mean, an MLP in its linear range that gives inner² z."""
    one = torch.eye(4, dtype=torch.float64)
    part = AttentionPart(
        0 * one[None], one[None], mix * one[None], one[None], None, None, None, None, scale=1.0, causal=False
    )
    high = torch.full((4,), 1e3, dtype=torch.float64)
    mlp = MlpPart("plain", inner * one, high, None, inner * one, -inner * high, "relu")
    embedding = torch.zeros(3, 4, dtype=torch.float64)
    embedding[:, 0] = 2.0
    block = BlockPart("pre", norm, part, norm, mlp)
    return Anatomy("a linear model", embedding, None, None, (block, block), None, 3 * one)


def test_composition_is_exact_where_nothing_is_lost():
    """All tokens moved alike are stretched by ((1 + mix)(1 + inner²))² times the head, and so it is certified."""
    anatomy = linear_model(0.5, 1.5)
    true = ((1 + 0.5) * (1 + 1.5**2)) ** 2 * 3
    for norm in ("token", "frobenius"):
        for found in (certify(anatomy, 4), certify_near(anatomy, torch.zeros(1, 4, dtype=torch.long), 0.1)):
            assert getattr(found, norm).value == pytest.approx(true, rel=1e-6)
        assert lower_bound(anatomy, 4, norm, attempts=2, steps=5).value == pytest.approx(true, rel=1e-3)


def test_composition_with_norms_is_exact_across_the_token():
    """RMSNorm divides what is across a token by its root mean square, which every sub-layer makes larger."""
    mix, inner, true, size_now = 0.5, 1.5, 3.0, 1.0  # a token is (2, 0, 0, 0): its root mean square is 1
    for _ in range(2):
        for gain in (mix, inner**2):  # a normalised token has the root mean square 1, and `gain` of it is added
            true *= 1 + gain / size_now
            size_now += gain
    norm = NormPart("rms", torch.ones(4, dtype=torch.float64), None, 0.0)
    anatomy, tokens = linear_model(mix, inner, norm), torch.zeros(1, 3, dtype=torch.long)
    assert certify_near(anatomy, tokens).token.value == pytest.approx(true, rel=1e-6)
    assert lower_bound_near(anatomy, tokens, steps=20).value == pytest.approx(true, rel=1e-3)


def test_attack_finds_the_constant_of_a_linear_map():
    """Where the true constant is known: the largest singular value, in both norms as every token has its own."""
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    start = torch.randn(3, 2, 4, generator=generator, dtype=torch.float64)
    for norm in ("token", "frobenius"):
        found = attack(lambda x: x @ matrix.T, in_ball(1.0), start, norm, steps=150)
        assert isinstance(found, FoundPair)
        assert 0.99 < found.best / float(torch.linalg.matrix_norm(matrix, 2)) <= 1 + 1e-9
        assert float(size(found.x, "token").max()) <= 1 + 1e-12 and float(size(found.y, "token").max()) <= 1 + 1e-12


def test_lower_bounds_are_called_so():
    anatomy = model_of()
    claim = lower_bound(anatomy, LENGTH, attempts=2, steps=2)
    assert claim.kind == "measured" and claim.unit.startswith("at least")
    assert any(a.key == "lipschitz.search" for a in claim.assumptions)
    upper = certify(anatomy, LENGTH)
    assert upper.token.kind == "certified" and upper.token.unit.startswith("at most")
    assert math.isfinite(upper.token.value) and "within" in upper.where
    assert len(upper.claims()) == 2 + 2 * len(upper.rows) and len(upper.rows) == 6


@pytest.mark.parametrize(
    "call",
    [
        lambda a: certify(a, 0),
        lambda a: certify(a, 99),
        lambda a: certify(a, 3, "sphere"),
        lambda a: certify_near(a, torch.zeros(3, dtype=torch.long)),
        lambda a: certify_near(a, torch.zeros(1, 3, dtype=torch.long), -1.0),
        lambda a: certify_near(a, torch.zeros(1, 3, dtype=torch.long), math.inf),
        lambda a: lower_bound(a, 3, attempts=0),
        lambda a: lower_bound(a, 3, steps=0),
    ],
)
def test_bad_input(call):
    with pytest.raises(UsageError):
        call(model_of("learned"))


@pytest.mark.wording
def test_what_lies_near_given_sequences_is_said_in_words():
    anatomy = model_of("none")
    tokens = tokens_of(anatomy, length=LENGTH)
    at, around = certify_near(anatomy, tokens), certify_near(anatomy, tokens[:1], 1e-3)
    assert at.token.title.endswith(f"for inputs arbitrarily close to one of {len(tokens)} given sequences")
    assert "every token is within 0.001 of one given sequence" in around.token.title
    assert lower_bound_near(anatomy, tokens, 0.0, steps=2).title.endswith("for " + at.where)
