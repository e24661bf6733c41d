"""Extending the context of a trained model: RoPE with other frequencies than those of training."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.positions.encodings import Rope
from lengthwise.positions.position import Position
from lengthwise.registry import converted_settings, format_spec, nearest, parse_spec

_NAMES = {
    **{name: name for name in ("none", "ntk", "by_parts", "llama3", "yarn", "dynamic")},
    **dict.fromkeys(("linear", "interpolation"), "interpolation"),
}
KINDS = ("own", "none", "linear", "ntk", "by_parts", "llama3", "yarn", "dynamic")


@dataclass(frozen=True)
class RopeScaling:
    """How a trained model with RoPE is read: `own` is as it was made, `none` plain RoPE, and the others are the
    scalings of `Rope`, where `linear` is interpolation.

    `factor` times the `original` length (0: the one that the model was trained for) is the context that the scaling is
    for; `none` and `dynamic` can do without.
    """

    kind: str
    factor: float = 0.0
    original: int = 0
    low: float = 1.0
    high: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in ("own", *_NAMES):
            raise UsageError(
                f"there is no RoPE scaling {self.kind!r}; {nearest(self.kind, KINDS)}there are {', '.join(KINDS)}"
            )
        if self.kind == "own" and str(self) != "own":
            raise UsageError("the scaling own is the model as it was made and takes no settings")
        if self.factor and not self.factor >= 1:
            raise UsageError(f"the factor of a RoPE scaling must be at least 1, not {self.factor:g}")
        if self.kind != "own":
            self.rope(10000.0)  # which says what does not fit

    def rope(self, base: float) -> Rope:
        """The encoding of this scaling; its attribute `original` is 0 for the trained length."""
        scaling: Any = _NAMES[self.kind]
        factor = 1.0 if self.kind == "none" else self.factor or 1.0
        return Rope(base, scaling, factor, self.original, self.low, self.high)

    def position(self, position: Position) -> Position:
        """An encoding of ours with this scaling, in the wrappers that it has."""
        if self.kind == "own":
            return position
        if isinstance(position, Rope):
            return dataclasses.replace(self.rope(position.base), share=position.share)
        base = getattr(position, "base", None)
        if not isinstance(base, Position):
            raise UsageError("the model does not have RoPE, so there is nothing to scale")
        return dataclasses.replace(position, base=self.position(base))  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        own = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self)[1:] if getattr(self, f.name) != f.default
        }
        return format_spec({"name": self.kind, **own})


def make_scaling(spec: str) -> RopeScaling:
    """`yarn:factor=4,original=2048` → the scaling that it describes."""
    kind, settings = parse_spec(spec)
    return RopeScaling(**converted_settings("RoPE scaling", kind, RopeScaling, {**settings, "kind": kind}))
