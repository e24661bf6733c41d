"""Softmax whose logits are sharpened: by a learned factor that grows with the number of keys, or at test time."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.models.attention import Attention, attentions

_ROOM = "lengthwise.models.attention.networks.sharpened"


@attentions.register("ssmax")
@dataclass(frozen=True)
class ScalableSoftmax(Attention):
    """Softmax of s ln(n) x logits, n the number of keys that a query sees, s learned per head (Nakanishi 2025).

    At the start s is 1 / mean of ln n over the places of a training sequence, so that the mean factor is 1, as in
    softmax. With s fixed this is `log_length`.
    """

    network = f"{_ROOM}:ScalableNetwork"


@attentions.register("adaptive_temperature")
@dataclass(frozen=True)
class AdaptiveTemperature(Attention):
    """Softmax, sharpened at test time where its entropy is high (Veličković et al. 2024); training is plain softmax.

    With H the entropy of a query's weights in nats, its logits are multiplied by max(P(H), 1) where H > 0.5, with the
    published polynomial P(H) = -0.037 H⁴ + 0.481 H³ - 2.3 H² + 4.917 H - 1.791. P is above 1 for H between 0.85 and
    5.94 alone: attention as spread out as evenly over more than e^5.94 = 381 keys is not sharpened.
    """

    network = f"{_ROOM}:EntropyNetwork"
