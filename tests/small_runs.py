"""Runs that train in a moment, for tests that only read one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lengthwise as lw
from lengthwise.models.forms import forms
from lengthwise.training.lengths import Fixed, Uniform
from lengthwise.training.recipe import Recipe


def trained(folder: Path, task: str = "prose", form: str = "full", **settings: Any) -> Path:
    """A run of 30 short steps; nothing here is about how good it is."""
    sizes = Fixed() if task == "prose" else Uniform()
    recipe = Recipe(**{"steps": 30, "batch": 16, "rate": 5e-3, "form": forms.make(form), "sizes": sizes, **settings})
    shape = {"depth": 1, "width": 16, "heads": 2}
    lw.train(task, train_size=12, test_size=12, model=shape, training=vars(recipe), folder=folder)
    return folder
