"""Ask a run one question: `lengthwise ask RUN "9 3 41 7"` prints what its model answers.

The prompt is symbols of the run's task with spaces between; `lengthwise tasks NAME` shows examples.
"""

from __future__ import annotations

import argparse

from lengthwise.cli.options import Parser, add_trust
from lengthwise.cli.output import write_object


def add_options(parser: Parser) -> None:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("prompt", metavar="PROMPT", help="symbols of the task, with spaces between")
    add_trust(parser, "the run")
    parser.seed_help = "has no effect: nothing is drawn"


def run(options: argparse.Namespace) -> int:
    from lengthwise.runs.run import load_run

    found = load_run(options.run)
    task, prompt = found.plan.task, options.prompt.split()
    answer = found.answer(options.prompt)
    try:
        truth = " ".join(map(str, task.solve(prompt)))
    except Exception:  # a prompt that the task itself would not ask
        truth = None
    if options.json:
        write_object(
            "ask", {"task": found.plan.task_name, "prompt": " ".join(prompt), "answer": answer, "truth": truth}
        )
    else:
        print(answer)
        if truth is not None and truth != answer:
            print(f"(the right answer is: {truth})")
    return 0
