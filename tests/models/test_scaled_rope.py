"""Scalings of RoPE in models of transformers: the same as its own, no keys of an older base, nothing stored changed."""

from __future__ import annotations

import copy

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.forward import run
from lengthwise.models.huggingface import anatomy_of_huggingface
from lengthwise.models.scaled_rope import by_transformers, original_length, rescaled, rope_parameters
from lengthwise.positions.scaling import make_scaling
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.scaled import scaled
from small_gguf import small_llama
from small_language_models import small_decoder

transformers = pytest.importorskip("transformers")
CONTEXT = 64
THEIRS = ("linear:factor=4", "yarn:factor=4", "llama3:factor=4", "dynamic:factor=4", "dynamic", "none")


def made(kind="llama", **rope):
    """A small model of 64 tokens, with logits of about 1."""
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    sizes |= {} if kind == "gpt_neox" else {"num_key_value_heads": 2}
    parameters = {"rope_theta": 10000.0, "rope_type": "default", **rope}
    config = transformers.AutoConfig.for_model(
        kind, **sizes, vocab_size=50, max_position_embeddings=CONTEXT, rope_parameters=parameters
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.data.mul_(0.2 / parameter.data.std())
    return model


@pytest.fixture(scope="module")
def model():
    return made()


TOKENS = torch.arange(200)[None] * 7 % 50


@torch.inference_mode()
def logits(model, tokens=TOKENS):
    return model(input_ids=tokens, use_cache=False).logits


@pytest.mark.parametrize("spec", THEIRS)
@pytest.mark.parametrize("kind", ["llama", "qwen2", "mistral", "gpt_neox"])
def test_logits_are_those_of_transformers_with_the_same_scaling(kind, spec):
    plain, scaling = made(kind), make_scaling(spec)
    theirs = made(kind, **rope_parameters(plain.config, scaling))
    ours = rescaled(plain, scaling, 4)
    assert float((logits(ours) - logits(theirs)).abs().max()) <= 1e-4
    assert float((logits(by_transformers(ours)) - logits(theirs)).abs().max()) <= 1e-6
    assert spec == "none" or float((logits(ours) - logits(plain)).abs().max()) > 0.01


@pytest.mark.parametrize(
    "spec", ["linear:factor=4", "yarn:factor=4", "llama3:factor=4", "ntk:factor=4", "by_parts:factor=4"]
)
def test_a_pass_from_the_parts_gives_the_same(model, spec):
    ours = rescaled(model, make_scaling(spec))
    found = run(anatomy_of_huggingface(ours), TOKENS).logits
    assert found is not None and float((found - logits(ours)).abs().max()) <= 1e-4


def test_the_model_itself_stays_as_it_is(model):
    before, config = logits(model), copy.deepcopy(model.config.to_dict())
    ours = rescaled(model, make_scaling("yarn:factor=4"))
    logits(ours)
    assert torch.equal(logits(model), before) and model.config.to_dict() == config
    assert [p.data_ptr() for p in ours.parameters()] == [p.data_ptr() for p in model.parameters()]
    assert ours.config.max_position_embeddings == 4 * CONTEXT


def test_the_original_length_is_the_one_before_a_scaling_of_the_models_own():
    """YaRN of a model that was extended to 256 before: its ramp begins from the 64 that it was trained for."""
    own = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    extended = made(**own)
    assert original_length(extended.config) == 16
    ours = rescaled(extended, make_scaling("yarn:factor=4"))
    assert float((logits(ours) - logits(extended)).abs().max()) <= 1e-4
    assert ours.config.max_position_embeddings == 64
    other = rescaled(extended, make_scaling("yarn:factor=4,original=64"))
    assert float((logits(other) - logits(extended)).abs().max()) > 0.01
    plain = rescaled(extended, make_scaling("none"))
    assert float((logits(plain) - logits(made())).abs().max()) <= 1e-4


def test_the_attention_factor_multiplies_queries_and_keys(model):
    ours = rescaled(model, make_scaling("yarn:factor=4"))
    cos, sin = ours.base_model.rotary_emb(torch.zeros(1), torch.arange(5)[None])
    expected = torch.full((5, 16), (0.1 * torch.tensor(4.0).log() + 1).item() ** 2)
    assert torch.allclose((cos.square() + sin.square())[0], expected, atol=1e-6)


def test_dynamic_does_not_remember_a_longer_input(model):
    """The base of one call is not that of the next, as it is with transformers until an input is shorter than the
    original length."""
    ours = rescaled(model, make_scaling("dynamic"))
    short = TOKENS[:, :100]
    before = logits(ours, short)
    logits(ours, TOKENS)
    assert torch.equal(logits(ours, short), before)
    theirs = by_transformers(ours)
    logits(theirs, TOKENS)
    assert float((logits(theirs, short) - before).abs().max()) > 0.01  # the trap


def test_kept_keys_of_dynamic_would_be_wrong_and_are_not_kept(tmp_path):
    """Generation with a cache mixes keys of several bases; completions are those of a whole pass for each token."""
    subject = scaled(open_subject(small_decoder(tmp_path / "m", max_position_embeddings=40)), "dynamic", 4)
    found = subject.capability("completions")
    assert not found.shares and found.context == 160
    prompt, wrong = Prompt("Sort the numbers.", (("2 1", "1 2"),), "3 1 4 1 5 9 2 6"), 0
    ((_, one),) = found.complete([prompt], chat=False, budget=8)
    tokens = found._tokens(prompt.text(), chat=False)
    assert len(tokens) > 40
    cached = found.model.generate(torch.tensor([tokens]), max_new_tokens=8, do_sample=False, use_cache=True)
    for _ in range(one.tokens):
        tokens.append(int(logits(found.model, torch.tensor([tokens]))[0, -1].argmax()))
    assert found.tokenizer.decode(tokens[one.prompt_tokens :], skip_special_tokens=True) == one.text
    wrong += cached[0].tolist() != tokens
    assert wrong, "keys of an older base made no difference, so this test shows nothing"


def test_fixed_scalings_keep_their_keys(tmp_path):
    subject = scaled(open_subject(small_decoder(tmp_path / "m", max_position_embeddings=60)), "yarn:factor=4")
    found = subject.capability("completions")
    assert found.shares and found.apart and found.context == 240
    prompt = Prompt("Sort the numbers.", (("2 1", "1 2"),), "3 1 4 1 5 9 2 6 5 3 5 8 9 7 9")
    ((_, one),) = found.complete([prompt], chat=False, budget=8)
    tokens = found._tokens(prompt.text(), chat=False)
    for _ in range(one.tokens):
        tokens.append(int(logits(found.model, torch.tensor([tokens]))[0, -1].argmax()))
    assert found.tokenizer.decode(tokens[one.prompt_tokens :], skip_special_tokens=True) == one.text


def test_a_gguf_file_is_read_with_it_too(tmp_path):
    small_llama(tmp_path / "small.gguf")
    subject = open_subject(tmp_path / "small.gguf")
    before = subject.files()
    found = scaled(subject, "linear:factor=4")
    tokens = TOKENS % subject.loaded[0].config.vocab_size
    theirs = by_transformers(found.decoder)
    size = float(logits(theirs, tokens).abs().max())
    assert float((logits(found.decoder, tokens) - logits(theirs, tokens)).abs().max()) <= 1e-4 * size
    assert float((logits(found.decoder, tokens) - logits(subject.decoder, tokens)).abs().max()) > 0.01 * size
    assert found.files() == before and ("rope", "linear:factor=4") in found.facts


def test_what_has_no_rope_is_refused(tmp_path):
    with pytest.raises(UsageError, match="nothing to scale"):
        scaled(open_subject(small_decoder(tmp_path / "m", "gpt2")), "yarn:factor=4")
    with pytest.raises(UsageError):
        rescaled(made(rope_type="proportional", partial_rotary_factor=0.5), make_scaling("yarn:factor=4"))
    for spec in ("ntk:factor=4", "by_parts:factor=4"):
        with pytest.raises(UsageError, match="transformers does not have"):
            by_transformers(rescaled(made(), make_scaling(spec)))
