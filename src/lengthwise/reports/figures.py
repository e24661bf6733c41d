"""All figures of a report, and the same figures as files for a paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.outputs import replace_output
from lengthwise.reports.agreement_matrix import agreement_matrix
from lengthwise.reports.content import Content, read_content
from lengthwise.reports.curve_panels import curve_panels
from lengthwise.reports.figure import Figure
from lengthwise.reports.heat_map import heat_map
from lengthwise.reports.ladder.part import LadderPart, ladder_part
from lengthwise.reports.plateau_panels import plateau_panels
from lengthwise.reports.plateaus import Plateau, fit_plateaus
from lengthwise.reports.predictions import Predictions, predict
from lengthwise.reports.seed_strips import seed_strips
from lengthwise.reports.sparsity_panels import sparsity_panels
from lengthwise.reports.training_panels import training_panels

_LONGEST_NAME = 100


def figures_by_section(
    content: Content, fits: Sequence[Plateau], foretold: Predictions, ladder: LadderPart | None = None
) -> dict[str, list[Figure]]:
    """The figures of each section of the page; a section may have none."""
    return {
        "ladder": [] if ladder is None else ladder.figures,
        "overview": [heat_map(content)] if content.rows else [],
        "curves": curve_panels(content),
        "sparsity": sparsity_panels(content),
        "predictions": [agreement_matrix(content, foretold)] if content.counts["done"] else [],
        "seeds": seed_strips(content),
        "training": training_panels(content),
        "plateaus": plateau_panels(fits),
    }


def save_figures(folder: Path, directory: Path) -> list[Path]:
    """Every figure of the study in a folder as SVG, PNG and PDF; the paths of the files written."""
    content = read_content(folder)
    sections = figures_by_section(content, fit_plateaus(content), predict(content), ladder_part(content))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        return [path for group in sections.values() for figure in group for path in _save(figure, directory, taken)]
    except OSError as error:
        raise UsageError(
            f"cannot write figures to {directory}: {error.strerror or error}; give --figures another folder"
        ) from error


def _save(figure: Figure, directory: Path, taken: set[str]) -> list[Path]:
    import vl_convert

    spec = json.dumps(figure.spec())
    name = safe_name(figure.name, taken)
    svg = vl_convert.vegalite_to_svg(spec)
    # The other two are made from the SVG, as laying out a figure is most of the work.
    makers: dict[str, Callable[[], bytes]] = {
        ".svg": svg.encode,
        ".png": lambda: vl_convert.svg_to_png(svg, scale=2),
        ".pdf": lambda: vl_convert.svg_to_pdf(svg),
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
