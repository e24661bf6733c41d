"""Windows and content together: heads that see near tokens by position, and heads that find a token by what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.models.attention import Attention, attentions
from lengthwise.registry import named_in

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.models.attention.networks.network import AttentionNetwork
    from lengthwise.positions import Shape

_ROOM = "lengthwise.models.attention.networks"


@attentions.register("window_match")
@dataclass(frozen=True)
class WindowMatch(Attention):
    """Softmax over a window for most heads; the last `match` heads see everything, without positions.

    The heads with a window see the keys under `size` places away, with the position encoding. The others compare
    content alone: no encoding turns their queries and keys or adds to their logits, so a key is found by what it holds
    wherever it stands. `sharp` is how these spread their attention: softmax; log_length, softmax of logits times
    ln(n) / ln(trained length); entmax (α = 1.5), under which keys may have weight 0; or hardmax.
    """

    size: int = 2
    match: int = 1
    sharp: Literal["softmax", "log_length", "entmax", "hardmax"] = "entmax"
    network = f"{_ROOM}.matching:MatchNetwork"

    def __post_init__(self) -> None:
        if self.size < 1 or self.match < 1:
            raise UsageError(f"window_match takes a size and a match of at least 1, not {self.size} and {self.match}")

    def build(self, shape: Shape) -> AttentionNetwork | None:
        if self.match >= shape.heads:
            raise UsageError(
                f"window_match with match={self.match} leaves no head for the window, as there are {shape.heads} heads"
            )
        return super().build(shape)

    def weights(self, logits: Tensor) -> Tensor:
        return named_in(f"{_ROOM}.matching:match_weights")(logits, self.match, self.sharp)
