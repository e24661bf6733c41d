"""Write the report of a study: one HTML page that needs no network.

The page is made from the stored records alone, so it can be written while the study goes on, and again at its end.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.options import Parser, add_trust, check_place
from lengthwise.cli.output import complain, narrate, write_object


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a study below runs/, or the folder of one")
    parser.add_argument("--output", metavar="FILE", help="where to write the page (report.html in the study's folder)")
    parser.add_argument("--figures", metavar="DIR", help="also write every figure as SVG, PNG and PDF there")
    add_trust(parser, "the study")
    parser.seed_help = "has no effect: nothing in a report is random"


def run(options: argparse.Namespace) -> int:
    from lengthwise.reports.figures import save_figures
    from lengthwise.reports.page import write_report
    from lengthwise.studies.folders import study_folder
    from lengthwise.studies.shifts import complete_shifts

    check_place(options.output, "--output", (".html",))
    folder = study_folder(options.name)
    for task, why in complete_shifts(folder, lambda done, *_: narrate(f"{done} …", options.quiet)).items():
        complain(f"warning: how far the levels of {task} are from training is not known: {why}")
    path = write_report(folder, None if options.output is None else Path(options.output))
    figures: list[Path] = []
    if options.figures is not None:
        narrate("drawing the figures …", options.quiet)
        figures = save_figures(folder, Path(options.figures))
    if options.json:
        write_object("report", {"report": str(path), "figures": [str(figure) for figure in figures]})
        return 0
    print(path)
    if options.figures is not None:
        narrate(f"{len(figures)} figures in {options.figures}", options.quiet)
    return 0
