"""What `lengthwise check` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.against import run_against
from lengthwise.cli.commands.check_card import check_program, show_card
from lengthwise.cli.options import at_least, task_chosen
from lengthwise.errors import UsageError


def run(options: argparse.Namespace) -> int:
    at_least(1, options.train_size, "--train-size")
    at_least(1, options.items, "--items")
    spec = task_chosen(options)
    given = [spec is not None, options.formulation is not None, options.against is not None]
    if sum(given) != 1:
        raise UsageError(
            "check takes one of TASK, --regex, --dfa, --data, --formulation and --against, as in "
            "`lengthwise check sort` or `lengthwise check --against huang2025`"
        )
    if options.against is not None:
        for name in ("position", "train_size", "test_size", "items", "decoder", "program", "explain"):
            if getattr(options, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} cannot be used with --against: the study decides it")

        return run_against(options.against, options.json, options.quiet)

    return show_card(options, spec) if options.program is None else check_program(options, spec)
