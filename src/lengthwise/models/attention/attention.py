"""The contract of an attention rule."""

from __future__ import annotations

import abc

from torch import Tensor


class Attention(abc.ABC):
    """From logits to weights. A subclass is a frozen dataclass of settings.

    `index` arguments are places in the sequence counted from 0 (not positions, which an encoding may shift).
    """

    fused = True  # the weights are softmax(sharpness x logits) over the visible keys, so the fast kernel may be used

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
