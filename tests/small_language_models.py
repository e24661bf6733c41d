"""Language models of `transformers` made in a moment: random weights, a byte-level tokenizer and a chat template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers

END, BEGIN = "<|im_end|>", "<|im_start|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SIZES = {
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 400},
    "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
}
USUAL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 400,
}


def write_byte_tokenizer(folder: Path, template: str | None = TEMPLATE) -> int:
    """A tokenizer of bytes and two special tokens, with its settings; gives the number of tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)  # pyright: ignore
    tokenizer.decoder = decoders.ByteLevel()  # pyright: ignore
    tokenizer.add_special_tokens([AddedToken(BEGIN), AddedToken(END)])
    tokenizer.save(str(folder / "tokenizer.json"))
    begin = {"__type": "AddedToken", "content": BEGIN, "special": True}
    settings = {"eos_token": END, "bos_token": begin, **({"chat_template": template} if template else {})}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return tokenizer.get_vocab_size()


def small_decoder(folder: Path, kind: str = "llama", template: str | None = TEMPLATE, **settings: Any) -> Path:
    """A decoder of two layers and its tokenizer; weights are large enough for answers to differ."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_byte_tokenizer(folder, template)
    special = {"eos_token_id": vocabulary - 1, "bos_token_id": vocabulary - 2, "pad_token_id": None}
    special["tie_word_embeddings"] = False  # else they repeat what they read last
    sizes = {**SIZES.get(kind, USUAL), "vocab_size": vocabulary, **special, **settings}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(
            transformers.AutoConfig.for_model(kind, **sizes), attn_implementation="eager"
        )
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    parameter.mul_(0.4 / parameter.std())
    model.save_pretrained(folder)
    return folder
