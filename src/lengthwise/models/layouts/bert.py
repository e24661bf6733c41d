"""BERT and RoBERTa: encoders with post-norm, a learned table of positions, and token types."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.layouts.weights import Weights, activation
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, TablePart

_HEADS = {
    "pooler.": "it reads the first token's last hidden state alone; the outputs here are all last hidden states",
    "cls.": "a head for pre-training; the outputs here are hidden states",
    "lm_head.": "a head for pre-training; the outputs here are hidden states",
    "classifier.": "a head for one task; the outputs here are hidden states",
    "qa_outputs.": "a head for one task; the outputs here are hidden states",
}


def anatomy_of_bert(config: Any, weights: Weights) -> Anatomy:
    """The parts of the encoder: outputs are the last hidden states, and every token has type 0."""
    if getattr(config, "add_cross_attention", False):
        raise UsageError(f"{weights.name} attends to a second input (cross-attention), which has no parts here")
    kind = getattr(config, "position_embedding_type", "absolute") or "absolute"
    if kind != "absolute":
        raise UsageError(f"{weights.name} uses positions of the kind {kind!r}, which have no parts here; absolute have")
    embed = weights.take("embeddings.word_embeddings.weight")
    types = weights.take("embeddings.token_type_embeddings.weight")
    rows = weights.take("embeddings.position_embeddings.weight") + types[0]
    if "roberta" in config.model_type or config.model_type == "camembert":
        rows = rows[config.pad_token_id + 1 :]  # where these models begin to count
    other = () if len(types) == 1 else ((f"token types 1 to {len(types) - 1}", "every token is given type 0"),)
    return Anatomy(
        name=weights.name,
        embed=embed,
        table=TablePart(lambda at: rows[at], rows, float(rows.norm(dim=1).max())),
        norm_embed=weights.norm("embeddings.LayerNorm", config.layer_norm_eps),
        blocks=tuple(_block(config, weights, f"encoder.layer.{layer}") for layer in range(config.num_hidden_layers)),
        norm_final=None,
        head=None,
        head_bias=None,
        skipped=(*other, *weights.skipped(_HEADS)),
    )


def _block(config: Any, weights: Weights, place: str) -> BlockPart:
    heads, eps = config.num_attention_heads, config.layer_norm_eps

    def split(which: str) -> tuple[Tensor, Tensor]:
        weight, bias = (weights.take(f"{place}.attention.self.{which}.{kind}") for kind in ("weight", "bias"))
        return weight.unflatten(0, (heads, -1)), bias.unflatten(0, (heads, -1))

    (wq, bq), (wk, bk), (wv, bv) = split("query"), split("key"), split("value")
    out = f"{place}.attention.output"
    attention = AttentionPart(
        *(wq, wk, wv, weights.take(f"{out}.dense.weight").unflatten(1, (heads, -1)).transpose(0, 1)),
        *(bq, bk, bv, weights.take(f"{out}.dense.bias")),
        scale=1 / math.sqrt(wq.shape[1]),
        causal=bool(config.is_decoder),
    )
    mlp = MlpPart(
        "plain",
        weights.take(f"{place}.intermediate.dense.weight"),
        weights.take(f"{place}.intermediate.dense.bias"),
        None,
        weights.take(f"{place}.output.dense.weight"),
        weights.take(f"{place}.output.dense.bias"),
        activation(weights.name, config.hidden_act),
    )
    norm, norm_mlp = weights.norm(f"{out}.LayerNorm", eps), weights.norm(f"{place}.output.LayerNorm", eps)
    return BlockPart("post", norm, attention, norm_mlp, mlp)
