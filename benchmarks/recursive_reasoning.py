"""Does a layout that windows settle hold at ten times the training size, and does the same problem appended fall?

Trains parity and addition in columns (three seeds each) and appended (two), to size 8 or 6, and runs each to the end of
whole chains at once, twice and ten times that size. Prints a line a run and says whether the bars are met: at ten times
99 % exact in columns and 0 appended, where the appended ones must have learned their range.

python benchmarks/recursive_reasoning.py [--task NAME] [--items N] [--folder DIR]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthwise.probes.recursion.points import Recursion
from lengthwise.probes.recursion.walk import run_chains
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import Run, carry_out

TIMES = (1, 2, 10)
HOLDS, FALLS = 0.99, 0.0  # the first also in the training range, or a fall would say nothing


@dataclass(frozen=True)
class Trial:
    """A task with what is not its preset, the seeds it is tried with, and whether it is expected to hold."""

    task: str
    holds: bool
    seeds: tuple[int, ...]
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    size: int = 8  # the largest in training

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(times * self.size for times in TIMES)


TRIALS = (
    Trial("parity_columns", True, (0, 1, 2), training={"steps": 1000}),
    Trial("addition_columns", True, (0, 1, 2), training={"steps": 1000}),
    Trial("addition_columns:base=10", True, (0, 1, 2)),
    Trial("parity_appended", False, (0, 1), {"depth": 3}, {"steps": 5000, "stop_at": 1.0}),
    Trial("addition_appended", False, (0, 1), {"depth": 3}, {"steps": 10000}, size=6),
)


def trained(trial: Trial, seed: int, folder: Path) -> Run:
    """The run of a trial with rotary positions, which are defined at any length, in every layout."""
    choice = {"train_size": trial.size, "test_size": trial.size, "items": 100, "seed": seed}
    plan = plan_for(trial.task, "rope", {**trial.model, **trial.training}, **choice)
    return carry_out(plan, folder / f"{trial.task.replace(':', '-')}-{seed}")


def met(trial: Trial, result: Recursion) -> bool:
    learned, exact = result.points[0].exact >= HOLDS, result.points[-1].exact
    return learned and (exact >= HOLDS if trial.holds else exact <= FALLS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", help="only this one (all)")
    parser.add_argument("--items", type=int, default=200, help="instances at each size (200)")
    parser.add_argument("--folder", help="keep the runs here (nowhere)")
    options = parser.parse_args()
    missed, began = 0, time.process_time()
    heads = "".join(f"{f'exact at {times}x':>13}" for times in TIMES)
    print(f"{'task':<26}{'seed':>4}{'steps':>7}{'in range':>10}{heads}{'on time':>9}{'injured':>9}{'solver':>8}  bar")
    with tempfile.TemporaryDirectory() as temporary:
        for trial in (trial for trial in TRIALS if options.task in (None, trial.task)):
            for seed in trial.seeds:
                run = trained(trial, seed, Path(options.folder or temporary))
                result = run_chains(run, sizes=trial.sizes, items=options.items)
                last, good = result.points[-1], met(trial, result)
                missed += not good
                cells = "".join(f"{point.exact:>13.1%}" for point in result.points)
                tail = [last.on_time / last.items]
                tail += [
                    count / max(1, last.injuries.items) for count in (last.injuries.right, last.injuries.solver_right)
                ]
                print(
                    f"{trial.task:<26}{seed:>4}{run.history.step:>7}{run.history.checks[-1][1]:>10.1%}{cells}"
                    f"{tail[0]:>9.1%}{tail[1]:>9.1%}{tail[2]:>8.1%}  {'met' if good else 'MISSED'}",
                    flush=True,
                )
    print(f"{time.process_time() - began:.0f} s of one core; {missed} bars missed")
    return min(1, missed)


if __name__ == "__main__":
    sys.exit(main())
