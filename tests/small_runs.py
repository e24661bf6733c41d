"""Runs that train in a moment, for tests that only read one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lengthwise as lw
from lengthwise.integrity import MODEL, RUN, digests, record_file, sealed
from lengthwise.models.forms import forms
from lengthwise.records import Record
from lengthwise.training.lengths import Fixed, UniformSizes
from lengthwise.training.recipe import Recipe


def trained(folder: Path, task: str = "prose", form: str = "full", **settings: Any) -> Path:
    """A run of 30 short steps; nothing here is about how good it is."""
    sizes = Fixed() if task == "prose" else UniformSizes()
    recipe = Recipe(**{"steps": 30, "batch": 16, "rate": 5e-3, "form": forms.make(form), "sizes": sizes, **settings})
    shape = {"depth": 1, "width": 16, "heads": 2}
    lw.train(task, train_size=12, test_size=12, **shape, **vars(recipe), folder=folder)
    return folder


def sealed_again(folder: Path, **changes: Any) -> None:
    """Make the record of a run agree with its files, and itself, after somebody changed them: what a careful forger
    does, and what a test needs that is about something else."""
    record = json.loads((folder / RUN).read_text()) if (folder / RUN).exists() else {}
    records = [record_file(slug) for slug in record.get("records", ())]
    made = sealed({**record, **changes, "files": digests(folder, (*MODEL, *records))})
    (folder / RUN).write_text(json.dumps(made))


def curve_of(content: Mapping[str, Any]) -> Record:
    """The record of the curve in the object that a command printed."""
    return Record.from_plain(next(record for record in content["records"] if record["source"] == "curve"))


def points_of(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of that curve."""
    return curve_of(content).table("curve.points").records()
