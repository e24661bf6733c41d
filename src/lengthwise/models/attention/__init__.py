"""How a query spreads its attention over the keys it sees: the contract of rules and their registry.

A rule computes with the methods of the tensors it is given, so its module does not import torch.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from lengthwise.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor


class Attention(abc.ABC):
    """From logits to weights. A subclass is a frozen dataclass of settings.

    `index` arguments are places in the sequence counted from 0 (not positions, which an encoding may shift).
    """

    fused = True  # the weights are softmax(sharpness x logits) over the visible keys, so the fast kernel may be used
    joint = False  # the weights of a query depend on the logits of other queries, so all must be given at once

    def sharpness(self, index: Tensor) -> float | Tensor:  # noqa: ARG002
        """What the logits of each query are multiplied by: a number, or [queries]. `index` is the last place that each
        query sees: its own in a decoder, the end of the sequence in an encoder."""
        return 1.0

    def window(self) -> int | None:
        """How many of the nearest places a query sees, itself included; None for all."""
        return None

    @abc.abstractmethod
    def weights(self, logits: Tensor) -> Tensor:
        """Logits [..., queries, keys], -inf where a key is not seen → weights, each row summing to one."""

    def decoder_weights(self, logits: Tensor) -> Tensor:
        """The same in a decoder, where the weights of a query may depend on no later query or key: a joint rule, which
        gets the logits of all queries from the first on, has a way of its own here."""
        return self.weights(logits)

    def check(self, causal: bool) -> None:  # noqa: B027
        """Refuse, with a `UsageError`, a decoder (`causal`) or an encoder that the rule cannot serve."""


attentions: Registry[Attention] = Registry(
    "attention rule",
    "lengthwise.models.attention",
    "lengthwise.attentions",
    base=Attention,
    contract="lengthwise.testing:check_attention",
)
