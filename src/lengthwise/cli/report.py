"""Write the report of a study: one HTML page that needs no network.

The page is made from stored records alone, so you can write it while the study is running, and again when it has ended.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust


def add_options(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="a study below runs/, or the folder of one")
    parser.add_argument("--out", metavar="FILE", help="where to write the page (report.html in the study's folder)")
    parser.add_argument("--figures", metavar="DIR", help="also write every figure as SVG, PNG and PDF there")
    add_trust(parser, "the study")
    parser.seed_help = ""
