"""The parts of our Transformer: `anatomy_of` takes a model apart, in float64.

What the parts are is in parts.py, the forward pass from them in forward.py.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart, TablePart
from lengthwise.models.placed import precise
from lengthwise.models.transformer import Block, Transformer
from lengthwise.positions.networks.encoders import Encoder, LearnedEncoder, RopeEncoder, SinusoidalEncoder
from lengthwise.positions.networks.limit import PeriodicEncoder

Scores = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor | None]


def anatomy_of(model: Transformer, name: str = "the model") -> Anatomy:
    """The parts of our Transformer, copied into float64."""
    if not isinstance(model, Transformer):
        raise UsageError(
            f"anatomy_of takes a lengthwise Transformer, not a {type(model).__name__}; "
            "lengthwise.models.huggingface takes apart the others"
        )
    model = precise(copy.deepcopy(model)).requires_grad_(False).eval()
    position, shape = model.architecture.position, model.shape
    anatomy = Anatomy(
        name=name,
        embed=model.embedding.weight,
        table=_table(model.encoder),
        norm_embed=None,
        blocks=tuple(_block(block, model) for block in model.blocks if isinstance(block, Block)),
        norm_final=norm_part(model.norm),
        head=model.output.weight,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        counted=lambda length: position.indices(length, 1, shape, None, training=False),
    )
    check_finite(anatomy)
    return anatomy


def check_finite(anatomy: Anatomy) -> None:
    """Refuse weights that hold NaN or infinity: every number computed from them would be one too."""
    for name, tensor in anatomy.tensors():
        if not bool(torch.isfinite(tensor).all()):
            bad = int((~torch.isfinite(tensor)).sum())
            raise UsageError(
                f"{anatomy.name}: {bad} of the {tensor.numel()} weights of {name} are NaN or infinite; "
                "only a model with finite weights can be inspected"
            )


def _table(encoder: Encoder) -> TablePart | None:
    if type(encoder).embed is Encoder.embed:
        return None
    if isinstance(encoder, LearnedEncoder):
        rows = encoder.table.data
        return TablePart(lambda at: rows[at], rows, float(rows.norm(dim=1).max()))
    radius = None
    if isinstance(encoder, SinusoidalEncoder):  # sin² + cos² = 1 for each pair, or one sine more where W is odd
        radius = float(encoder.amplitude) * math.sqrt((encoder.width + 1) // 2)
    elif isinstance(encoder, PeriodicEncoder):
        radius = float(encoder.table.data.norm(dim=1).max())
    return TablePart(encoder.embed, None, radius)  # pyright: ignore[reportArgumentType]  # it is overridden


def _block(block: Block, model: Transformer) -> BlockPart:
    first, _, second = block.mlp
    assert isinstance(first, nn.Linear) and isinstance(second, nn.Linear)
    mlp = MlpPart("plain", first.weight, first.bias, None, second.weight, second.bias, "relu")
    attention = _attention(block, model)
    return BlockPart("pre", norm_part(block.attention_norm), attention, norm_part(block.mlp_norm), mlp)


def norm_part(norm: nn.LayerNorm) -> NormPart:
    """The part of torch's LayerNorm."""
    return NormPart("layer", norm.weight, norm.bias, norm.eps)


def _attention(block: Block, model: Transformer) -> AttentionPart:
    heads, encoder, rule = model.shape.heads, model.encoder, model.architecture.attention
    wq, wk, wv = (part.unflatten(0, (heads, -1)) for part in block.attention.qkv.weight.chunk(3))
    bq, bk, bv = (part.unflatten(0, (heads, -1)) for part in block.attention.qkv.bias.chunk(3))
    turns, factor, scores = _turns(encoder)
    return AttentionPart(
        *(wq, wk, wv, block.attention.out.weight.unflatten(1, (heads, -1)).transpose(0, 1)),
        *(bq, bk, bv, block.attention.out.bias),
        scale=factor**2 / math.sqrt(model.shape.head_width),
        causal=model.architecture.causal,
        rotary=turns,
        bias=None if type(encoder).bias is Encoder.bias else encoder.bias,  # pyright: ignore[reportArgumentType]
        rule=attentions.text_of(rule),
        scores=scores,
        network=block.attention.network,
    )


def _turns(encoder: Encoder) -> tuple[Tensor | None, float, Scores | None]:
    """The angles of an encoding, its factor on q and on k each, and its own scores where angles are not all of it."""
    own_scores = type(encoder).scores is not Encoder.scores
    if isinstance(encoder, RopeEncoder):
        # The scores of dynamic RoPE do the turning themselves; the factor is then 1, as only YaRN has another.
        return encoder.turns, encoder.factor, encoder.scores if own_scores else None
    if not own_scores and type(encoder).rotate is Encoder.rotate:
        return None, 1.0, None

    def scores(q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor:
        special = encoder.scores(q, k, queries_at, keys_at, index)
        if special is not None:
            return special
        return encoder.rotate(q, queries_at) @ encoder.rotate(k, keys_at).transpose(2, 3)

    return None, 1.0, scores
