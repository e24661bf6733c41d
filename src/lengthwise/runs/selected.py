"""Carry out a selection (`runs.selection`): train every candidate, choose, and train the chosen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.positions import Position
from lengthwise.progress import Progress, shown, silent
from lengthwise.records import Record
from lengthwise.runs.run import Run, carry_out
from lengthwise.runs.selection import (
    ENCODINGS,
    RECIPES,
    Candidate,
    best_of,
    candidates,
    folder_of_candidate,
    folder_of_chosen,
    held_out,
    selection_record,
)
from lengthwise.tasks.task import Task


@dataclass(frozen=True)
class Selected:
    """The run of the candidate that was chosen, and the record of how."""

    run: Run
    record: Record


def select(
    task: str | Task,
    encodings: Sequence[str | Position] = ENCODINGS,
    recipes: Mapping[str, Mapping[str, Any]] = RECIPES,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Selected:
    """Try recipes (settings by name) with encodings, choose by exact match on the longest sizes of the training range,
    which were held out of training, train the chosen one on the whole range and measure it beyond.

    >>> found = lw.select("tomita_4", ["alibi", "t5"], train_size=20, test_size=160)    # doctest: +SKIP
    >>> found.record.claim("selection.chosen").value, found.run.reach                   # doctest: +SKIP
    """
    sizes = {"train_size": train_size, "test_size": test_size, "items": items, "seed": seed}
    with shown(progress) as told:
        return carry_out_selection(candidates(task, encodings, recipes, **sizes), folder, told)


def carry_out_selection(
    tried: Sequence[Candidate], folder: str | Path | None = None, progress: Progress = silent, thread_count: int = 1
) -> Selected:
    """Train and compare candidates, and carry out the plan of the best. What is on disk is not done again."""
    found = []
    for number, one in enumerate(tried, start=1):
        place, here = folder and folder_of_candidate(folder, one), f"candidate {number} of {len(tried)}, {one.name}: "
        run = carry_out(one.trial, place, lambda text, *done, here=here: progress(here + text, *done), thread_count)
        found.append(held_out(one, run.curve))
    chosen = tried[best_of(found)]
    run = carry_out(chosen.whole, folder and folder_of_chosen(folder), progress, thread_count)
    return Selected(run, selection_record(tried, found))
