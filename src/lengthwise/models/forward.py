"""A forward pass made from parts alone, which keeps what happened on the way.

That its logits equal the model's own is what tests/models/test_anatomy.py is about: it makes every statement about the
parts a statement about the model. All functions here can be differentiated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.attention.networks.network import AttentionInputs
from lengthwise.models.parts import ACTIVATIONS, Anatomy, AttentionPart, BlockPart, MlpPart, NormPart
from lengthwise.positions.networks.encoders import angles_at


@dataclass(frozen=True, eq=False)
class BlockTrace:
    """What happened in one block; hidden states are [B, T, W], logits and weights [B, H, queries, keys].

    A logit is what the attention rule weighs, -inf where a key is not seen. `entered` is the residual stream on the
    way in; `attention_input` and `mlp_input` are what the two parts read (normalised where the block is pre-norm);
    `after_attention` and `after_mlp` are the residual stream after each (normalised where it is post-norm).
    """

    entered: Tensor
    attention_input: Tensor
    attention_logits: Tensor
    attention_weights: Tensor
    after_attention: Tensor
    mlp_input: Tensor
    after_mlp: Tensor


@dataclass(frozen=True, eq=False)
class Trace:
    """A forward pass. `final` is the last hidden state after the last norm, `logits` None where there is no head."""

    embedded: Tensor
    blocks: tuple[BlockTrace, ...]
    final: Tensor
    logits: Tensor | None

    @property
    def output(self) -> Tensor:
        """The logits, or the last hidden states of a model that has no head."""
        return self.final if self.logits is None else self.logits


def run(anatomy: Anatomy, tokens: Tensor, at: Tensor | None = None) -> Trace:
    """Tokens [B, T] through the parts; `at` [B or 1, T] are their positions, the model's usual ones where None."""
    at = anatomy.places(tokens.shape[1]) if at is None else at
    return run_from(anatomy, embed(anatomy, tokens, at), at)


def embed(anatomy: Anatomy, tokens: Tensor, at: Tensor) -> Tensor:
    """What the first block reads, [B, T, W]: embeddings, position vectors, and their norm where there is one."""
    if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < len(anatomy.embed):
        wrong = int(tokens.min()) if int(tokens.min()) < 0 else int(tokens.max())
        raise UsageError(
            f"{anatomy.name} reads the tokens 0 to {len(anatomy.embed) - 1}, and {wrong} is not one of them; "
            "the inputs belong to another vocabulary"
        )
    tokens, at = tokens.to(anatomy.embed.device), at.to(anatomy.embed.device)
    x = anatomy.embed[tokens]
    if anatomy.table is not None:
        last = int(at.max())
        if anatomy.longest is not None and not (int(at.min()) >= 0 and last < anatomy.longest):
            raise UsageError(
                f"{anatomy.name} has vectors for {anatomy.longest} positions, and position {last} was asked for; "
                "give shorter inputs"
            )
        x = x + anatomy.table.vectors(at)
    return x if anatomy.norm_embed is None else apply_norm(anatomy.norm_embed, x)


def run_from(anatomy: Anatomy, x: Tensor, at: Tensor) -> Trace:
    """The same from what the first block reads, [B, T, W], which need not be the embedding of tokens."""
    embedded, blocks, at = x, [], at.to(x.device)
    for block in anatomy.blocks:
        blocks.append(apply_block(block, x, at))
        x = blocks[-1].after_mlp
    final = x if anatomy.norm_final is None else apply_norm(anatomy.norm_final, x)
    logits = None if anatomy.head is None else final @ anatomy.head.T
    return Trace(embedded, tuple(blocks), final, logits)


def apply_block(part: BlockPart, x: Tensor, at: Tensor) -> BlockTrace:
    """One block on the residual stream [B, T, W]."""
    pre = part.order != "post"
    read = _normed(part.norm_attention, x) if pre else x
    taken, logits, weights = apply_attention(part.attention, read, at)
    middle = x + taken if pre else _normed(part.norm_attention, x + taken)
    read_mlp = _normed(part.norm_mlp, x if part.order == "parallel" else middle) if pre else middle
    added = apply_mlp(part.mlp, read_mlp)
    out = middle + added if pre else _normed(part.norm_mlp, middle + added)
    return BlockTrace(x, read, logits, weights, middle, read_mlp, out)


def _normed(part: NormPart | None, x: Tensor) -> Tensor:
    return x if part is None else apply_norm(part, x)


def apply_norm(part: NormPart, x: Tensor) -> Tensor:
    if part.kind == "layer":
        x = x - x.mean(dim=-1, keepdim=True)
    scaled = x / (x.square().mean(dim=-1, keepdim=True) + part.eps).sqrt() * part.weight
    return scaled if part.bias is None else scaled + part.bias


def apply_attention(part: AttentionPart, x: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What tokens [B, T, W] at positions `at` take from those they see, and the logits and weights [B, H, T, T]."""
    q, k, v = _heads(x, part.wq, part.bq), _heads(x, part.wk, part.bk), _heads(x, part.wv, part.bv)
    q, k = _normed(part.norm_q, q), _normed(part.norm_k, k)
    index = torch.arange(x.shape[1], device=x.device)
    law = part.law
    last, hidden = index if part.causal else torch.full_like(index, x.shape[1] - 1), hidden_keys(part, x.shape[1])
    hidden = hidden.to(x.device)
    inputs = raw = None
    if part.network is not None:
        inputs = AttentionInputs(q, k, part.network.features(x), last, hidden, index)
        raw = part.network.scores(inputs)
    if raw is None and part.scores is not None:
        raw = part.scores(q, k, at, at, index)
    if raw is None:
        if part.rotary is not None:
            q, k = turned(q, at, part.rotary), turned(k, at, part.rotary)
        raw = q @ k.transpose(2, 3)
    logits = part.scale * raw
    if part.bias is not None:
        logits = logits + part.bias(at, at)
    sharpness = law.sharpness(last)
    if isinstance(sharpness, Tensor):
        sharpness = sharpness[:, None].to(x.dtype)
    logits = logits * sharpness
    if part.network is not None and inputs is not None:
        logits = part.network.logits(logits, inputs)
    logits = logits.masked_fill(hidden, -math.inf)
    weights = law.decoder_weights(logits) if part.causal else law.weights(logits)
    mixed = (weights @ v).transpose(1, 2).flatten(2)  # [B, T, H D]
    taken = mixed @ part.wo.permute(0, 2, 1).flatten(0, 1)  # wo as [H D, W]
    return taken if part.bo is None else taken + part.bo, logits, weights


def hidden_keys(part: AttentionPart, tokens: int) -> Tensor:
    """[queries, keys], True where a key is not seen."""
    places = torch.arange(tokens)
    behind = places[:, None] - places[None, :]  # how many places a key lies before its query
    hidden = behind < 0 if part.causal else torch.zeros_like(behind, dtype=torch.bool)
    window = part.law.window()
    return hidden if window is None else hidden | (behind.abs() >= window)


def _heads(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x [B, T, W] through the matrices of all heads [H, D, W], as [B, H, T, D]."""
    heads, head_width, _ = weight.shape
    y = x @ weight.flatten(0, 1).T
    y = y if bias is None else y + bias.flatten()
    return y.unflatten(-1, (heads, head_width)).transpose(1, 2)


def turned(x: Tensor, at: Tensor, rotary: Tensor) -> Tensor:
    """x [B, H, T, D] with each pair (k, k + D/2) turned by position x rotary[k]; angles are computed in float64."""
    angles = angles_at(at, rotary)[:, None]  # [B or 1, 1, T, D / 2]
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def apply_mlp(part: MlpPart, x: Tensor) -> Tensor:
    act = ACTIVATIONS[part.activation]
    inner = _affine(x, part.w_in, part.b_in)
    inner = act(inner) if part.w_gate is None else act(_affine(x, part.w_gate, part.b_gate)) * inner
    return _affine(inner, part.w_out, part.b_out)


def _affine(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return x @ weight.T if bias is None else x @ weight.T + bias
