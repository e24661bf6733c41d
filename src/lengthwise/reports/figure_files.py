"""The figures of a report as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.figures.drawing import pdf_of_svg, png_of_svg, svg_of
from lengthwise.figures.style import paper_spec
from lengthwise.outputs import replace_output
from lengthwise.records import Figure, Record

_LONGEST_NAME = 100


def save_figures(records: Iterable[Record], directory: Path) -> list[Path]:
    """Every figure of these records as SVG, PNG and PDF; the paths of the files written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        return [path for record in records for figure in record.figures for path in _save(figure, directory, taken)]
    except OSError as error:
        raise UsageError(
            f"cannot write figures to {directory}: {error.strerror or error}; give another folder"
        ) from error


def _save(figure: Figure, directory: Path, taken: set[str]) -> list[Path]:
    name = safe_name(f"{figure.key}-{figure.title}", taken)
    svg = svg_of(paper_spec(figure))
    # The other two are made from the SVG, as laying out a figure is most of the work.
    makers: dict[str, Callable[[], bytes]] = {
        ".svg": svg.encode,
        ".png": lambda: png_of_svg(svg),
        ".pdf": lambda: pdf_of_svg(svg),
    }
    paths = []
    for ending, make in makers.items():
        path = directory / f"{name}{ending}"
        with replace_output(path) as part:
            part.write_bytes(make())
        paths.append(path)
    return paths


def safe_name(name: str, taken: set[str]) -> str:
    """A name that any file system takes, unlike those taken, which it joins."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.")[:_LONGEST_NAME] or "figure"
    unique, number = plain, 2
    while unique.lower() in taken:
        unique, number = f"{plain}-{number}", number + 1
    taken.add(unique.lower())
    return unique
