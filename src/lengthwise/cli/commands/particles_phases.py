"""What `lengthwise particles phases` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.particles_phases_run import run_phases


def run(options: argparse.Namespace) -> int:
    return run_phases(options)
