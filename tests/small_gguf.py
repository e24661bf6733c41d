"""A Llama of a few thousand weights as a GGUF file, and the model of `transformers` that the file stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}


def small_llama(path: Path, block: str = "Q8_0", vocabulary: int = 40) -> Any:
    """Write the file, its matrices in blocks of the type `block`; what is given back holds the weights as rounded."""
    import gguf
    import transformers

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    config = transformers.LlamaConfig(
        vocab_size=vocabulary, num_key_value_heads=2, max_position_embeddings=16, tie_word_embeddings=False, **sizes
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config).eval()
    writer, kind = gguf.GGUFWriter(path, "llama"), gguf.GGMLQuantizationType[block]
    _describe(writer, config)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            place, array = _named(name), (8 * tensor).numpy().copy()
            interleaved = heads.get(place.split(".")[2]) if place.startswith("blk.") else None
            if array.ndim == 1:
                writer.add_tensor(place, array)
                tensor.copy_(torch.from_numpy(array))
                continue
            blocks = gguf.quantize(_interleaved(array, interleaved), kind)
            writer.add_tensor(place, blocks, raw_dtype=kind)
            tensor.copy_(torch.from_numpy(_halves(gguf.dequantize(blocks, kind), interleaved)))
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return model


def _describe(writer: Any, config: Any) -> None:
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([f"token{number}" for number in range(config.vocab_size)])


def _named(name: str) -> str:
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return name.replace("model.layers.", "blk.")


def _interleaved(array: np.ndarray, heads: int | None) -> np.ndarray:
    """GGUF turns neighbouring coordinates of a head by one angle, transformers those half a head apart."""
    if heads is None:
        return array
    return np.ascontiguousarray(array.reshape(heads, 2, -1, array.shape[1]).swapaxes(1, 2)).reshape(array.shape)


def _halves(array: np.ndarray, heads: int | None) -> np.ndarray:
    if heads is None:
        return array
    return np.ascontiguousarray(array.reshape(heads, -1, 2, array.shape[1]).swapaxes(1, 2)).reshape(array.shape)
