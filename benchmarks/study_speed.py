"""The runs of one study: the study engine on all cores, against a plain loop that does one after the other.

Both do the same runs, which end in the same curves (checked), from a fresh process to the last file. The loop is what a
script does: one process, one run at a time, one torch thread, which for models of this size is the fastest one
process can be. The engine starts a coordinator and then its workers, each of which loads torch: some six seconds,
which count.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.studies.grid import plans, run_key
from lengthwise.studies.record import read_finished
from lengthwise.studies.spec import Study

TARGET = 1.8
LOOP = """
import sys
from pathlib import Path
from lengthwise.runs.run import carry_out
from lengthwise.studies.grid import plans
from lengthwise.studies.grid import run_key
from lengthwise.studies.spec import Study
for plan in plans(Study.read(sys.argv[1])):
    carry_out(plan, Path(sys.argv[2]) / "runs" / run_key(plan))
"""


def study(steps: int, seeds: int) -> Study:
    return Study(
        name="engine",
        tasks=["sort", "binary_majority"],
        positions=["none", "learned+offset"],
        seeds=seeds,
        train_size=20,
        test_size=60,
        training={"steps": steps},
    )


def seconds_of(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LengthwiseError(f"{' '.join(command[:4])} … failed: {done.stderr.strip().splitlines()[-1]}")
    return time.perf_counter() - began


def rows(quick: bool = False) -> list[Row]:
    asked = study(50, 1) if quick else study(1000, 6)
    with tempfile.TemporaryDirectory() as place:
        spec, engine, loop = Path(place) / "engine.toml", Path(place) / "engine", Path(place) / "loop"
        spec.write_text(asked.toml(), encoding="utf-8")
        alone = seconds_of([sys.executable, "-c", LOOP, str(spec), str(loop)])
        words = [sys.executable, "-m", "lengthwise", "study", str(spec), "--folder", str(engine), "--no-report"]
        together = seconds_of(words)
        todo = plans(asked)
        for plan in todo:
            one, other = (read_finished(where / "runs" / run_key(plan)) for where in (engine, loop))
            if one.curve != other.curve:
                raise LengthwiseError(f"the engine and the loop differ on {run_key(plan)}")
    what = f"study of {len(todo)} runs"
    return [Row(what, together, "s", alone, "one after the other", alone / together, least=None if quick else TARGET)]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
