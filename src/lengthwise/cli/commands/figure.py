"""The figure a command draws when it is asked for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lengthwise.cli.options import check_place
from lengthwise.cli.output import narrate
from lengthwise.errors import UsageError
from lengthwise.figures.curves import save_figure

ENDINGS = (".svg", ".png", ".html")


def check_figure(name: str | None, option: str = "--figure") -> None:
    """Refuse a figure that cannot be written, before any work is done for it."""
    check_place(name, option, ENDINGS)


def draw(name: str | None, curves: list[dict[str, Any]], quiet: bool) -> None:
    """Write a figure of curves, and say where it is; nothing when none was asked for."""
    if name is None:
        return

    try:
        save_figure(Path(name), curves)
    except OSError as error:
        raise UsageError(f"cannot write the figure {name}: {error.strerror or error}") from error
    narrate(f"figure in {name}", quiet)
