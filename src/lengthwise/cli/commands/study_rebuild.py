"""What `lengthwise study rebuild` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.output import complain, narrate, warn, write_object
from lengthwise.errors import RunsFailed
from lengthwise.studies.rebuild import rebuild
from lengthwise.studies.store import study_folder


def run(options: argparse.Namespace) -> int:
    folder = study_folder(options.name)
    rebuilt = rebuild(folder)
    warn(list(rebuilt.remarks), options.quiet)
    for name, what in rebuilt.damaged.items():
        complain(f"damaged: {name}: {what}")
    counts, total = rebuilt.counts, sum(rebuilt.counts.values())
    if options.json:
        content = {"folder": str(folder), "counts": dict(counts), "damaged": dict(rebuilt.damaged)}
        write_object("study rebuild", {**content, "remarks": list(rebuilt.remarks)})
    else:
        narrate(f"index of {folder} rebuilt: {counts['done']} of {total} runs are done", options.quiet)
    return RunsFailed.exit_code if rebuilt.damaged else 0
