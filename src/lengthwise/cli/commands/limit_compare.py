"""What `lengthwise limit compare` does."""

from __future__ import annotations

import argparse
from dataclasses import replace

from lengthwise.cli.commands.records import write_record
from lengthwise.cli.output import write_object
from lengthwise.errors import CertificateRefused
from lengthwise.oracle.limit.comparing import compare
from lengthwise.oracle.limit.examples import opened
from lengthwise.oracle.limit.found import compared
from lengthwise.progress import shown


def run(options: argparse.Namespace) -> int:
    one, other = opened(options.model), opened(options.other)
    with shown(quiet=options.quiet, title="words") as progress:
        found = compare(one, other, options.length, options.error, progress)
    record = replace(compared(found), title=f"{options.model} and {options.other}")
    if options.json:
        write_object("limit compare", record.plain())
    else:
        write_record(record)
    if options.require and not found.agree:
        raise CertificateRefused(record.text[0])
    return 0
