"""Versions, threads, a two-second speed trial, extras, and what is missing."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-speed", action="store_true", help="skip the speed trial")
