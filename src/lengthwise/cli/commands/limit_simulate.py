"""What `lengthwise limit simulate` does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from lengthwise.cli.commands.records import write_record
from lengthwise.cli.output import write_object
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.oracle.limit.examples import opened
from lengthwise.oracle.limit.found import simulated
from lengthwise.oracle.limit.simulation import shortest_simulation
from lengthwise.progress import shown
from lengthwise.reading import read_text


def run(options: argparse.Namespace) -> int:
    model = opened(options.model)
    word = _word(options, model.symbols)
    with shown(quiet=options.quiet, title="stand-ins") as progress:
        found = shortest_simulation(model, word, options.error, options.length, progress)
    record = replace(simulated(model, found, options.error, options.length), title=options.model)
    if options.json:
        content = record.plain()
        write_object("limit simulate", {**content, "word": list(found.short)})
    else:
        write_record(record)
    if options.require and found.difference > options.error:
        raise CertificateRefused(record.text[0])
    return 0


def _word(options: argparse.Namespace, symbols: Sequence[str]) -> list[str]:
    """The symbols of the text or file."""
    if (options.word is None) == (options.file is None):
        raise UsageError("give the long word by --word TEXT or by --file FILE")
    text = options.word
    if options.file is not None:
        text = read_text(options.file)
    single = all(len(symbol) == 1 for symbol in symbols)
    found = [char for char in text if char in symbols or not char.isspace()] if single else text.split()
    if not found:
        raise UsageError("the long word has no symbols")
    return found
