"""The contract of an attention rule's network: what a layer learns for it, and how it changes the logits.

Shapes: B items, T tokens, W width, H heads, D head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class AttentionInputs:
    """What a layer knows when it weighs keys.

    `queries` [B, H, queries, D] and `keys` [B, H, keys, D] are those before an encoding turns them. `features` is what
    `AttentionNetwork.features` read of the tokens of all keys. `index` [queries] is the last place that each query
    sees, counted from 0: its own in a decoder, the end of the sequence in an encoder. `hidden` [queries, keys] is True
    where a key is not seen. `places` [queries] are the places of the queries themselves.
    """

    queries: Tensor
    keys: Tensor
    features: Tensor | None
    index: Tensor
    hidden: Tensor
    places: Tensor


class AttentionNetwork(nn.Module):
    """The part of a layer that belongs to its attention rule; every method has the default of doing nothing.

    The logits are scale x q·k + bias, times the rule's `sharpness`; the weights are the rule's `weights` of what
    `logits` makes of them. Linear layers and embeddings in it start with the small weights of the whole model; a
    parameter keeps the values it is created with.
    """

    def features(self, x: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is remembered of each token, [B, H, T, any number], from what attention reads [B, T, W]. A token's
        features depend on that token alone: they are kept in the cache like keys."""
        return None

    def scores(self, inputs: AttentionInputs) -> Tensor | None:  # noqa: ARG002
        """What takes the place of q·k, [B, H, queries, keys], in a rule that declares `scores = True`."""
        return None

    def logits(self, logits: Tensor, inputs: AttentionInputs) -> Tensor:  # noqa: ARG002
        """The logits [B, H, queries, keys] that are weighed. Those of keys that are not seen are finite here, and are
        replaced by -inf afterwards."""
        return logits


def wide(x: Tensor) -> Tensor:
    """In float32 at least: long sums need more digits than bfloat16 has."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def log_seen(index: Tensor, like: Tensor) -> Tensor:
    """ln(number of keys that a query sees), [queries], in the precision of `like`, float32 at least."""
    return (index + 1).to(torch.promote_types(like.dtype, torch.float32)).log()
