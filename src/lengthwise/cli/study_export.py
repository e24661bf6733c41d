"""Write the results of a study for other programs, as Parquet or CSV in tidy form.

There is one row for each run and size of the curve, or with `--probe NAME` for each run and row of a table of that
probe, chosen with `--table`. `--claims` writes one row for each run: how it ended, and the value of every claim. The
columns that identify a run come first, its settings last. Numbers read back as they were, and so do texts.

`--summary` writes the records and distances of a study to one small JSON file instead, from which its findings can be
computed again: without weights, curves and examples, and with numbers rounded to four digits.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument(
        "out", metavar="OUT", help="the .parquet or .csv file to write; .json or .json.gz for a summary"
    )
    parser.add_argument("--probe", metavar="NAME", help="the records of this probe (curve)")
    parser.add_argument("--table", metavar="KEY", help="this table of the records (the longest)")
    parser.add_argument("--claims", action="store_true", help="one row per run, with the values of its claims")
    parser.add_argument("--summary", action="store_true", help="write all records to one small JSON file")
    parser.seed_help = ""
