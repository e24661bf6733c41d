"""What a model is before it is built: what a user chooses, and what the task fixes. No torch here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.limits import check_count
from lengthwise.models.attention import Attention, attentions
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.model import Model
from lengthwise.positions import Position, positions
from lengthwise.positions.encodings import NoPosition, Rope
from lengthwise.registry import setting

if TYPE_CHECKING:
    from lengthwise.models.transformer import Transformer

UNTURNED = (
    "{} attention computes the scores of queries and keys itself, so no encoding can turn them; take an encoding that "
    "adds vectors or biases, or none"
)


@dataclass(frozen=True)
class Architecture(Model):
    """A Transformer: the depth is its dial, and the rest has defaults that fit it."""

    depth: int = setting(2, "number of layers")
    width: int = setting(64, "width of the residual stream")
    heads: int = setting(4, "number of attention heads")
    mlp_ratio: int = setting(4, "hidden width of the MLP, as a multiple of the width")
    causal: bool = setting(
        True,
        "a token attends to itself and to earlier tokens (the usual preset)|every token attends to every other",
        flags=("decoder", "encoder"),
    )
    attention: Attention = setting(
        Softmax(),
        "softmax:temperature=…, log_length, ssmax, entmax, asentmax, stick_breaking, forgetting:start=…, path, "
        "selective, adaptive_temperature, hardmax, p_bit:bits=…, window:size=…, window_match:size=…, sinkhorn:tau=…, "
        "or my.py::Rule (`lengthwise attentions`)",
        registry=attentions,
    )
    position: Position = setting(
        NoPosition(), "position encoding, such as learned+offset (`lengthwise positions`)", registry=positions
    )
    gain: float = setting(1.0, "scale of the initial weights, as a multiple of the usual one", later=True)

    def __post_init__(self) -> None:
        for name in ("depth", "width", "heads", "mlp_ratio"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
            check_count(getattr(self, name), name)
        if not (self.gain > 0 and math.isfinite(self.gain)):
            raise UsageError(f"gain must be above 0, not {self.gain}")
        if self.width % self.heads:
            below = self.width - self.width % self.heads
            near = " or ".join(str(w) for w in (below, below + self.heads) if w)
            raise UsageError(f"width {self.width} is not divisible by {self.heads} heads; width {near} would be")
        self.attention.check(self.causal)
        if self.attention.scores and any(
            isinstance(one, Rope) for one in (self.position, *vars(self.position).values())
        ):
            raise UsageError(UNTURNED.format(attentions.text_of(self.attention)))

    def build(self, interface: Interface) -> Transformer:
        from lengthwise.models.transformer import Transformer

        return Transformer(self, interface)


@dataclass(frozen=True)
class Interface:
    """What the task fixes: the number of tokens in the vocabulary, the number of outputs, and how long sequences are.

    `rows` is the longest sequence the model is meant for, `trained` the longest it is trained on, in tokens.
    """

    vocabulary: int
    outputs: int
    rows: int
    trained: int
