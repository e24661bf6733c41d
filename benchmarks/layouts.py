"""Train every built-in layout of reasoning steps once, run it to ten times the training size, and compare with `check`.

Each layout is trained to size 8 with rotary positions and its preset, or with what is said in TRIALS, and run to the
end of whole chains at 8, 16 and 80. A finished run is kept in the folder and not repeated.

python benchmarks/layouts.py --folder DIR [--task NAME]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthwise.files import read_json, write_json
from lengthwise.measurement.chain_points import ChainPoint
from lengthwise.measurement.recursion import run_chains
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import carry_out

TRAIN_SIZE = 8
ITEMS = {8: 200, 16: 200, 80: 100}  # instances by size


@dataclass(frozen=True)
class Trial:
    """A layout with what is not its preset."""

    task: str
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    items: dict[int, int] = field(default_factory=lambda: ITEMS)


SEVEN = {"attention": "window:size=4"}  # three columns to either side, in each of two layers
UNTIL = {"stop_at": 1.0}

TRIALS = (
    Trial("parity_columns", training={"steps": 1000}),
    Trial("addition_columns", training={"steps": 1000}),
    Trial("addition_columns:base=10"),
    Trial("parity_leftmost", {"attention": "window:size=3", "depth": 1}, {"steps": 1000}),
    Trial("arithmetic_flat:prime=3", SEVEN),
    Trial("copy_pointer"),
    Trial("copy_distinct_steps", training={"steps": 4000, **UNTIL}),
    Trial("addition_marked"),
    Trial("addition_marked_alike"),
    Trial("arithmetic_flat", SEVEN, {"steps": 3000}),
    Trial("arithmetic_flat_leftmost", {"attention": "window:size=6"}, {"steps": 3000}),
    Trial("arithmetic_parenthesised", SEVEN, {"steps": 3000}),
    Trial("parity_direct", {"depth": 3}, {"steps": 4000, **UNTIL}),
    Trial("copy_repeat_steps", {"depth": 3}, {"steps": 4000, **UNTIL}),
    Trial("parity_appended", {"depth": 3}, {"steps": 5000, **UNTIL}),
    Trial("multiplication_marked", training={"steps": 4000, **UNTIL}, items={8: 100, 16: 50, 80: 3}),
    Trial("addition_appended", {"depth": 3}, {"steps": 10_000}),
)


def outcome(trial: Trial, folder: Path) -> dict[str, Any]:
    """What became of a trial: what decides its training, and for each size how many chains were right. Read from the
    folder if it is there."""
    place = folder / trial.task.replace(":", "-").replace("=", "")
    if (place / "outcome.json").exists():
        return read_json(place / "outcome.json")
    began = time.process_time()
    choice = {"train_size": TRAIN_SIZE, "test_size": TRAIN_SIZE, "items": 100}
    plan = plan_for(trial.task, "rope", **choice, model=trial.model, training=trial.training)
    run = carry_out(plan, place / "run")
    points = []
    for size, items in trial.items.items():
        points.append(run_chains(run, sizes=[size], items=items).points[0])
        print(f"  {trial.task}: {points[-1].exact:.1%} at {size}", flush=True)
    found = {
        "task": trial.task,
        "position": "rope",
        "model": {"depth": plan.architecture.depth, "attention": _attention(trial), "causal": plan.architecture.causal},
        "train_size": TRAIN_SIZE,
        "steps": run.history.step,
        "batch": plan.recipe.batch,
        "seed": plan.seed,
        "seconds": round(time.process_time() - began, 1),
        "sizes": [_plain(point) for point in points],
    }
    write_json(place / "outcome.json", found)
    return found


def _attention(trial: Trial) -> str:
    from lengthwise.tasks import tasks

    return str(trial.model.get("attention") or tasks.make(trial.task).preset.get("attention", "softmax"))


def _plain(point: ChainPoint) -> dict[str, Any]:
    names = ("size", "items", "steps", "right", "on_time", "early", "late", "endless", "invalid")
    return {name: getattr(point, name) for name in names} | {"true_step": round(point.true_step, 4)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, type=Path, help="keep the runs here")
    parser.add_argument("--task", help="only this one (all)")
    options = parser.parse_args()
    for trial in (trial for trial in TRIALS if options.task in (None, trial.task)):
        found = outcome(trial, options.folder)
        cells = ", ".join(f"{point['right']} of {point['items']} at {point['size']}" for point in found["sizes"])
        print(f"{trial.task} ({found['steps']} steps, {found['seconds']:.0f} s): {cells}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
