"""How a query spreads its attention over the keys it sees: the contract of rules and their registry.

A rule computes with the methods of the tensors it is given, so its module does not import torch.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
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


# A rule is a frozen record of settings and gives weights alone, so it has no place to say that an iteration ended
# before its weights had settled; and a limit on iterations that nobody hears of is a silent error.
_errors: ContextVar[list[float] | None] = ContextVar("errors", default=None)


@contextlib.contextmanager
def unsettled() -> Iterator[list[float]]:
    """A list that is given the error of every rule that ends its iteration too early inside the block."""
    heard: list[float] = []
    token = _errors.set(heard)
    try:
        yield heard
    finally:
        _errors.reset(token)


def note_unsettled(error: float) -> None:
    """Called by a rule whose iteration ended too early: the share of attention that is where it should not be."""
    heard = _errors.get()
    if heard is not None:
        heard.append(error)
