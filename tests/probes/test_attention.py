"""The probe of attention as transport: weights whose report is known, every rule, and models of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import lengthwise as lw
from lengthwise.geometry.sinkhorn import sinkhorn
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import attentions
from lengthwise.models.forward import BlockTrace, run
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.attention.spending import BlockAttention, attention_content, measure_attention
from lengthwise.probes.shown.inputs import Inputs
from lengthwise.tasks import tasks

TOKENS = 12


def made(keys: torch.Tensor, causal: bool, rule: str = "softmax") -> AttentionPart:
    """One head over one-hot tokens, whose logit for token k is keys[k] whoever asks: a constant query."""
    n = len(keys)
    zero, one = torch.zeros(1, 1, n, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    look = keys.double()[None, None]
    out = torch.zeros(1, n, 1, dtype=torch.float64)
    return AttentionPart(zero, look, zero, out, one, None, None, None, 1.0, causal, rule=rule)


def looked_at(part: AttentionPart, tokens: torch.Tensor, names=None) -> tuple[dict[str, Any], BlockAttention]:
    n = part.wk.shape[-1]
    flat = torch.zeros(n, n, dtype=torch.float64)
    block = BlockPart("pre", None, part, None, MlpPart("plain", flat, None, None, flat, None, "relu"))
    anatomy = Anatomy("made", torch.eye(n, dtype=torch.float64), None, None, (block,), None, None, parameters=1)
    trace = run(anatomy, tokens)
    content = attention_content(anatomy, trace, Inputs(tokens, "x", names))
    return content, measure_attention(part, trace.blocks[0])


def in_order(sequences: int = 2) -> torch.Tensor:
    return torch.arange(TOKENS).repeat(sequences, 1)


@pytest.mark.parametrize("causal", [True, False])
def test_even_attention_has_no_hubs(causal: bool) -> None:
    _, found = looked_at(made(torch.zeros(TOKENS), causal), in_order())
    assert found.report.entropy.mean() == pytest.approx(found.even)
    assert found.even == pytest.approx(math.lgamma(TOKENS + 1) / TOKENS if causal else math.log(TOKENS))
    assert not found.hubs.any() and not found.to_hubs.any()
    assert np.abs(found.columns_off).max() <= 1e-12 and found.report.ratio[found.top] == pytest.approx(1)
    assert found.plan is None if causal else found.plan == pytest.approx(0, abs=1e-12)


def test_a_token_that_all_look_at_is_a_hub() -> None:
    keys = torch.zeros(TOKENS)
    keys[4] = 60.0
    tokens = torch.stack([torch.arange(TOKENS), torch.arange(TOKENS).roll(2)])  # token 4 stands at 4, and at 6
    content, found = looked_at(made(keys, causal=False), tokens, lambda token: f"<{token}>")
    assert np.argwhere(found.hubs).tolist() == [[0, 0, 4], [1, 0, 6]]
    assert found.to_hubs == pytest.approx(1) and found.columns_off == pytest.approx(1 - 1 / TOKENS)
    assert found.plan == pytest.approx(1 - 1 / TOKENS, abs=1e-4)  # the plan of equal rows is even
    assert content["tables"][2].rows == (
        (0, 4, "<4>", 1, *[pytest.approx(TOKENS)] * 2),
        (0, 6, "<4>", 1, *[pytest.approx(TOKENS)] * 2),
    )
    to_hubs, entropy, most = content["claims"][:3]
    assert (to_hubs.value, entropy.value, most.value) == pytest.approx((1, 0, 1), abs=1e-9)
    assert [most.evidence[name] for name in ("token", "place", "block", "head")] == ["<4>", 4, 0, 0]
    assert content["figures"][0].data["rows"] == [{"x": 0, "y": 0, "value": pytest.approx(1)}]


def test_in_a_decoder_the_hub_counts_those_who_see_it() -> None:
    keys = torch.zeros(TOKENS)
    keys[4] = 60.0
    _, found = looked_at(made(keys, causal=True), in_order(1))
    share = sum(1 / (n + 1) for n in range(4, TOKENS))
    assert np.argwhere(found.hubs).tolist() == [[0, 0, 4]]
    assert found.report.ratio[0, 0, 4] == pytest.approx((TOKENS - 4) / share)
    assert found.to_hubs == pytest.approx((TOKENS - 4) / TOKENS)


def test_tokens_that_look_at_themselves_are_no_hubs_though_the_last_have_small_shares() -> None:
    weights = torch.eye(TOKENS, dtype=torch.float64).expand(1, 1, -1, -1)
    trace = BlockTrace(*[weights] * 7)
    found = measure_attention(made(torch.zeros(TOKENS), causal=True), trace)
    assert found.report.hubs.any() and not found.hubs.any()


RULES = {
    "softmax:temperature=0.5": ("softmax", 1.0),
    "window:size=3": ("softmax", 0.5),
    "log_length": ("softmax", math.log(10) / 2),
    "sinkhorn:tau=1,temperature=0.25": ("sinkhorn_prefixes", 2.0),
    "hardmax": ("hardmax", None),
}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_its_section(rule: str, causal: bool) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        architecture = Architecture(2, 8, 2, 2, causal, attentions.make(rule), make_position("rope"))
        anatomy = anatomy_of(Transformer(architecture, Interface(9, 9, 40, 12)))
    tokens = torch.randint(9, (3, 10), generator=torch.Generator().manual_seed(0))
    found = attention_content(anatomy, run(anatomy, tokens), Inputs(tokens, "x"))
    table = found["tables"][0]
    has_plan = not causal and rule != "hardmax"
    assert table.columns[-1].name == ("plan_off" if has_plan else "columns_off") and len(table.rows) == 2
    for row in table.rows:
        assert 0 <= row[1] <= row[2] * (1 + 1e-12) and all(0 <= part <= 1 for part in row[5:])  # pyright: ignore
    name, value = RULES[rule]
    (constant,) = found["claims"][3:]  # once, though there are two blocks
    assert (constant.key == "attention.no_constant") == (name == "hardmax")
    assert constant.value == (None if value is None else pytest.approx(value))
    assert constant.status == ("holds" if value else "refused")


def test_the_plan_is_that_of_the_logits() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        architecture = Architecture(1, 8, 2, 2, False, attentions.make("sinkhorn:tau=inf"), make_position("rope"))
        anatomy = anatomy_of(Transformer(architecture, Interface(9, 9, 40, 12)))
    trace = run(anatomy, torch.randint(9, (3, 10), generator=torch.Generator().manual_seed(0))).blocks[0]
    part = anatomy.blocks[0].attention
    found = measure_attention(part, trace)
    assert found.plan == pytest.approx(0, abs=1e-3) and found.columns_off.max() <= 1e-6
    soft = measure_attention(_as_softmax(part), _with_weights(trace, trace.attention_logits.softmax(-1)))
    plan = sinkhorn(trace.attention_logits[:, 0], 1.0, math.inf, 1e-12).weights
    moved = (plan - trace.attention_logits[:, 0].softmax(-1)).abs().sum(dim=(1, 2)) / 2 / 10
    assert soft.plan == pytest.approx(float(moved.mean()), abs=1e-3) and soft.plan > 1e-4


def _as_softmax(part: AttentionPart) -> AttentionPart:
    return AttentionPart(**{**vars(part), "rule": "softmax"})


def _with_weights(trace: BlockTrace, weights: torch.Tensor) -> BlockTrace:
    return BlockTrace(**{**vars(trace), "attention_weights": weights})


def test_models_of_others_and_our_runs() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = transformers.GPT2Config(vocab_size=31, n_positions=40, n_embd=24, n_layer=2, n_head=4)
        gpt = transformers.GPT2LMHeadModel(config).eval()
        vocabulary = len(tasks.make("sort").vocabulary)
        architecture = Architecture(1, 8, 2, 2, position=make_position("rope"))
        ours = Transformer(architecture, Interface(vocabulary, vocabulary, 40, 12))
    found = lw.inspect(gpt, probes=["attention"]).record("attention")
    assert not found.failed and len(found.tables[0].rows) == 2 and len(found.figures[0].data["rows"]) == 8
    assert found.claims[3].value == 0.5
    own = lw.inspect(ours, task="sort", probes=["attention"]).record("attention")
    symbols = tasks.make("sort").vocabulary
    assert not own.failed and own.claims[2].evidence["token"] in symbols
