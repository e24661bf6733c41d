"""What `lengthwise study rebuild` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.output import complain, narrate, write_object
from lengthwise.errors import RunsFailed
from lengthwise.studies.folders import study_folder
from lengthwise.studies.rebuild import rebuild


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
