"""Who is told how the work goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Listener:
    """`said` hears what is being done, in words; `reached` how many tokens are done, of how many (None: unknown)."""

    said: Callable[[str], None] = lambda _: None
    reached: Callable[[int, int | None], None] = lambda *_: None
