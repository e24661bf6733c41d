"""What `lengthwise inspect` does."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from lengthwise.cli.commands.records import elsewhere, opening, write_record
from lengthwise.cli.output import write_field, write_object
from lengthwise.probes.inspection import inspect
from lengthwise.progress import shown
from lengthwise.reports.record_section import RecordPage, write_record_page

_BETWEEN = r"\s*,\s*(?!\w+=)"  # a comma between two specs, and not between two settings of one


def run(options: argparse.Namespace) -> int:
    # Before numpy and torch are loaded: on a shared machine many small matrices took twice as long on two threads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with shown(quiet=options.quiet, title="inspect") as progress:
        found = inspect(
            options.model,
            task=options.task,
            tokens=options.tokens,
            data=options.data,
            size=options.size,
            items=options.items,
            probes=None if options.probes is None else re.split(_BETWEEN, options.probes),
            seed=options.seed or 0,
            progress=progress,
        )
    if options.page is not None:
        title = f"Inspection of {found.model}"
        write_record_page(RecordPage(title, found.headline, found.facts, found.records), Path(options.page))
    if options.json:
        write_object("inspect", {**found.plain(), "page": options.page})
        return 1 if found.broken else 0
    opening(found.headline)
    print()
    write_field("model", found.model)
    for label, text in found.facts:
        write_field(label, text)
    for record in found.records:
        write_record(record, elsewhere(options))
    if options.page is not None:
        print(f"\n{options.page}")
    return 1 if found.broken else 0
