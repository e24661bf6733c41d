"""Train four tasks with three position encodings, a run a core at a time, and draw their curves on one page.

    python examples/compare_encodings.py [--folder runs/compare] [--seed 0]

Started again, it goes on where it stopped. This is what `make study` runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

import lengthwise as lw
from lengthwise.figures import curve_html

TASKS = ["copy_repeat", "aa_star", "sort", "binary_majority"]  # the longest first, so that no core is left waiting
POSITIONS = ["none", "learned+offset", "rope"]
TRAIN, TEST = 20, 60


def one_run(job: tuple[str, str, int, str]) -> dict:
    """Train and measure one cell; in a process of its own, on one thread."""
    task, position, seed, folder = job
    name = f"{task}-{position}-s{seed}".replace("+", "-")
    return lw.train(
        task, position, train_size=TRAIN, test_size=TEST, seed=seed, folder=Path(folder) / name
    ).curve.plain()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="runs/compare")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    jobs = [(task, position, options.seed, options.folder) for task in TASKS for position in POSITIONS]
    began, curves = time.monotonic(), []
    with multiprocessing.get_context("spawn").Pool(min(os.cpu_count() or 1, len(jobs))) as pool:
        for curve in pool.imap(one_run, jobs):
            curves.append(curve)
            minutes = (time.monotonic() - began) / 60
            print(
                f"{len(curves):>3} of {len(jobs)} runs, {minutes:.1f} min: {curve['task']}, {curve['position']}",
                flush=True,
            )
    print(
        f"\nreach and exact match at sizes {2 * TRAIN + 1}-{TEST}, trained to {TRAIN}, seed {options.seed} (measured)"
    )
    print(f"{'':<18}" + "".join(f"{position:>15}" for position in POSITIONS))
    for task in TASKS:
        cells = {c["position"]: (c["claims"][0]["value"], c["bins"][-1]["exact"]) for c in curves if c["task"] == task}
        print(f"{task:<18}" + "".join(f"{cells[p][0]:>7} {cells[p][1]:>6.1%}" for p in POSITIONS))
    page = Path(options.folder) / "report.html"
    panels = {task: [curve for curve in curves if curve["task"] == task] for task in TASKS}
    page.write_text(curve_html(panels, "How far four tasks hold, by position encoding"), encoding="utf-8")
    print(f"\nreport: {page}")


if __name__ == "__main__":
    main()
