"""One Transformer, to be read from top to bottom.

The choices:
- decoder by default (a token sees itself and what came before), encoder on request (a token sees everything);
- pre-norm: every sub-layer reads a normalised copy of the residual stream and adds its result to it;
- where a token is, is the business of a position encoding; how attention is spread, of an attention rule; both are
  objects (`lengthwise.positions`, `lengthwise.models.attention`);
- separate input embedding and output matrix, no dropout, no bias in the output matrix;
- the last layer's queries and MLP, and the logits, are computed only where an answer is asked for: much of the work
  of a small model;
- the cache holds keys as they were before the encoding touched them, so that an encoding that depends on the length
  (dynamic RoPE) stays right while a sequence grows; queries, for a rule that looks at all of them at once; and what
  else a rule remembers of each token.

Shapes: B items, T tokens, W width, H heads, D = W / H head width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.models.architecture import UNTURNED, Architecture, Interface
from lengthwise.models.attention import attentions
from lengthwise.models.attention.networks.network import AttentionInputs
from lengthwise.positions import Position, Shape
from lengthwise.positions.networks.encoders import Encoder, turns
from lengthwise.seeds import Seeds


@dataclass
class Cache:
    """Keys (before the encoding) and values of the tokens read so far, one pair per layer; queries for joint rules,
    features for rules that read tokens."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    queries: list[Tensor] = field(default_factory=list)
    features: list[Tensor] = field(default_factory=list)

    @property
    def length(self) -> int:
        return self.keys[0].shape[2] if self.keys else 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        return _lengthened(self.keys, layer, k), _lengthened(self.values, layer, v)

    def extend_queries(self, layer: int, q: Tensor) -> Tensor:
        return _lengthened(self.queries, layer, q)

    def extend_features(self, layer: int, features: Tensor) -> Tensor:
        return _lengthened(self.features, layer, features)


def _lengthened(held: list[Tensor], layer: int, new: Tensor) -> Tensor:
    """What is held of a layer with the new tokens behind it, [B, H, T, D]."""
    if layer == len(held):
        held.append(new)
    else:
        held[layer] = torch.cat([held[layer], new], dim=2)
    return held[layer]


@dataclass(frozen=True)
class AttentionView:
    """What every layer needs to know of one forward pass: positions, places, and who sees whom."""

    queries_at: Tensor  # [B or 1, queries]
    keys_at: Tensor  # [B or 1, keys]
    index: Tensor  # [queries], places in the sequence
    sharpness: float | Tensor  # [queries, 1] where it is not the same for all queries
    bias: Tensor | None  # [B or 1, H, queries, keys], from the encoding, already sharpened
    hidden: Tensor | None  # [queries, keys], True where a key is not seen; None where the plain causal rule does


class SelfAttention(nn.Module):
    def __init__(self, architecture: Architecture, layer: int, shape: Shape) -> None:
        super().__init__()
        self.heads, self.layer = architecture.heads, layer
        self.rule, self.causal = architecture.attention, architecture.causal
        self.qkv = nn.Linear(architecture.width, 3 * architecture.width)
        self.out = nn.Linear(architecture.width, architecture.width)
        self.network = self.rule.build(shape)

    def forward(
        self, x: Tensor, sight: AttentionView, encoder: Encoder, cache: Cache | None, places: Tensor | None = None
    ) -> Tensor:
        """What each token takes from those it sees, [B, T, W]; asked for at some `places` only, [B, places, W]."""
        items, tokens, width = x.shape
        if places is None or self.rule.joint:
            qkv = self.qkv(x).view(items, tokens, 3, self.heads, width // self.heads)  # [B, T, 3, H, D]
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # each [B, H, T, D]
        else:
            of_queries, of_others = self.qkv.weight.split([width, 2 * width])
            query_bias, other_bias = self.qkv.bias.split([width, 2 * width])
            q = F.linear(x[:, places], of_queries, query_bias)
            q = q.view(items, len(places), self.heads, width // self.heads).transpose(1, 2)
            kv = F.linear(x, of_others, other_bias).view(items, tokens, 2, self.heads, width // self.heads)
            k, v = kv.permute(2, 0, 3, 1, 4).unbind(0)
        features = None if self.network is None else self.network.features(x)
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
            q = cache.extend_queries(self.layer, q) if self.rule.joint else q
            features = None if features is None else cache.extend_features(self.layer, features)
        mixed = self.mix(q, k, v, sight, encoder, features)  # [B, H, queries, D]
        if self.rule.joint:  # all queries from the first token on were needed, and only some are asked for
            mixed = mixed[:, :, -tokens:]
            mixed = mixed if places is None else mixed[:, :, places]
        return self.out(mixed.transpose(1, 2).reshape(items, mixed.shape[2], width))

    def mix(
        self, q: Tensor, k: Tensor, v: Tensor, sight: AttentionView, encoder: Encoder, features: Tensor | None = None
    ) -> Tensor:
        """The values, averaged by the weights that queries give to keys."""
        sharpness = sight.sharpness.to(q.dtype) if isinstance(sight.sharpness, Tensor) else sight.sharpness
        special, inputs = None, None
        if self.network is not None:
            assert sight.hidden is not None
            last = sight.index if self.causal else torch.full_like(sight.index, k.shape[2] - 1)
            inputs = AttentionInputs(q, k, features, last, sight.hidden, sight.index)
            special = self.network.scores(inputs)
        if special is None:
            special = encoder.scores(q, k, sight.queries_at, sight.keys_at, sight.index)
        if special is None:
            q, k = encoder.rotate(q, sight.queries_at), encoder.rotate(k, sight.keys_at)
            if self.rule.fused:
                mask = sight.bias
                if sight.hidden is not None:
                    mask = sight.hidden.new_zeros(1, dtype=q.dtype) if mask is None else mask
                    mask = mask.masked_fill(sight.hidden, -math.inf)
                return F.scaled_dot_product_attention(q * sharpness, k, v, attn_mask=mask, is_causal=mask is None)
            special = q @ k.transpose(2, 3)
        logits = special * (sharpness / math.sqrt(q.shape[-1]))
        if sight.bias is not None:
            logits = logits + sight.bias
        if self.network is not None and inputs is not None:
            logits = self.network.logits(logits, inputs)
        hidden = sight.hidden
        if hidden is None:  # the plain causal rule, met here when an encoding has scores of its own
            hidden = torch.arange(k.shape[2], device=k.device) > sight.index[:, None]
        weigh = self.rule.decoder_weights if self.causal else self.rule.weights
        return weigh(logits.masked_fill(hidden, -math.inf)).to(v.dtype) @ v


class Block(nn.Module):
    def __init__(self, architecture: Architecture, layer: int, shape: Shape) -> None:
        super().__init__()
        width, inner = architecture.width, architecture.mlp_ratio * architecture.width
        self.attention_norm = nn.LayerNorm(width)
        self.attention = SelfAttention(architecture, layer, shape)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))

    def forward(
        self, x: Tensor, sight: AttentionView, encoder: Encoder, cache: Cache | None, places: Tensor | None = None
    ) -> Tensor:
        """The residual stream [B, T, W] after this block; [B, places, W] where only some places are asked for."""
        taken = self.attention(self.attention_norm(x), sight, encoder, cache, places)
        x = (x if places is None else x[:, places]) + taken
        return x + self.mlp(self.mlp_norm(x))


def small_first_weights(network: nn.Module, layers: int, writing: tuple[str, ...]) -> None:
    """GPT-2's: small normal weights, and smaller still where a sub-layer writes into the residual stream: in parameters
    whose names end in one of `writing`."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for name, parameter in network.named_parameters():
        if name.endswith(writing):
            nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers))


class Transformer(nn.Module):
    """Tokens [B, T] in, logits out: at the `scored` positions only, or everywhere."""

    def __init__(self, architecture: Architecture, interface: Interface) -> None:
        super().__init__()
        self.architecture, self.interface = architecture, interface
        width = architecture.width
        self.shape = Shape(width, architecture.heads, interface.rows, interface.trained, architecture.causal)
        self.embedding = nn.Embedding(interface.vocabulary, width)
        architecture.position.check(self.shape)
        self.encoder = architecture.position.build(self.shape)
        if architecture.attention.scores and turns(self.encoder):
            raise UsageError(UNTURNED.format(attentions.text_of(architecture.attention)))
        self.blocks = nn.ModuleList(Block(architecture, layer, self.shape) for layer in range(architecture.depth))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, interface.outputs, bias=False)
        small_first_weights(self, len(self.blocks), ("attention.out.weight", "mlp.2.weight"))
        self._enlarge(architecture.gain)

    @torch.no_grad()
    def _enlarge(self, gain: float) -> None:
        """Multiply all matrices, those of the encoding included. Larger ones shorten the time in which attention is
        still even and nothing is matched (docs/findings/log.md, retrieval)."""
        for parameter in self.parameters():
            if gain != 1 and parameter.dim() > 1:
                parameter.mul_(gain)

    @property
    def position(self) -> Position:
        return self.architecture.position

    def forward(
        self, tokens: Tensor, at: Tensor | None = None, scored: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """Logits [B, T, outputs], or [number scored, outputs] when `scored` [B, T] marks where they are wanted.

        `at` are the positions of all tokens up to the last one, those in the cache included; None counts from 0.
        """
        start = cache.length if cache is not None else 0
        total = start + tokens.shape[1]
        at = torch.arange(total, device=tokens.device)[None] if at is None else at
        x = self.embedding(tokens)  # [B, T, W]
        added = self.encoder.embed(at[:, start:])
        x = x if added is None else x + added.to(x.dtype)
        places = None if scored is None else scored.any(dim=0).nonzero()[:, 0]
        whole = torch.arange(start, total, device=tokens.device)
        joint = self.architecture.attention.joint
        sight = self._sight(at, torch.arange(total, device=tokens.device) if joint else whole)
        for block in self.blocks[:-1]:
            x = block(x, sight, self.encoder, cache)
        if places is not None and len(places) < len(whole):
            sight = sight if joint else self._sight(at, whole[places])
            scored = scored[:, places] if scored is not None else None
        x = self.blocks[-1](x, sight, self.encoder, cache, places)
        return self.output(self.norm(x if scored is None else x[scored]))

    def _sight(self, at: Tensor, index: Tensor) -> AttentionView:
        """Who sees whom, for queries at the places `index`. O(T^2) where there is a bias or a mask; nothing is stored
        for the plain causal rule."""
        rule, causal = self.architecture.attention, self.architecture.causal
        total = at.shape[1]
        keys = torch.arange(total, device=at.device)
        bias = self.encoder.bias(at[:, index], at)
        bias = None if bias is None else bias.to(self.embedding.weight.dtype)
        sharpness = rule.sharpness(index if causal else torch.full_like(index, total - 1))
        if isinstance(sharpness, Tensor):
            sharpness = sharpness[:, None]
        if bias is not None:
            bias = bias * (sharpness.to(bias.dtype) if isinstance(sharpness, Tensor) else sharpness)
        hidden = None
        plain = causal and len(index) == total and bias is None and rule.window() is None and rule.fused
        if not plain:
            behind = index[:, None] - keys[None, :]  # how many places a key lies before its query
            hidden = behind < 0 if causal else torch.zeros_like(behind, dtype=torch.bool)
            if (window := rule.window()) is not None:
                hidden = hidden | (behind.abs() >= window)
        return AttentionView(at[:, index], at, index, sharpness, bias, hidden)

    @torch.no_grad()
    def generate(self, prompt: Tensor, steps: int, at: Tensor | None = None) -> Tensor:
        """Greedy continuation of `prompt` [B, T] by `steps` tokens, with a cache: O(T) work per token and layer
        (a joint rule weighs all queries again at every token)."""
        if not self.architecture.causal:
            raise UsageError("only a decoder writes token by token; this model is an encoder")
        cache, written, tokens = Cache(), [], prompt
        for step in range(steps):
            seen = prompt.shape[1] + step
            logits = self(tokens, at=None if at is None else at[:, :seen], cache=cache)
            tokens = logits[:, -1:].argmax(dim=-1)
            written.append(tokens)
        return torch.cat([prompt[:, :0], *written], dim=1)


def fresh_model(architecture: Architecture, interface: Interface, seed: int) -> Transformer:
    """The untrained model of a seed; the caller's random state is left alone.

    The first weights are drawn by torch, so they are the same wherever torch's generator on the processor is.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Seeds(seed).key("init") >> 1)
        return Transformer(architecture, interface)
