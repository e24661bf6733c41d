"""Write the results of a study for other programs, as Parquet or CSV in tidy form.

There is one row for each run and size measured, or with `--what runs` one for each run; the settings of the runs are
columns beside. Rows of a size also hold, layer by layer, the entropy of attention and the weight of the best key,
where the study has `sparsity = true` and looked there. With `--ladder` there is one row for each run and level of its
ladder of shifts. Numbers read back as they were; texts are written as they are.

`--summary` writes all ladders and distances of a study to one small JSON file, from which its findings can be drawn
again: without weights, curves and examples, and with shares rounded to four digits.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lengthwise.cli.options import Parser

_WHAT = ("points", "runs")


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument("--output", metavar="FILE", help="the .parquet or .csv file to write")
    parser.add_argument("--what", metavar="WHAT", help="a row for each of: points, runs (points)")
    parser.add_argument("--ladder", action="store_true", help="a row for each run and level of its ladder of shifts")
    parser.add_argument("--summary", metavar="FILE", help="write all ladders to a .json or .json.gz file instead")
    parser.seed_help = "not used here: nothing is random"


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import narrate, write_object
    from lengthwise.errors import UsageError
    from lengthwise.studies.export import check_output
    from lengthwise.studies.folders import study_folder

    if options.summary is not None:
        return _summary(options)
    if options.output is None:
        raise UsageError("say where to: --output FILE.parquet or --output FILE.csv")
    if options.what not in (None, *_WHAT):
        raise UsageError(f"--what is {' or '.join(_WHAT)}, not {options.what!r}")
    if options.ladder and options.what is not None:
        raise UsageError(f"--ladder and --what {options.what} are two kinds of rows; give one of them")
    path = Path(options.output)
    check_output(path)
    what = "ladder" if options.ladder else options.what or _WHAT[0]
    rows = _written(study_folder(options.name), path, what)
    if options.json:
        write_object("study export", {"output": str(path), "what": what, "rows": rows})
    else:
        narrate(f"{rows} rows in {path}", options.quiet)
    return 0


def _written(folder: Path, path: Path, what: Any) -> int:
    if what == "ladder":
        from lengthwise.studies.export_ladder import export_ladder

        return export_ladder(folder, path)
    from lengthwise.studies.export import export
    from lengthwise.studies.store import Store

    with Store.open(folder) as store:
        return export(store, path, what)


def _summary(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import narrate, write_object
    from lengthwise.errors import UsageError
    from lengthwise.studies.folders import study_folder
    from lengthwise.studies.summary import ENDINGS, write_summary

    if options.output is not None or options.ladder or options.what is not None:
        raise UsageError("--summary is a file of its own; leave --output, --what and --ladder out")
    path = Path(options.summary)
    if not path.name.endswith(ENDINGS):
        raise UsageError(f"the summary {path} ends neither in .json nor in .json.gz; give it one of these endings")
    runs = write_summary(study_folder(options.name), path)
    if options.json:
        write_object("study export", {"summary": str(path), "runs": runs, "bytes": path.stat().st_size})
    else:
        narrate(f"{runs} runs in {path}, {path.stat().st_size / 1000:.0f} kB", options.quiet)
    return 0
