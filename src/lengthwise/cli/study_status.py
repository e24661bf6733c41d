"""Show where a study stands: how many runs are done, running, failed and waiting, and how long it may still take.

It can be asked from another terminal while the study goes on, and changes nothing.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""
