"""Show what a study came to: a table of tasks and encodings for each measure, with intervals over seeds.

Shown are the reach (the largest size up to which exact match stays at 95 % or more) and the exact match on the second
and on the third stretch of sizes as wide as the training range; then the records of the study's analyses. Of a summary
(`study export --summary`) the records alone are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_trust

if TYPE_CHECKING:
    from lengthwise.studies.cells import Measure

TITLES: dict[Measure, str] = {
    "reach": "reach, in sizes",
    "in_range": "exact match in the training range, in %",
    "twice": "exact match at 2 x the training size, in %",
    "thrice": "exact match at 3 x the training size, in %",
}


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a study below runs/, the folder of one, or a summary of one")
    names = ", ".join(TITLES)
    parser.add_argument("--probe", metavar="NAME", help="show the records of this probe, run by run")
    parser.add_argument("--measure", metavar="LIST", help=f"which of {names}, with commas between (reach,twice,thrice)")
    add_trust(parser, "the study")
    parser.seed_help = ""
