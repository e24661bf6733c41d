"""Norms against the singular values, shared keys once, and lengths of hidden states."""

import pytest
import torch
import transformers

from lengthwise.models.forward import run
from lengthwise.models.huggingface import anatomy_of_huggingface
from lengthwise.probes.layers.matrices import matrices, norm_gains, radii, spectral_norm

SHAPES = [(5, 5), (3, 40), (40, 3), (1, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_spectral_norms_are_the_largest_singular_values(shape):
    generator = torch.Generator().manual_seed(1)
    some = [scale * torch.randn(shape, generator=generator).double() for scale in (1e-3, 1.0, 1e3)]
    expected = [float(torch.linalg.svdvals(matrix)[0]) for matrix in some]
    assert list(map(spectral_norm, some)) == pytest.approx(expected, rel=1e-12)
    assert spectral_norm(torch.zeros(shape)) == 0.0


@pytest.fixture(scope="module")
def llama():
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    config = transformers.LlamaConfig(vocab_size=31, num_key_value_heads=2, tie_word_embeddings=True, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.LlamaForCausalLM(config).double()


def test_matrices_are_those_that_are_stored(llama):
    found = {matrix.place: matrix for matrix in matrices(anatomy_of_huggingface(llama))}
    assert found["block 0 query"].shape == (24, 24) and found["block 0 key"].shape == (12, 24)
    assert "output" not in found  # it is the embedding
    stored = llama.model.layers[1].self_attn
    for name, module in (("key", stored.k_proj), ("value", stored.v_proj), ("out", stored.o_proj)):
        weight = module.weight.detach()
        assert found[f"block 1 {name}"].spectral == pytest.approx(float(torch.linalg.matrix_norm(weight, 2)))
        assert found[f"block 1 {name}"].frobenius == pytest.approx(float(weight.norm()))
    vectors = sum(p.numel() for p in llama.parameters() if p.ndim == 1)
    assert sum(matrix.parameters for matrix in found.values()) + vectors == anatomy_of_huggingface(llama).parameters


def test_norms_and_lengths_come_in_the_order_of_the_pass(llama):
    anatomy = anatomy_of_huggingface(llama)
    assert [place for place, kind, gain in norm_gains(anatomy) if kind == "rms" and gain == 1.0] == [
        "block 0 attention",
        "block 0 mlp",
        "block 1 attention",
        "block 1 mlp",
        "final",
    ]
    trace = run(anatomy, torch.arange(12)[None])
    found = radii(trace)
    assert [r.place for r in found][:3] == ["embedding", "block 0 attention", "block 0 mlp"] and len(found) == 6
    assert all(r.least <= r.median <= r.greatest for r in found)
    assert found[0].greatest == pytest.approx(float(anatomy.embed[:12].norm(dim=1).max()))
