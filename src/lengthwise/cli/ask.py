"""Ask a run one question: `lengthwise ask RUN "9 3 41 7"` prints what its model answers.

The prompt is symbols of the run's task with spaces between; `lengthwise tasks NAME` shows examples.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust


def add_options(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("prompt", metavar="PROMPT", help="symbols of the task, with spaces between")
    add_trust(parser, "the run")
    parser.seed_help = ""
