"""Small models to make bounds for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from small_runs import trained


@pytest.fixture(scope="session")
def prose_run(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("runs") / "prose")


@pytest.fixture(scope="session")
def sort_run(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("runs") / "sort", "sort")


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory) -> Path:
    """A Llama of 31 tokens with a tokenizer of words."""
    folder = tmp_path_factory.mktemp("models") / "llama"
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    config = transformers.LlamaConfig(vocab_size=31, max_position_embeddings=16, tie_word_embeddings=True, **sizes)
    return _saved(folder, lambda: transformers.LlamaForCausalLM(config))


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    config = transformers.GPT2Config(vocab_size=31, n_embd=24, n_layer=2, n_head=4, n_positions=16)
    return _saved(folder, lambda: transformers.GPT2LMHeadModel(config))


def _saved(folder: Path, make) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        make().save_pretrained(folder)
    cutter = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}))
    cutter.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    (folder / "tokenizer.json").write_text(cutter.to_str())
    return folder


@pytest.fixture(scope="session")
def texts(tmp_path_factory) -> Path:
    """60 documents of different lengths, tokens and texts by turns."""
    path = tmp_path_factory.mktemp("data") / "texts.jsonl"
    lines = []
    for number in range(60):
        tokens = [(7 * number + 3 * place * place) % 26 for place in range(2 + number % 37)]
        text = " ".join(chr(ord("a") + token) for token in tokens)
        lines.append(json.dumps({"tokens": tokens} if number % 2 else {"text": text}))
    path.write_text("\n".join(lines) + "\n\n")
    return path
