"""The models that are not our Transformer, as settings. No torch here: each names the network that it builds.

All of them read from left to right, and use the words of our Transformer for what they share with it: `depth` counts
layers, `width` is that of the residual stream (of an LSTM or a GRU: of its state).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.attention import Attention, attentions
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.model import BuiltModel
from lengthwise.positions import Position, positions
from lengthwise.positions.encodings import NoPosition
from lengthwise.registry import setting

MLP_WORDS = "hidden width of the MLP, as a multiple of the width"


@dataclass(frozen=True)
class LongShortTermMemory(BuiltModel):
    """An LSTM: layers of gated cells that keep a state of fixed size."""

    network: ClassVar[str] = "lengthwise.models.gated:GatedNetwork"
    cell: ClassVar[str] = "LSTM"

    depth: int = setting(1, "number of layers")
    width: int = setting(64, "width of the state")


@dataclass(frozen=True)
class GatedRecurrentUnit(LongShortTermMemory):
    """A GRU: layers of gated cells, with fewer gates than an LSTM."""

    cell: ClassVar[str] = "GRU"


@dataclass(frozen=True)
class StateSpace(BuiltModel):
    """A diagonal state space whose transitions depend on the token, as in Mamba-2.

    Each head holds a matrix S: S ← a S + Δ k vᵀ, with the output qᵀ S and one transition a per head and token
    (dao2024). `negative` maps a from (0, 1) to 2a - 1 in (-1, 1) (grazzi2025).
    """

    network: ClassVar[str] = "lengthwise.models.linear:StateSpaceNetwork"

    depth: int = setting(2, "number of layers")
    width: int = setting(64, "width of the residual stream")
    heads: int = setting(4, "number of heads, each with transitions of its own")
    state: int = setting(16, "rows of the state of each head")
    negative: bool = setting(False, "transitions in (-1, 1) instead of (0, 1)")
    convolution: int = setting(0, "tokens that a convolution sees before the state is updated (0: none)")
    mlp_ratio: int = setting(4, MLP_WORDS)


@dataclass(frozen=True)
class DeltaRule(BuiltModel):
    """The gated delta rule: a matrix of associations in which writing to a key replaces what it held.

    For each of `order` pairs of key and value per token, with |k| = 1: S ← (I - β k kᵀ) S + β k vᵀ; with `gate`, S is
    multiplied by a number in (0, 1) first (yang2025). β lies in (0, 1), with `negative` in (0, 2), where
    the eigenvalue 1 - β of the transition reaches down to -1 (grazzi2025). A product of h such transitions acts on h
    directions at once, for example as a rotation (siems2025).
    """

    network: ClassVar[str] = "lengthwise.models.linear:DeltaNetwork"

    depth: int = setting(2, "number of layers")
    width: int = setting(64, "width of the residual stream")
    heads: int = setting(4, "number of heads, each with a state of its own")
    order: int = setting(1, "keys written per token: the transition is a product of this many factors")
    negative: bool = setting(False, "eigenvalues in (-1, 1) instead of (0, 1)")
    gate: bool = setting(False, "forget by a factor that depends on the token")
    convolution: int = setting(0, "tokens that a convolution sees before the state is updated (0: none)")
    mlp_ratio: int = setting(4, MLP_WORDS)


@dataclass(frozen=True)
class Looped(BuiltModel):
    """A Transformer that applies the same layers again and again, as often as the input is long.

    With loops=size a token passes once for each token up to it, or up to the end of the prompt; with loops=log the
    logarithm of that, and with a number that many times. The input is added before every pass, and the result is
    normalised after it (fan2025).
    """

    network: ClassVar[str] = "lengthwise.models.looped:LoopedNetwork"

    loops: int | str = setting("size", "number of passes: size, log or a number")
    depth: int = setting(1, "number of layers that are repeated")
    width: int = setting(64, "width of the residual stream")
    heads: int = setting(4, "number of attention heads")
    mlp_ratio: int = setting(4, MLP_WORDS)
    inject: bool = setting(True, "add the input before every pass")
    attention: Attention = setting(Softmax(), "attention rule", registry=attentions)
    position: Position = setting(NoPosition(), "position encoding (`lengthwise positions`)", registry=positions)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.transformer()
        if self.loops not in ("size", "log") and type(self.loops) is not int:
            raise UsageError(f"loops is size, log or a number, not {self.loops!r}")

    def transformer(self) -> Architecture:
        """Our Transformer with the layers that are repeated."""
        shape = {
            name: getattr(self, name) for name in ("depth", "width", "heads", "mlp_ratio", "attention", "position")
        }
        return Architecture(**shape)

    def passes(self, counted: Any) -> Any:
        """How often a token passes through, given the number of tokens up to it; for an array or a tensor, each of
        them.
        """
        if self.loops == "size":
            return counted
        if self.loops == "log":
            return 1 + sum(counted > 2**power for power in range(30))
        return 0 * counted + self.loops
