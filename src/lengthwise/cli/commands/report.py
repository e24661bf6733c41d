"""What `lengthwise report` does."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import read_content
from lengthwise.cli.output import complain, narrate, write_object
from lengthwise.reports.figure_files import save_figures
from lengthwise.reports.page import write_report
from lengthwise.studies.shifts import complete_shifts
from lengthwise.studies.store import study_folder


def run(options: argparse.Namespace) -> int:
    folder = study_folder(options.name)
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
