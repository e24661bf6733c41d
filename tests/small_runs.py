"""Runs that train in a moment, for tests that only read one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lengthwise as lw
from lengthwise.integrity import ALWAYS, LADDER, RUN, digests, sealed
from lengthwise.models.forms import forms
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
    made = sealed({**record, **changes, "files": digests(folder, (*ALWAYS, LADDER))})
    (folder / RUN).write_text(json.dumps(made))
