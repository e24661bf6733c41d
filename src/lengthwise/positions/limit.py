"""The positions of limit transformers (Izzo et al. 2025): periodic vectors, and biases within a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.positions import positions, wrappers
from lengthwise.positions.encodings import NoPosition
from lengthwise.positions.position import Position, Shape

if TYPE_CHECKING:
    from lengthwise.positions.networks.limit import LocalEncoder, PeriodicEncoder


def _networks():
    """The modules that the settings here build; they need torch."""
    from lengthwise.positions.networks import limit

    return limit


@positions.register("periodic")
@dataclass(frozen=True)
class Periodic(Position):
    """A trained vector for each residue of the position modulo the period, added to the embedding (Izzo et al. 2025).

    Position i has the vector of i modulo `period`, the Δ of the theory, so all vectors are trained once a sequence is
    as long as the period. A task whose period divides this one can be solved with it; the more vectors, the fewer
    tokens each of them is trained on.
    """

    period: int = 5
    beyond_training = True

    def __post_init__(self) -> None:
        if self.period < 1:
            raise UsageError(f"a period must be at least 1, not {self.period}")

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.period == 1

    def build(self, shape: Shape) -> PeriodicEncoder:
        return _networks().PeriodicEncoder(self.period, shape.width)


@positions.register("local")
@wrappers.register("local")
@dataclass(frozen=True)
class LocalBias(Position):
    """A learned bias per head for each distance up to the window, and none beyond it (Izzo et al. 2025).

    The logit of query i and key j is q·k plus φ(i - j), φ(t) = 0 for t > `window`, the τ of the theory. With
    `sharpen=log` it is q·k + ln(i) φ(i - j), i counted from 1: only the positional part grows with the length, as in
    the theory of two layers. There a distance whose φ is larger than 1 keeps nearly all attention at every length, and
    otherwise tokens further away, which are i in number, take it. All layers share φ. In an encoder distances to both
    sides have their own φ.

    The first head starts with φ = `start` at the distance 1, the second at the distance 2, and so on up to the window;
    all other φ start with 0. Layers that match contents need heads of this kind, so there should be more heads than
    the window is wide.

    It goes with `none` and, as a wrapper, with `periodic`: `periodic:period=5+local:window=2`.
    """

    window: int = 2
    sharpen: Literal["none", "log"] = "none"
    start: float = 3.0
    base: Position = NoPosition()
    beyond_training = True

    def __post_init__(self) -> None:
        if self.window < 0:
            raise UsageError(f"the window of local positions must be 0 or more, not {self.window}")
        if self.sharpen not in ("none", "log"):
            raise UsageError(f"local positions must be sharpened by log or none, not {self.sharpen!r}")
        if not isinstance(self.base, NoPosition | Periodic):
            raise UsageError(f"local positions go with periodic ones or alone, not with {positions.text_of(self.base)}")

    @property
    def shift_invariant(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.sharpen == "none" and self.base.shift_invariant

    def build(self, shape: Shape) -> LocalEncoder | PeriodicEncoder:
        made = _networks()
        local = made.LocalEncoder(shape.heads, self.window, self.sharpen == "log", shape.causal, self.start)
        if isinstance(self.base, Periodic):
            return made.PeriodicLocalEncoder(self.base.period, shape.width, local)
        return local
