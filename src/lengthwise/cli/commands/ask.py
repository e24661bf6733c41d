"""What `lengthwise ask` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.output import write_object
from lengthwise.runs.run import load_run


def run(options: argparse.Namespace) -> int:
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
