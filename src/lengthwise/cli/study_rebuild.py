"""Rebuild the index of a study from its run folders, after it was lost or damaged.

Every finished run is checked: its record, its weights and what was measured, against their SHA-256. Damaged folders are
named and left as they are; delete one to have its run trained again. A damaged index is kept next to the new one.
"""

from __future__ import annotations

import argparse

from lengthwise.cli.options import Parser
from lengthwise.cli.output import complain, narrate, write_object
from lengthwise.errors import RunsFailed
from lengthwise.studies.folders import study_folder
from lengthwise.studies.rebuild import rebuild


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = "has no effect: nothing is random"


def run(options: argparse.Namespace) -> int:

    folder = study_folder(options.name)
    rebuilt = rebuild(folder)
    for remark in rebuilt.remarks:
        narrate(f"warning: {remark}", options.quiet)
    for name, what in rebuilt.damaged.items():
        complain(f"damaged: {name}: {what}")
    counts, total = rebuilt.counts, sum(rebuilt.counts.values())
    if options.json:
        content = {"folder": str(folder), "counts": dict(counts), "damaged": dict(rebuilt.damaged)}
        write_object("study rebuild", {**content, "remarks": list(rebuilt.remarks)})
    else:
        narrate(f"index of {folder} rebuilt: {counts['done']} of {total} runs are done", options.quiet)
    return RunsFailed.exit_code if rebuilt.damaged else 0
