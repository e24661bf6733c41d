"""List the position encodings with one line each, or show one in figures.

Shown are its promises and, for a query and a key that are alike, how the logit between them changes with distance.
"""

from __future__ import annotations

import argparse

from lengthwise.cli.options import whole


def add_options(parser: argparse.ArgumentParser) -> None:
    text = "an encoding, with settings and wrappers as rope:base=500000+randomized"
    parser.add_argument("position", nargs="?", metavar="POSITION", help=text)
    parser.add_argument("--show", type=whole, default=8, metavar="N", help="the number of distances shown (8)")
    parser.add_argument(
        "--trained", type=whole, default=64, metavar="N", help="the training length it is built for, in tokens (64)"
    )
