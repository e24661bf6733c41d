"""What `lengthwise man` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.manual import manual
from lengthwise.cli.output import write_object


def run(options: argparse.Namespace) -> int:
    if options.json:
        write_object("man", {"format": "roff", "page": manual()})
    else:
        print(manual(), end="")
    return 0
