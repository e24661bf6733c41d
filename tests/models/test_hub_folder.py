"""Folders of the Hub: what is read is what was saved, and what is wrong in one is a sentence."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from lengthwise.errors import UsageError
from lengthwise.models.hub_folder import checked_config, weight_files
from lengthwise.models.huggingface import read_huggingface, read_text_model
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.tokenizer import tokenizer_beside
from planted import without
from small_hub import WORDS, small_bert, small_gpt2


def anatomy_in(path: Path):
    return open_subject(path).capability("anatomy")


TOKENS = torch.tensor([[2, 4, 5, 6, 4, 3]])


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> Path:
    return small_gpt2(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def copied(gpt2, tmp_path) -> Path:
    return Path(shutil.copytree(gpt2, tmp_path / "model"))


def states(model) -> torch.Tensor:
    with torch.no_grad():
        return model.base_model(TOKENS).last_hidden_state


def test_weights_in_several_files_are_read(gpt2, tmp_path):
    model = transformers.GPT2LMHeadModel.from_pretrained(gpt2).eval()
    model.save_pretrained(tmp_path, max_shard_size="5KB")
    assert len(weight_files(tmp_path)) > 1
    found, skipped = read_huggingface(tmp_path)
    assert torch.equal(states(found), states(read_huggingface(gpt2)[0])) and skipped == ()


def test_a_folder_of_the_cache_of_the_hub_is_read(gpt2, tmp_path):
    """There, a model is a folder of links to files that are named by their digests."""
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "1234", tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(gpt2.iterdir()):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(Path("../../blobs") / str(number))
    assert torch.equal(states(read_text_model(snapshot)), states(read_text_model(gpt2)))
    assert tokenizer_beside(snapshot, None) is not None


def test_attention_is_eager_whatever_the_config_says(copied):
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "attn_implementation": "sdpa", "dtype": "float16"}))
    model = read_text_model(copied)
    assert model.config._attn_implementation == "eager" and next(model.parameters()).dtype == torch.float32


def test_a_head_that_is_tied_is_not_missing_and_one_that_is_not_is(gpt2, tmp_path):
    assert not any("lm_head" in path for path in _names(gpt2))
    read_huggingface(gpt2)
    config = transformers.GPT2Config(vocab_size=9, n_embd=16, n_layer=1, n_head=2, tie_word_embeddings=False)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    without(tmp_path, "lm_head")
    with pytest.raises(UsageError, match=r"the weight lm_head\.weight is missing"):
        anatomy_in(tmp_path)
    read_text_model(tmp_path)  # which has no head


def _names(folder: Path) -> list[str]:
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", "pt") as file:
        return list(file.keys())


def test_weights_that_a_class_says_may_be_missing_are_not_made_up(copied, monkeypatch):
    """Some classes of transformers list weights whose absence is not reported; they would still be drawn at random."""
    without(copied, "h.1.")
    monkeypatch.setattr(transformers.GPT2Model, "_keys_to_ignore_on_load_missing", [r"h\.1\."])
    with pytest.raises(UsageError, match="drawn at random"):
        read_text_model(copied)


def test_a_pooler_may_be_missing_as_nothing_reads_it(tmp_path):
    folder = small_bert(tmp_path)
    expected = states(read_text_model(folder))
    without(folder, "pooler.")
    assert torch.equal(states(read_text_model(folder)), expected)
    without(folder, "LayerNorm.bias")
    with pytest.raises(UsageError, match="5 weights are missing"):
        read_text_model(folder)


def test_tokens_are_those_of_transformers(tmp_path):
    """Also where the file asks for special tokens, padding and truncation, of which only the first are wanted."""
    from tokenizers import Tokenizer, processors

    folder = small_gpt2(tmp_path)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.post_processor = processors.TemplateProcessing(  # pyright: ignore
        single="[ $A ]", special_tokens=[("[", WORDS.index("[")), ("]", WORDS.index("]"))]
    )
    made.enable_truncation(4)
    made.enable_padding(length=9)
    made.save(str(folder / "tokenizer.json"))
    cutter = tokenizer_beside(folder, None)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    text = "a b c a b c"
    assert cutter is not None and cutter.cut(text) == tokenizer(text, truncation=False, padding=False)["input_ids"]
    assert len(cutter.cut(text)) == 8


def test_a_broken_tokenizer_is_one_sentence(copied):
    (copied / "tokenizer.json").write_text('{"model": {"type": "Evil"}}')
    with pytest.raises(UsageError, match="cannot be read as a tokenizer"):
        tokenizer_beside(copied, None)


@pytest.mark.parametrize("kind", ["t5", "evil", "vit", "timm_wrapper"])
def test_only_models_of_text_are_read(copied, kind):
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "model_type": kind}))
    with pytest.raises(UsageError, match=f"of the type '{kind}'"):
        read_text_model(copied)


@pytest.mark.parametrize("content", ["[]", "7", "null", '{"model_type": 3}', "{}", "{", "\xff"])
def test_a_config_that_is_none_is_one_sentence(copied, content):
    (copied / "config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        checked_config(copied)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, "x", -1, [], {}, 0.5], ids=str)
def test_settings_that_make_no_sense_are_one_sentence(copied, value):
    """Whatever a stranger writes there, it is loaded or refused, without a traceback and without a network."""
    config = json.loads((copied / "config.json").read_text())
    for key in config.keys() - {"model_type"}:
        (copied / "config.json").write_text(json.dumps({**config, key: value}))
        with contextlib.suppress(UsageError):
            anatomy_in(copied)


@pytest.mark.parametrize(
    "content", ["{}", '{"weight_map": {}}', '{"weight_map": {"a": 3}}', '{"weight_map": []}', "[]"]
)
def test_an_index_that_is_none_is_one_sentence(copied, content):
    (copied / "model.safetensors").unlink()
    (copied / "model.safetensors.index.json").write_text(content)
    with pytest.raises(UsageError, match=r"index\.json"):
        weight_files(copied)
