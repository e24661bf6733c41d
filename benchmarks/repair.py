"""Train layouts of reasoning steps before and after their repair, and run them to ten times the training size.

Each layout is trained to size 8 with rotary positions: as it is, with the recipe of benchmarks/layouts.py where it is
built in, and as `check --repair` writes it, with what `train --formulation` chooses. Whole chains are run at 8 and 80.
Finished runs are kept in the folder and not repeated.

python benchmarks/repair.py --folder DIR [--seeds 0,1,2] [--layout NAME] [--after]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from layouts import TRIALS
from lengthwise.files import write_text
from lengthwise.oracle.locality.repairs.original import load_broken
from lengthwise.oracle.locality.repairs.search import repair

USERS = Path(__file__).parents[1] / "tests" / "layouts"
LAYOUTS = ("addition_appended", "copy_repeat_steps", "parity_appended", "divisible_by_three.py", "leftmost_one.py")
TRAIN_SIZE, SIZES, ITEMS = 8, (8, 80), 100


def lengthwise(*arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "lengthwise", *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return ran.stdout


def repaired_file(name: str, folder: Path) -> Path:
    """The file of the repaired layout, made once."""
    place = folder / f"{Path(name).stem}-repaired.py"
    if not place.exists():
        path = name.endswith(".py")
        found = repair(load_broken(str(USERS / name) if path else name, path)).repaired
        if found is None:
            raise SystemExit(f"no repair was found for {name}")
        write_text(place, found.source)
    return place


def recipe(name: str) -> list[str]:
    """The settings of a built-in layout that are not its preset."""
    trial = next(trial for trial in TRIALS if trial.task == name)
    given = {**trial.model, **trial.training}
    return [text for key, value in given.items() for text in (f"--{key.replace('_', '-')}", str(value))]


def exact(name: str, seed: int, folder: Path, after: bool) -> dict[int, float]:
    """The share of whole chains that stop with the right answer, by size."""
    run = folder / f"{Path(name).stem}-{'after' if after else 'before'}-{seed}"
    if after or name.endswith(".py"):
        file = repaired_file(name, folder) if after else USERS / name
        what = ["--formulation", str(file)]
    else:
        what = [name, *recipe(name)]
    sizes = ["--train-size", str(TRAIN_SIZE), "--test-size", str(TRAIN_SIZE), "--items", "100"]
    if not (run / "run.json").exists():
        lengthwise("train", *what, "--position", "rope", *sizes, "--seed", str(seed), "--folder", str(run))
    wanted = ["--sizes", ",".join(map(str, SIZES)), "--items", str(ITEMS), "--trust", "--json"]
    found = json.loads(lengthwise("measure", str(run), "--probe", "recursion", *wanted))
    claims = [claim for record in found["records"] for claim in record["claims"] if claim["key"] == "recursion.exact"]
    return {claim["evidence"]["size"]: claim["value"] for claim in claims}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="keep the files and runs here")
    parser.add_argument("--seeds", default="0,1,2", help="seeds, separated by commas (0,1,2)")
    parser.add_argument("--layout", action="append", help="only this one; repeatable (all)")
    parser.add_argument("--after", action="store_true", help="train repaired layouts only")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.layout or LAYOUTS:
        for after in (True,) if options.after else (False, True):
            shares = [exact(name, int(seed), options.folder, after) for seed in options.seeds.split(",")]
            cells = (", ".join(f"{share[size]:.0%}" for share in shares) for size in SIZES)
            print(f"| {name} | {'after' if after else 'before'} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
