"""What `lengthwise particles density` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.particles_density_run import run_density


def run(options: argparse.Namespace) -> int:
    return run_density(options)
