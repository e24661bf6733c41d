"""What `lengthwise report` does."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import read_content
from lengthwise.cli.output import complain, narrate, write_object
from lengthwise.errors import UsageError
from lengthwise.evidence import load_atlas
from lengthwise.reports.atlas_page import PAGE, write_map
from lengthwise.reports.figure_files import save_figures
from lengthwise.reports.page import write_report
from lengthwise.studies.shifts import complete_shifts
from lengthwise.studies.store import study_folder, study_names
from lengthwise.studies.summary import ENDINGS, is_summary

ATLAS = "atlas"


def run(options: argparse.Namespace) -> int:
    if (atlas := _atlas_file(options.name)) is not None:
        if options.figures is not None:
            raise UsageError("--figures goes with a study; the map of an atlas is one page")
        path = write_map(load_atlas(atlas or None), Path(options.out or PAGE))
        if options.json:
            write_object("report", {"report": str(path), "figures": []})
        else:
            print(path)
        return 0
    folder = Path(options.name) if options.name.endswith(ENDINGS) else study_folder(options.name)
    if not folder.is_file():
        for task, why in complete_shifts(folder, lambda done, *_: narrate(f"{done} …", options.quiet)).items():
            complain(f"warning: how far the levels of {task} are from training is not known: {why}")
    path = write_report(folder, None if options.out is None else Path(options.out))
    figures: list[Path] = []
    if options.figures is not None:
        narrate("drawing the figures …", options.quiet)
        figures = save_figures(analyse(read_content(folder)), Path(options.figures))
        narrate(f"{len(figures)} figures in {options.figures}", options.quiet)
    if options.json:
        write_object("report", {"report": str(path), "figures": [str(figure) for figure in figures]})
    else:
        print(path)
    return 0


def _atlas_file(name: str) -> str | None:
    """The file of an atlas to be drawn as a map, empty for that of the package; None for a study and for the summary of
    one. A study called atlas, such as the one that makes it, comes first."""
    if name == ATLAS and name not in study_names():
        return ""
    return name if name.endswith(".json.gz") and not is_summary(name) else None
