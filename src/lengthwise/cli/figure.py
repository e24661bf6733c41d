"""The figure a command draws when it is asked for one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lengthwise.cli.output import narrate
from lengthwise.errors import UsageError

ENDINGS = (".svg", ".png", ".html")


def check_figure(name: str | None) -> None:
    """Refuse a figure that cannot be written, before any work is done for it."""
    if name is None:
        return
    path = Path(name)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"the figure {name} ends in none of {', '.join(ENDINGS)}; give it one of these endings")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"the figure {name} cannot be written there; give --figure a file in a folder that exists")


def draw(name: str | None, curves: list[dict[str, Any]], quiet: bool) -> None:
    """Write a figure of curves, and say where it is; nothing when none was asked for."""
    if name is None:
        return
    from lengthwise.figures.curves import save_figure

    try:
        save_figure(Path(name), curves)
    except OSError as error:
        raise UsageError(f"cannot write the figure {name}: {error.strerror or error}") from error
    narrate(f"figure in {name}", quiet)
