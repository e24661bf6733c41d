"""Models in the layout of the Hugging Face Hub made in a moment: random weights and a few words."""

from __future__ import annotations

from pathlib import Path

import torch

WORDS = ("[UNK]", "[PAD]", *"()abc", "[", "]")


def write_tokenizer(folder: Path) -> None:
    """A tokenizer that splits at white space, as tokenizer.json."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # pyright: ignore
    tokenizer.save(str(folder / "tokenizer.json"))


def small_gpt2(folder: Path) -> Path:
    """A GPT-2 of two layers."""
    from transformers import GPT2Config, GPT2LMHeadModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=2, n_head=2, n_positions=40)
        GPT2LMHeadModel(config).save_pretrained(folder)
    write_tokenizer(folder)
    return folder


def small_bert(folder: Path) -> Path:
    """A BERT of two layers."""
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(BertConfig(vocab_size=len(WORDS), max_position_embeddings=40, **sizes)).save_pretrained(folder)
    write_tokenizer(folder)
    return folder
