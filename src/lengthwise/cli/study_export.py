"""Write the results of a study for other programs, as Parquet or CSV in tidy form.

There is one row for each run and size of the curve, or with `--probe NAME` for each run and row of a table of that
probe, chosen with `--table`. `--claims` writes one row for each run: how it ended, and the value of every claim. The
columns that identify a run come first, its settings last. Numbers read back as they were, and so do texts.

`--summary` writes the records and distances of a study to one small JSON file instead, from which its findings can be
computed again: without weights, curves and examples, and with numbers rounded to four digits.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.options import Parser
from lengthwise.cli.output import narrate, write_object
from lengthwise.errors import UsageError
from lengthwise.studies.export import check_output, export, export_claims
from lengthwise.studies.folders import study_folder
from lengthwise.studies.store import Store
from lengthwise.studies.summary import ENDINGS, write_summary


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument(
        "out", metavar="OUT", help="the .parquet or .csv file to write; .json or .json.gz for a summary"
    )
    parser.add_argument("--probe", metavar="NAME", help="the records of this probe (curve)")
    parser.add_argument("--table", metavar="KEY", help="this table of the records (the longest)")
    parser.add_argument("--claims", action="store_true", help="one row per run, with the values of its claims")
    parser.add_argument("--summary", action="store_true", help="write all records to one small JSON file")
    parser.seed_help = "has no effect: nothing is random"


def run(options: argparse.Namespace) -> int:

    path, others = Path(options.out), options.probe or options.table or options.claims
    if options.summary:
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
