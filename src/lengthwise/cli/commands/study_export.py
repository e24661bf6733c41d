"""What `lengthwise study export` does."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.output import narrate, write_object
from lengthwise.errors import UsageError
from lengthwise.evidence.gather import gather_atlas
from lengthwise.studies.export import check_output, export, export_claims
from lengthwise.studies.store import Store, study_folder
from lengthwise.studies.summary import ENDINGS, write_summary


def run(options: argparse.Namespace) -> int:
    path, others = Path(options.out), options.probe or options.table or options.claims
    if options.atlas:
        if others or options.summary:
            raise UsageError("--atlas writes curves and signals; leave --summary, --probe, --table and --claims out")
        if not path.name.endswith(".json.gz"):
            raise UsageError(f"the atlas {path} does not end in .json.gz; give it this ending")
        many, what = gather_atlas(study_folder(options.name), path), "runs"
    elif options.summary:
        if others:
            raise UsageError("--summary writes all records; leave --probe, --table and --claims out")
        if not path.name.endswith(ENDINGS):
            raise UsageError(f"the summary {path} ends neither in .json nor in .json.gz; give it one of these endings")
        many, what = write_summary(study_folder(options.name), path), "runs"
    else:
        if options.table and options.claims:
            raise UsageError("--table and --claims are two kinds of rows; give one of them")
        check_output(path)
        what = "rows"
        with Store.open(study_folder(options.name)) as store:
            if options.claims:
                many = export_claims(store, path, options.probe)
            else:
                many = export(store, path, options.probe or "curve", options.table)
    if options.json:
        write_object("study export", {"output": str(path), what: many, "bytes": path.stat().st_size})
    else:
        narrate(f"{many} {what} in {path}, {path.stat().st_size / 1000:.0f} kB", options.quiet)
    return 0
