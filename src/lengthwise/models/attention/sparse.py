"""Entmax, under which keys may have weight 0, alone and with logits that sharpen as the sequence grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.models.attention import Attention, attentions
from lengthwise.registry import named_in

if TYPE_CHECKING:
    from torch import Tensor

_ROOM = "lengthwise.models.attention.networks.sparse"


@attentions.register("entmax")
@dataclass(frozen=True)
class Entmax(Attention):
    """Entmax with α = 1.5: weights max(logit / 2 - τ, 0)², so that far keys have weight 0 (Peters et al. 2019).

    It is the distribution p that maximises p·logits + H(p), with Tsallis' entropy H(p) = 4/3 Σ (p_j - p_j^1.5). τ is
    exact: it is found by sorting.
    """

    fused = False

    def weights(self, logits: Tensor) -> Tensor:
        return named_in(f"{_ROOM}:entmax")(logits)


@attentions.register("asentmax")
@dataclass(frozen=True)
class AdaptiveEntmax(Entmax):
    """Entmax of (δ + softplus(w·q) (ln n)^γ) x logits; δ, γ and w learned per head (Vasylenko et al. 2025).

    q is the query, n the number of keys it sees. At the start δ = 1, γ = 1 and w = 0.
    """

    network = f"{_ROOM}:AdaptiveNetwork"
