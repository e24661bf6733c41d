"""What `lengthwise bound width` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.records import write_record
from lengthwise.cli.output import write_object
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.depth import barron_error, barron_width, deep_width
from lengthwise.records import Claim, Record

explain({"bound_width.title": "What width can take away", "bound_width.assumed": "Assumed: {statement}."})


def run(options: argparse.Namespace) -> int:
    claims = _claims(options)
    rests = dict.fromkeys(assumption.statement for claim in claims for assumption in claim.assumptions)
    text = tuple(sentence("bound_width.assumed", {"statement": statement}) for statement in rests)
    record = Record("bound_width", {}, sentence("bound_width.title"), text, tuple(claims))
    if options.json:
        write_object("bound width", record.plain())
    else:
        write_record(record)
    return 0


def _claims(options: argparse.Namespace) -> list[Claim]:
    if options.constant is None or (options.units is None) == (options.error is None):
        raise UsageError("give --constant, and either --units or --error, as in --constant 2 --units 64")
    if options.smoothness is not None and options.error is None:
        raise UsageError("--smoothness goes with --error: the order of the width for that error")
    if options.units is not None:
        return barron_error(options.units, options.constant, options.radius)
    claims = [barron_width(options.error, options.constant, options.radius)]
    if options.smoothness is not None:
        claims.append(deep_width(options.error, options.smoothness, options.layers))
    return claims
