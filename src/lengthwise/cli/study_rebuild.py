"""Rebuild the index of a study from its run folders, after it was lost or damaged.

Every finished run is checked: its record, its weights and what was measured, against their SHA-256. Damaged folders are
named and left as they are; delete one to have its run trained again. A damaged index is kept next to the new one.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""
