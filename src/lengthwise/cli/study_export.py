"""Write the results of a study for other programs, as Parquet or CSV in tidy form.

There is one row for each run and size measured, or with `--what runs` one for each run; the settings of the runs are
columns beside. Numbers read back as they were; texts are written as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.options import Parser

_WHAT = ("points", "runs")


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument("--output", metavar="FILE", help="the .parquet or .csv file to write")
    parser.add_argument("--what", default="points", metavar="WHAT", help="a row for each of: points, runs (points)")
    parser.seed_help = "not used here: nothing is random"


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import narrate, write_object
    from lengthwise.errors import UsageError
    from lengthwise.studies.export import check_output, export
    from lengthwise.studies.folders import study_folder
    from lengthwise.studies.store import Store

    if options.output is None:
        raise UsageError("say where to: --output FILE.parquet or --output FILE.csv")
    if options.what not in _WHAT:
        raise UsageError(f"--what is {' or '.join(_WHAT)}, not {options.what!r}")
    path = Path(options.output)
    check_output(path)
    with Store.open(study_folder(options.name)) as store:
        rows = export(store, path, options.what)
    if options.json:
        write_object("study export", {"output": str(path), "what": options.what, "rows": rows})
    else:
        narrate(f"{rows} rows in {path}", options.quiet)
    return 0
