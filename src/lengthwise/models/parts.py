"""A model as parts: the few kinds of matrix, norm and attention that every supported Transformer is made of.

The parts say all that a forward pass needs (`lengthwise.models.anatomy.run` makes one from them alone), so what is
proved or measured on parts holds for our models and for others alike.

Shapes: B items, T tokens, W width, H heads, D head width, V vocabulary, I inner width of an MLP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.models.attention import Attention, attentions
from lengthwise.models.attention.networks.network import AttentionNetwork

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,  # exact: x times the normal distribution function
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


@dataclass(frozen=True, eq=False)
class NormPart:
    """`layer`: (x - mean) / sqrt(variance + eps) x weight + bias. `rms`: x / sqrt(mean of squares + eps) x weight."""

    kind: Literal["layer", "rms"]
    weight: Tensor  # [W]
    bias: Tensor | None  # [W]
    eps: float


@dataclass(frozen=True, eq=False)
class AttentionPart:
    """logit_ij = sharpness_i (scale q_i·k_j + bias_ij) over the keys j that i sees; Σ_h wo_h Σ_j weight_ij v_j + bo.

    `rotary`: the angles a position by which the pairs (k, k + D/2) of q and k are turned; None where they are not.
    `scores`: all of q·k where it is more than a product of vectors turned by `rotary`; it is called with q, k
    [B, H, T, D], their positions [B or 1, T] twice and the places [T], and may give None for "as usual". Where `rotary`
    is given as well, `scores` still turns q and k by some angles (orthogonally); where it is not, nothing is known.
    `rule`: the spec of the attention rule, which gives sharpness, window and weights (`law` is the object).
    `key_heads`: how many different heads of keys and values were stored; wk and wv repeat them up to H.
    `norm_q`, `norm_k`: norms of the queries and keys of each head, before they are turned.
    `network`: what the rule learned; it may replace q·k, and changes the logits before they are weighed.
    """

    wq: Tensor  # [H, D, W]
    wk: Tensor  # [H, D, W]
    wv: Tensor  # [H, D, W]
    wo: Tensor  # [H, W, D]
    bq: Tensor | None  # [H, D]
    bk: Tensor | None  # [H, D]
    bv: Tensor | None  # [H, D]
    bo: Tensor | None  # [W]
    scale: float
    causal: bool
    rotary: Tensor | None = None  # [D / 2]
    bias: Callable[[Tensor, Tensor], Tensor] | None = None  # positions of queries, of keys → [B or 1, H, T, T]
    rule: str = "softmax"
    scores: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor | None] | None = None
    key_heads: int | None = None
    norm_q: NormPart | None = None  # its weight is [D]
    norm_k: NormPart | None = None
    network: AttentionNetwork | None = None  # of a rule that has one

    @property
    def law(self) -> Attention:
        return attentions.restore(self.rule)

    @property
    def heads(self) -> int:
        return self.wq.shape[0]


@dataclass(frozen=True, eq=False)
class MlpPart:
    """`plain`: w_out act(w_in x + b_in) + b_out. `gated`: w_out (act(w_gate x + b_gate) * (w_in x + b_in)) + b_out."""

    kind: Literal["plain", "gated"]
    w_in: Tensor  # [I, W]
    b_in: Tensor | None  # [I]
    w_gate: Tensor | None  # [I, W]
    w_out: Tensor  # [W, I]
    b_out: Tensor | None  # [W]
    activation: str  # a name in ACTIVATIONS
    b_gate: Tensor | None = None  # [I]


@dataclass(frozen=True, eq=False)
class BlockPart:
    """`pre`: x + part(norm(x)), attention and then MLP. `post`: norm(x + part(x)). `parallel`: both parts read the same
    x, x + attention(norm(x)) + MLP(norm(x)), each with its own norm."""

    order: Literal["pre", "post", "parallel"]
    norm_attention: NormPart | None
    attention: AttentionPart
    norm_mlp: NormPart | None
    mlp: MlpPart


@dataclass(frozen=True, eq=False)
class TablePart:
    """Vectors of absolute positions, added to the token embeddings.

    `vectors` gives those of positions [B or 1, T] as [B or 1, T, W]. `rows` is the stored table [P, W], and positions
    from P on do not exist; None where the vectors are a formula, defined at every position. `radius` is at least the
    norm of every vector; None where that is not known.
    """

    vectors: Callable[[Tensor], Tensor]
    rows: Tensor | None = None
    radius: float | None = None


def _counted(length: int) -> Tensor:
    return torch.arange(length)[None]


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A whole model. `head` is None where the outputs are the last hidden states, and `embed` itself where it is tied.

    `counted` gives the positions [1, T] that a sequence of T tokens has when nobody says otherwise. `skipped` names the
    modules that the forward pass from parts leaves out, each with the reason. `parameters` is how many numbers the
    model stores, those of skipped modules and of position encodings included.
    """

    name: str
    embed: Tensor  # [V, W]
    table: TablePart | None
    norm_embed: NormPart | None
    blocks: tuple[BlockPart, ...]
    norm_final: NormPart | None
    head: Tensor | None  # [outputs, W]
    skipped: tuple[tuple[str, str], ...] = ()
    parameters: int = 0
    counted: Callable[[int], Tensor] = _counted

    def places(self, length: int) -> Tensor:
        """The positions [1, T] of a sequence of `length` tokens, where the weights are."""
        return self.counted(length).to(self.embed.device)

    @property
    def width(self) -> int:
        return self.embed.shape[1]

    @property
    def longest(self) -> int | None:
        """How many positions exist; None where there is no end."""
        return None if self.table is None or self.table.rows is None else len(self.table.rows)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Every tensor with its place, as `blocks.0.attention.wq`; a tied head comes once, as `embed`."""
        for name, tensor in _tensors_in(self, ""):
            if not (name == "head" and self.head is self.embed):
                yield name, tensor


def _tensors_in(part: object, place: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(part, Tensor):
        yield place.removeprefix("."), part
    elif isinstance(part, tuple):
        for number, inner in enumerate(part):
            yield from _tensors_in(inner, f"{place}.{number}")
    elif isinstance(part, nn.Module):
        yield from ((f"{place}.{name}".removeprefix("."), tensor) for name, tensor in part.named_parameters())
    elif is_dataclass(part):
        for field in fields(part):
            yield from _tensors_in(getattr(part, field.name), f"{place}.{field.name}")
