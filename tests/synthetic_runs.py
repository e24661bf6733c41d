"""Run folders that were never trained: the files that `carry_out` writes, but for the weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lengthwise.files import write_json
from lengthwise.integrity import PLAN, RUN, digests, sealed
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.records import Record
from lengthwise.runs.plan import plan_for
from lengthwise.runs.stored import write_record

SHAPE = {"depth": 1, "width": 16, "heads": 1, "steps": 200}


def curve_up_to(edge: int, seed: int = 0, task: str = "sort", position: str = "rope") -> Curve:
    """All items right up to a size, none behind it."""
    sizes = range(1, 13)
    points = [Point(n, n, 10, 10 * (n <= edge), 10 * n, 10 * n * (n <= edge), 0.5, 0.0, 0.0, 0.0) for n in sizes]
    return Curve(task, position, 4, seed, tuple(points))


def write_run(folder: Path, edge: int = 8, seed: int = 0, more: dict[str, Record] | None = None) -> Path:
    """A finished run of `sort` that holds up to a size, with more records by the names of their files."""
    write_plan(folder, seed, history=True)
    records = {"curve": curve_up_to(edge, seed).record(), **(more or {})}
    begun = json.loads((folder / PLAN).read_text())
    names = [write_record(folder, slug, record) for slug, record in records.items()]
    asked = {slug: {"probe": {"name": slug}} for slug in records}
    write_json(folder / RUN, sealed({**begun, "records": asked, "files": digests(folder, names)}))
    (folder / PLAN).unlink()
    return folder


def write_plan(folder: Path, seed: int = 0, history: bool = False) -> Path:
    """A run that has begun, or has just been trained."""
    plan = plan_for("sort", "rope", SHAPE, train_size=4, test_size=12, items=10, seed=seed)
    found: dict[str, Any] = {"schema": 1, "digest": plan.digest(), "plan": plan.plain()}
    if history:
        ended = {"ended": "all steps done", "step": 200, "seconds": 1.5}
        found["history"] = {"losses": [(100, 1.0), (200, 0.5)], "checks": [(100, 0.25), (200, 1.0)], **ended}
        found |= {"environment": {"python": "3"}, "files": {}}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / PLAN, sealed(found) if history else found)
    return folder
