"""List the tasks with one line each, or show one: what is known about it, and worked samples."""

from __future__ import annotations

import argparse

from lengthwise.cli.options import add_task_options, whole


def add_options(parser: argparse.ArgumentParser) -> None:
    add_task_options(parser)
    parser.add_argument("--show", type=whole, default=0, metavar="N", help="print N worked samples (0)")
    parser.add_argument("--size", type=whole, metavar="N", help="the size of the samples (a small one)")
