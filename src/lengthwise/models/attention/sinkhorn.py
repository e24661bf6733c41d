"""Attention with a budget for keys: semi-relaxed Sinkhorn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.geometry.sinkhorn import CAUSAL_AND_BALANCED, Coupling, sinkhorn, sinkhorn_prefixes
from lengthwise.models.attention import Attention, attentions, note_unsettled

if TYPE_CHECKING:
    from torch import Tensor

TOLERANCE, MOST = 1e-7, 1000  # the share of attention in a wrong column, about the rounding of float32; iterations


@attentions.register("sinkhorn")
@dataclass(frozen=True)
class Sinkhorn(Attention):
    """Every query spends 1, and keys are drawn towards receiving alike: more so with a larger tau.

    tau = 0 is softmax with the same temperature; tau = inf is doubly stochastic and for encoders only.

    An encoder solves one problem for all its queries. In a decoder the weights of query i are row i of the problem of
    the tokens 0 to i, as the potentials of one problem for all would know of later tokens; O(T³) a head and iteration.
    """

    tau: float | Literal["inf"] = 1.0  # infinity is a word here, as JSON has no number for it
    temperature: float = 1.0
    fused = False
    joint = True

    def __post_init__(self) -> None:
        try:
            tau = float(self.tau)
        except (TypeError, ValueError):
            raise UsageError(f"the tau of sinkhorn must be a number from 0 on, or inf, not {self.tau!r}") from None
        if not tau >= 0:
            raise UsageError(f"the tau of sinkhorn must be 0 (softmax) or more, up to inf, not {self.tau}")
        if not 0 < self.temperature < math.inf:
            raise UsageError(f"a sinkhorn temperature must be above 0 and finite, not {self.temperature}")
        object.__setattr__(self, "tau", "inf" if tau == math.inf else tau)

    def check(self, causal: bool) -> None:
        if causal and self.tau == "inf":
            raise UsageError(CAUSAL_AND_BALANCED)

    def sharpness(self, index: Tensor) -> float:  # noqa: ARG002
        return 1.0 / self.temperature

    @property
    def _relative(self) -> float:
        """tau in units of the temperature, as the logits are."""
        return float(self.tau) / self.temperature

    def weights(self, logits: Tensor) -> Tensor:
        return _noted(sinkhorn(logits, 1.0, self._relative, TOLERANCE, MOST))

    def decoder_weights(self, logits: Tensor) -> Tensor:
        return _noted(sinkhorn_prefixes(logits, 1.0, self._relative, TOLERANCE, MOST))


def _noted(found: Coupling) -> Tensor:
    """The weights; that the limit on iterations came first is noted for the training loop."""
    if not found.converged:
        note_unsettled(found.error)
    return found.weights
