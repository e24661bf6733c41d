"""How a token knows where it is: encodings, and wrappers that go with any of them.

The modules here hold settings, without torch. The encoders that they build stand in the modules of the same names in
`positions/networks/`, which looking up a name does not import.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.positions.position import Position, Shape
from lengthwise.registry import Registry, format_spec

__all__ = ["Position", "Shape", "make_position", "parts_of", "positions", "wrappers"]


class Positions(Registry[Position]):
    """Encodings by their names, alone or in wrappers: `rope:base=500000`, `learned+offset`, `my.py::Mine+offset`."""

    def allow(self, spec: str | Mapping[str, Any]) -> None:
        for part in parts_of(spec):
            super().allow(part)

    def _made(self, spec: str | Mapping[str, Any]) -> Position:
        first, *rest = parts_of(spec)
        position = super()._made(first)
        for part in rest:
            wrapper = wrappers._made(part)
            if not any(field.name == "base" for field in dataclasses.fields(wrapper)):  # pyright: ignore
                raise UsageError(f"{part!r} wraps nothing: a wrapper is a dataclass with a field `base: Position`")
            position = dataclasses.replace(wrapper, base=position)  # pyright: ignore[reportArgumentType]
            if type(wrapper) in wrappers.of_files:
                self.hold_to_contract(position)
        return position

    def text_of(self, thing: Position) -> str:
        base = getattr(thing, "base", None)
        if not isinstance(base, Position):
            return super().text_of(thing)
        own = {key: value for key, value in wrappers.spec_of(thing).items() if key != "base"}
        alone = own.get("name") in self._makers and self.text_of(base) == "none"  # an encoding by itself as well
        return format_spec(own) if alone else f"{self.text_of(base)}+{format_spec(own)}"


def parts_of(spec: str | Mapping[str, Any]) -> list[Any]:
    """An encoding and its wrappers; a plus inside a number (1e+5) does not separate two."""
    return re.split(r"\+(?=[A-Za-z_./])", spec) if isinstance(spec, str) else [spec]


positions = Positions(
    "position encoding",
    "lengthwise.positions",
    "lengthwise.positions",
    "lengthwise positions",
    deep=False,
    base=Position,
    contract="lengthwise.testing:check_position",
)
wrappers: Registry[Position] = Registry(
    "position wrapper",
    "lengthwise.positions",
    "lengthwise.position_wrappers",
    "lengthwise positions",
    deep=False,
    base=Position,
)


def make_position(spec: str) -> Position:
    """The encoding that a text describes: `rope:base=500000`, `learned+offset`, `alibi+randomized:limit=512`."""
    return positions.make(spec)
