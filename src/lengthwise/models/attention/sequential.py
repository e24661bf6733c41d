"""Rules in which what comes between a key and its query decides: for decoders alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.attention import Attention, attentions

if TYPE_CHECKING:
    from torch import Tensor

_ROOM = "lengthwise.models.attention.networks.sequential"
_MOST_START = 1e6  # beyond it nothing is forgotten, or everything


class SequentialAttention(Attention):
    """A rule that follows the order of tokens."""

    def check(self, causal: bool) -> None:
        if not causal:
            name = attentions.spec_of(self).get("name", type(self).__name__)
            raise UsageError(f"{name} follows the order of tokens up to the query, so it serves decoders, not encoders")


@attentions.register("stick_breaking")
@dataclass(frozen=True)
class StickBreaking(SequentialAttention):
    """Keys take shares of what nearer keys left over, by the sigmoid of their logits (Tan et al. 2025).

    The weight of key j for query i is σ(z_ij) Π_{j<k<i} (1 - σ(z_ik)). The rest after the first token stays with
    the query's own token, so weights sum to 1; this is one of the two variants of the authors' code.
    """

    fused = False

    def weights(self, logits: Tensor) -> Tensor:
        logits = logits.float() if logits.dtype.itemsize < 4 else logits
        seen = logits > -float("inf")
        own = seen & (seen.flip(-1).cumsum(dim=-1).flip(-1) == 1)  # the last key that is seen
        logits = logits.masked_fill(own, -float("inf"))
        passed = logits.logaddexp(logits.new_zeros(()))  # -log(1 - σ(z)), 0 where nothing is seen
        passed = passed.flip(-1).cumsum(dim=-1).flip(-1)
        return (logits - passed).exp() + own * (-passed[..., :1]).exp()


@attentions.register("forgetting")
@dataclass(frozen=True)
class Forgetting(SequentialAttention):
    """Softmax of z_ij + Σ_{j<k≤i} log σ(f_k), f_k a learned function of token k, per head (Lin et al. 2025).

    f_k = w·x_k + b, with b = `start` before training: 0 as published halves a weight with every token, 5 takes a
    hundred tokens for that.
    """

    start: float = 0.0
    network = f"{_ROOM}:ForgettingNetwork"

    def __post_init__(self) -> None:
        if not abs(self.start) <= _MOST_START:
            raise UsageError(
                f"forgetting starts with a number from -{_MOST_START:g} to {_MOST_START:g}, not {self.start}"
            )


@attentions.register("path")
@dataclass(frozen=True)
class PathAttention(SequentialAttention):
    """Softmax of k_j·H_{j+1} … H_i q_i, H_s = I - β_s w_s w_sᵀ learned functions of token s (Yang et al. 2025).

    w_s is a unit vector and β_s = 2 σ(u·x_s + b). The authors' w_s also passes through a short convolution over the
    last three tokens, which is left out here.
    """

    scores = True
    network = f"{_ROOM}:PathNetwork"


@attentions.register("selective")
@dataclass(frozen=True)
class SelectiveAttention(SequentialAttention):
    """Softmax of z_ij - Σ_{k<i} S_kj: earlier tokens k mask token j for all later ones (Leviathan et al. 2025).

    S is the positive part of the logits of the first head, taken off all heads; no token masks itself, and none masks
    the first one.
    """

    joint = True
    network = f"{_ROOM}:SelectiveNetwork"
