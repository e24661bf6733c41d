"""How a query spreads its attention over the keys it sees: the contract of rules and their registry.

A rule is settings, and its module does not import torch: it computes with the methods of the tensors it is given. What
it learns, or reads of tokens, is in the network that it builds for each layer (`lengthwise.models.attention.networks`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar

from lengthwise.registry import Registry, named_in

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.models.attention.networks.network import AttentionNetwork
    from lengthwise.positions import Shape


class Attention:
    """From logits to weights. A subclass is a frozen dataclass of settings; what it does not override is softmax.

    A rule that is a function of the logits overrides `weights`. One that has parameters, reads tokens, or computes the
    scores of queries and keys itself overrides `build` and gives an `AttentionNetwork`, or names its class in `network`
    as "module:Class", which is called with the rule and the shape of the model.

    `index` arguments are places in the sequence counted from 0 (not positions, which an encoding may shift).
    """

    fused = True  # the weights are softmax(sharpness x logits) over the visible keys, so the fast kernel may be used
    joint = False  # the weights of a query depend on the logits of other queries, so all must be given at once
    scores = False  # the network computes the scores of queries and keys, so an encoding cannot turn them
    network: ClassVar[str] = ""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.network or cls.build is not Attention.build:
            cls.fused = False  # the kernel, and every bound of softmax, would miss what the network does

    def build(self, shape: Shape) -> AttentionNetwork | None:
        """The network of one layer, with fresh parameters; None for a rule that is a function of the logits."""
        return named_in(self.network)(self, shape) if self.network else None

    def sharpness(self, index: Tensor) -> float | Tensor:  # noqa: ARG002
        """What the logits of each query are multiplied by: a number, or [queries]. `index` is the last place that each
        query sees: its own in a decoder, the end of the sequence in an encoder."""
        return 1.0

    def window(self) -> int | None:
        """How many of the nearest places a query sees, itself included; None for all."""
        return None

    def weights(self, logits: Tensor) -> Tensor:
        """Logits [..., queries, keys], -inf where a key is not seen → weights, each row summing to one."""
        return logits.softmax(dim=-1)

    def decoder_weights(self, logits: Tensor) -> Tensor:
        """The same in a decoder, where the weights of a query may depend on no later query or key: a joint rule, which
        gets the logits of all queries from the first on, has a way of its own here."""
        return self.weights(logits)

    def check(self, causal: bool) -> None:
        """Refuse, with a `UsageError`, a decoder (`causal`) or an encoder that the rule cannot serve."""


attentions: Registry[Attention] = Registry(
    "attention rule",
    "lengthwise.models.attention",
    "lengthwise.attentions",
    "lengthwise attentions",
    deep=False,
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
