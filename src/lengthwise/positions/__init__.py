"""How a token knows where it is: one encoding a file, and wrappers that go with any of them."""

from __future__ import annotations

import dataclasses
import re

from lengthwise.positions.position import Encoder, Position, Shape
from lengthwise.registry import Registry, format_spec

__all__ = ["Encoder", "Position", "Shape", "make_position", "position_spec", "positions", "wrappers"]

positions: Registry[Position] = Registry(
    "position encoding", "lengthwise.positions", "lengthwise.positions", "lengthwise positions"
)
wrappers: Registry[Position] = Registry(
    "position wrapper", "lengthwise.positions", "lengthwise.position_wrappers", "lengthwise positions"
)


def make_position(spec: str) -> Position:
    """The encoding a text describes: `rope:base=500000`, `learned+offset`, `alibi+randomized:limit=512`."""
    first, *rest = re.split(r"\+(?=[a-z])", spec)
    position = positions.make(first)
    for wrapper in rest:
        position = dataclasses.replace(wrappers.make(wrapper), base=position)  # pyright: ignore[reportArgumentType]
    return position


def position_spec(position: Position) -> str:
    """The text from which `make_position` gives an equal encoding."""
    base = getattr(position, "base", None)
    if not isinstance(base, Position):
        return format_spec(positions.spec_of(position))
    own = {key: value for key, value in wrappers.spec_of(position).items() if key != "base"}
    return f"{position_spec(base)}+{format_spec(own)}"
