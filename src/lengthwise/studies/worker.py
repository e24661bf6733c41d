"""What a worker does: carry out one plan in its folder, alone there, with a sign of life now and then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.files import remove_parts, writing
from lengthwise.hardware import computing
from lengthwise.runs.plan import Plan
from lengthwise.runs.run import carry_out
from lengthwise.studies.lock import BEAT, LOCK, Beat, locked
from lengthwise.trust import trusting

_PATIENCE = 30.0  # a worker whose coordinator was killed is gone after a second; on another node it may take longer


def work(
    plan: Mapping[str, Any], folder: str, threads: int = 1, trust: bool = False, how: Mapping[str, Any] = {}
) -> dict[str, float]:
    """Train and measure what the plan says, or resume what is in the folder. Returns the seconds of training.
    `trust` lets the plan's task run where it is a Python file; `how` are the settings of `computing`."""
    where = Path(folder)
    with writing(where):
        where.mkdir(parents=True, exist_ok=True)
    beat = Beat(where / BEAT)
    with trusting(trust):
        todo = Plan.from_plain(plan)

    def told(done: str, step: int, steps: int) -> None:
        beat({"done": done, "step": step, "steps": steps})

    with computing(**how), locked(where, "the run", _PATIENCE):
        remove_parts(where)
        told("", 0, todo.recipe.steps)
        run = carry_out(todo, where, told, threads)
        for name in (BEAT, LOCK):  # a run that is finished is found so by whoever locks it now
            (where / name).unlink(missing_ok=True)
    return {"seconds": run.history.seconds}
