"""The probe of inverse temperatures: a block whose beta is known, one that has none, and models of ours."""

from __future__ import annotations

import pytest
import torch

from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.attention import attentions
from lengthwise.models.forward import run
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.temperature.fitted import FITS, fit_block, temperature_content

WIDTH, TOKENS = 6, 24


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def made(queries: torch.Tensor, keys: torch.Tensor, causal: bool, norm: NormPart | None = None) -> Anatomy:
    """One block without an MLP that does anything, with these matrices [H, W, W]; tokens have any length."""
    nothing = torch.zeros(1, WIDTH, dtype=torch.float64)
    still = MlpPart("plain", nothing, None, None, nothing.T, None, "relu")
    out = drawn(*queries.shape, seed=5)
    part = AttentionPart(queries, keys, queries, out, None, None, None, None, 1.0, causal)
    embed = drawn(TOKENS, WIDTH, seed=1) * drawn(TOKENS, 1, seed=2).exp()
    embed = embed if norm is not None else embed / embed.norm(dim=1, keepdim=True)
    return Anatomy("made", embed, None, None, (BlockPart("pre", norm, part, None, still),), None, None)


def eyes(*scales: float) -> torch.Tensor:
    return torch.stack([scale * torch.eye(WIDTH, dtype=torch.float64) for scale in scales])


def shown(anatomy: Anatomy):
    tokens = torch.stack([torch.randperm(TOKENS, generator=torch.Generator().manual_seed(s)) for s in range(3)])
    trace = run(anatomy, tokens)
    heads = fit_block(anatomy.blocks[0].attention, trace.blocks[0], 0)
    return heads, temperature_content(anatomy, trace, "x")


@pytest.mark.parametrize("causal", [True, False])
def test_the_beta_of_a_block_is_found_head_by_head(causal: bool) -> None:
    """With unit vectors, W_q = beta I and W_k = I the logits are beta <x, y>."""
    heads, content = shown(made(eyes(0.5, 7.0, -2.0), eyes(1, 1, 1), causal))
    assert [one.fit.beta for one in heads] == pytest.approx([0.5, 7.0, -2.0], rel=1e-5)
    assert all(one.fit.explained == pytest.approx(1, abs=1e-6) for one in heads)
    median, fitting, best = content["claims"]
    assert median.value == pytest.approx(1, abs=1e-6) and fitting.value == 3
    assert best.status == "holds" and {claim.kind for claim in content["claims"]} == {"measured"}
    assert [row[2] for row in content["tables"][0].rows] == pytest.approx([0.5, 7.0, -2.0], rel=1e-5)
    assert len(content["figures"]) == 1


def test_a_norm_sets_the_temperature() -> None:
    """RMS norm gives vectors of length sqrt(W), so W_q = c I means beta = c W whatever the lengths were."""
    norm = NormPart("rms", torch.ones(WIDTH, dtype=torch.float64), None, 0.0)
    heads, _ = shown(made(eyes(0.3), eyes(1.0), True, norm))
    assert heads[0].fit.beta == pytest.approx(0.3 * WIDTH, rel=1e-5)


def test_other_queries_and_keys_do_not_fit_and_it_shows() -> None:
    heads, content = shown(made(6 * drawn(2, WIDTH, WIDTH, seed=3), drawn(2, WIDTH, WIDTH, seed=4), False))
    assert all(one.fit.explained is not None and one.fit.explained < 0.3 for one in heads)
    _, fitting, best = content["claims"]
    assert fitting.value == 0 and best.status == "vacuous" and best.evidence["explained"] < FITS


def test_even_attention_is_unknown() -> None:
    _, content = shown(made(eyes(0.0), eyes(1.0), True))
    (claim,) = content["claims"]
    assert claim.status == "unknown" and claim.value is None and content["figures"] == ()


@pytest.mark.parametrize("rule", ["softmax", "hardmax", "window:size=3", "sinkhorn:tau=1,temperature=0.25"])
def test_every_rule_is_fitted(rule: str) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        architecture = Architecture(2, 8, 2, 2, True, attentions.make(rule), make_position("rope"))
        anatomy = anatomy_of(Transformer(architecture, Interface(9, 9, 40, 12)))
    tokens = torch.randint(9, (2, 10), generator=torch.Generator().manual_seed(0))
    content = temperature_content(anatomy, run(anatomy, tokens), "x")
    rows = content["tables"][0].rows
    assert len(rows) == 4 and all(row[5] is None or -1e-9 <= row[5] <= 1 + 1e-9 for row in rows)
