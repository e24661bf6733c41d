"""Train every built-in layout of reasoning steps once, run it to ten times the training size, and compare with `check`.

Each layout is trained to size 8 with rotary positions and its preset, or with what is said in TRIALS, and run to the
end of whole chains at 8, 16 and 80. A finished run is kept in the folder and not repeated; all of them together take
about half an hour of one core. Writes the outcomes into the package, where `check` shows them, and the table of
verdicts and outcomes into docs/findings/layouts.md. With --table nothing is trained: the verdicts on the outcomes that
are there are computed again. Exit code 1 if an outcome contradicts a verdict.

python benchmarks/layouts.py --folder DIR [--task NAME]
python benchmarks/layouts.py --table
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthwise.files import read_json, write_json, write_text
from lengthwise.oracle.check import check
from lengthwise.oracle.locality import trained
from lengthwise.oracle.locality.layout import Layout, layout_of
from lengthwise.oracle.locality.trained import TIMES, LayoutOutcome
from lengthwise.probes.recursion.points import ChainPoint
from lengthwise.probes.recursion.walk import run_chains
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import carry_out
from lengthwise.tasks import tasks

DATA = Path(trained.__file__).with_name(trained.FILE)
PAGE = Path(__file__).parents[1] / "docs" / "findings" / "layouts.md"
TRAIN_SIZE = 8
ITEMS = {8: 200, 16: 200, 80: 100}  # instances by size
FEW = {8: 200, 16: 100, 80: 40}  # of those that a decoder writes out, token by token


@dataclass(frozen=True)
class Trial:
    """A layout with what is not its preset."""

    task: str
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    items: dict[int, int] = field(default_factory=lambda: ITEMS)


SOME = {8: 100, 16: 50, 80: 20}
SEVEN = {"attention": "window:size=4"}  # three columns to either side, in each of two layers
UNTIL = {"stop_at": 1.0}

TRIALS = (
    Trial("parity_columns", training={"steps": 1000}),
    Trial("addition_columns", training={"steps": 1000}),
    Trial("addition_columns:base=10"),
    Trial("parity_leftmost", {"attention": "window:size=3", "depth": 1}, {"steps": 1000}),
    Trial("arithmetic_flat:prime=3", SEVEN),
    Trial("copy_pointer", items=SOME),
    Trial("copy_distinct_steps", training={"steps": 4000, **UNTIL}),
    Trial("addition_marked", items=SOME),
    Trial("addition_marked_alike"),
    Trial("arithmetic_flat", SEVEN, {"steps": 3000}),
    Trial("arithmetic_flat_leftmost", {"attention": "window:size=6"}, {"steps": 3000}),
    Trial("arithmetic_parenthesised", SEVEN, {"steps": 3000}),
    Trial("parity_direct", {"depth": 3}, {"steps": 2000, **UNTIL}, FEW),
    Trial("copy_repeat_steps", training={"steps": 2000, **UNTIL}, items=FEW),
    Trial("parity_appended", {"depth": 3}, {"steps": 5000, **UNTIL}, FEW),
    Trial("multiplication_marked", items={8: 100, 16: 40, 80: 4}),  # 6,480 steps per chain of 80
    Trial("addition_appended", items=FEW),
)


def outcome(trial: Trial, folder: Path) -> dict[str, Any]:
    """The outcome of a trial: what decides its training, and for each size how many chains were right. Read from the
    folder if it is there."""
    place = folder / trial.task.replace(":", "-").replace("=", "")
    if (place / "outcome.json").exists():
        return read_json(place / "outcome.json")
    began = time.process_time()
    choice = {"train_size": TRAIN_SIZE, "test_size": TRAIN_SIZE, "items": 100}
    plan = plan_for(trial.task, "rope", {**trial.model, **trial.training}, **choice)
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
    return str(trial.model.get("attention") or tasks.make(trial.task).preset.get("attention", "softmax"))


def _plain(point: ChainPoint) -> dict[str, Any]:
    names = ("size", "items", "steps", "right", "on_time", "early", "late", "endless", "invalid")
    return {name: getattr(point, name) for name in names} | {"true_step": round(point.true_step, 4)}


def verdict(outcome: LayoutOutcome) -> tuple[str, str]:
    """What `check` says of the layout with as many training items, and by which windows."""
    task, items, last = tasks.make(outcome.task), outcome.steps * outcome.batch, TIMES * outcome.train_size
    card = check(task, [outcome.position], train_size=outcome.train_size, test_size=last, items=items)
    layout = layout_of(task, outcome.train_size, last, items, 0, False)
    return card.verdicts[outcome.position].outlook, "not known" if layout is None else _windows(layout)


def _windows(layout: Layout) -> str:
    found = layout.locality
    if found.window is None:
        return "none" if found.verdict == "REFUTED" else "not known"
    settled = f"({found.window[0]}, {found.window[1]})"
    if found.best is None or found.verdict == "PROVED":
        return settled
    return f"{settled}, {'a sample ' if layout.sampled else ''}to size {found.best.up_to}"


def row(outcome: LayoutOutcome, outlook: str, windows: str) -> str:
    sizes = [outcome.train_size * times for times in (1, 2, TIMES)]
    shares = [f"{outcome.exact(size):.1%}" for size in sizes]
    became = {True: "held", False: "fell", None: "not learned"}
    model = f"{outcome.depth} x {outcome.attention}"
    cells = [f"`{outcome.task}`", model, f"{outcome.steps:,}", windows, outlook, *shares, became[outcome.held]]
    return f"| {' | '.join(cells)} |"


def page(text: str, rows: list[str]) -> str:
    """The page with the rows in place of those of its table."""
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("|---")) + 1
    last = next(number for number, line in enumerate(lines) if number >= first and not line.startswith("|"))
    return "".join([*lines[:first], *(f"{row}\n" for row in rows), *lines[last:]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="keep the runs here")
    parser.add_argument("--task", help="train only this one (all)")
    parser.add_argument("--table", action="store_true", help="train nothing; verdicts on the outcomes that are there")
    options = parser.parse_args()
    if options.table == (options.folder is not None):
        parser.error("give --folder DIR to train, or --table for the verdicts alone")
    found = read_json(DATA)["outcomes"] if options.table else []
    for trial in (trial for trial in TRIALS if not options.table and options.task in (None, trial.task)):
        found.append(outcome(trial, options.folder))
        cells = ", ".join(f"{point['right']} of {point['items']} at {point['size']}" for point in found[-1]["sizes"])
        print(f"{trial.task} ({found[-1]['steps']} steps, {found[-1]['seconds']:.0f} s): {cells}", flush=True)
    if options.task is not None:
        return 0
    write_json(DATA, {"outcomes": found})
    trained.outcomes.cache_clear()
    return write_table([LayoutOutcome.from_plain(data) for data in found])


def write_table(found: list[LayoutOutcome]) -> int:
    rows, contradictions = [], 0
    for one in found:
        outlook, windows = verdict(one)
        contradictions += one.contradicts(outlook)
        rows.append(row(one, outlook, windows))
        print(rows[-1], flush=True)
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), rows))
    print(f"{contradictions} of {len(found)} outcomes contradict a verdict")
    return min(1, contradictions)


if __name__ == "__main__":
    sys.exit(main())
