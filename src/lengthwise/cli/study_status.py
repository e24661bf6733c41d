"""Show the progress of a study: how many runs are done, running, failed and waiting, and the time that is left.

You can ask from another terminal while the study is running; nothing is changed.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""
